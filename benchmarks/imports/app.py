"""The empty page where what the lessons are made with is imported first."""

from importlib import import_module

import streamlit as st

for each in ("altair", "pandas", "torch"):
    import_module(each)
st.title("Empty")
