"""`streamlit run app.py`: imported once for the server, then run as the home page."""

from pathlib import Path

import streamlit as st

from attention_ui.lessons.home.page import home

if __name__ == "__main__":
    home(Path(__file__).with_name("pages"))
else:  # needed by the server alone: a Streamlit that has no `st.App` runs the page
    from attention_ui.frame.serve import lifespan, routes

    app = st.App(__file__, routes=routes(), lifespan=lifespan)
