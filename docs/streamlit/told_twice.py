"""Press “Tell” three times within a second (server started with --runner.fastReruns=false).

Seen: 1, 3. Expected: 1, 2, 3.
"""

import time

import streamlit as st

JS = """
let n = 0;
export default ({ parentElement, setTriggerValue }) => {
  parentElement.querySelector('button').onclick = () => setTriggerValue('told', ++n);
};
"""
tell = st.components.v2.component("tell", html="<button>Tell</button>", js=JS)
heard = st.session_state.setdefault("heard", [])
tell(key="tell", on_told_change=lambda: heard.append(st.session_state.tell.told))
if heard:
    time.sleep(1)
st.write("Heard:", str(heard))
