"""The pictures of the app in a notebook, without Streamlit."""
