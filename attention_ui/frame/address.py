"""The address of the page that is open."""

from urllib.parse import urlencode

import streamlit as st


def address_of(query: dict[str, str]) -> str:
    """This page with these parameters."""
    return (st.context.url or "").split("?")[0] + ("?" + urlencode(query) if query else "")
