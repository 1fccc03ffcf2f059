"""All that leans on Streamlit's insides."""
