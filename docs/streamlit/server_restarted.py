"""Open the page, stop the server and start it anew; when the page is connected again, move the
slider. Seen: the line below it says 0 for good. Expected: 1, since the page has reconnected.
"""

import streamlit as st


@st.fragment
def part() -> None:
    st.write("The server has", st.slider("Number", 0, 10))


part()
