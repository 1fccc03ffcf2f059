"""All that leans on Streamlit's insides. Where one is not as expected, the app goes on without what
it was used for. `tests/test_streamlit_contract.py` says what is expected of Streamlit 1.67.
"""
