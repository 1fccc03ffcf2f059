"""All that relies on Streamlit's insides, as test_streamlit_contract.py expects them."""
