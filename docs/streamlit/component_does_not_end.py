"""Move the slider twice. Seen: 0, 1, 2 are watching. Expected: 2 alone."""

import streamlit as st

JS = """
const watching = new Set();
export default ({ data, parentElement }) => {
  watching.add(data);
  parentElement.querySelector('p').textContent = `Watching: ${[...watching]}`;
  return () => watching.delete(data);
};
"""
watch = st.components.v2.component("watch", html="<p></p>", js=JS)
watch(key="watch", data=st.slider("Number", 0, 10))
