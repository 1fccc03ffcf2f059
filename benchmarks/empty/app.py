"""What all figures are measured against: the least page of Streamlit's that answers a slider."""

import streamlit as st

st.title("Empty")
st.write("Value", st.slider("Value", 0, 100, key="control_value"))
