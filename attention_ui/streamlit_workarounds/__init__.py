"""Everything that relies on Streamlit's internals. Where one of them is not as expected, the app
works on without what it was used for. `tests/test_streamlit_contract.py` states what is expected
of Streamlit 1.67.
"""
