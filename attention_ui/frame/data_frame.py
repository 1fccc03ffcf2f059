"""A data frame as a table."""

from typing import Any

import streamlit as st

from ..controls.lesson_session import misread


def put_frame(rows: Any, **look: Any) -> None:
    """Draws it with letters as large as the page's."""
    with st.container():
        # The table reads their size once, when it is built: in another place it is built anew.
        for _ in range(misread()):
            st.empty()
        st.dataframe(rows, **{"hide_index": True, "width": "content", **look})
