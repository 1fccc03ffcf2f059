"""Attention Explorer as it is installed: the command that starts the app. Loads no Streamlit."""

from attention_core import __version__ as __version__
