"""A file that the browser saves as soon as a run hands it over. `st.download_button` asks for its
file beside the runs, and gets what was typed before, or nothing; a press of `st.button` waits for
its turn, and so does what is saved with it.
"""

from .unseen_component import unseen

_component = unseen("given_file")


def give_file(press: str, name: str, text: str) -> None:
    """Save a page under a name, once for each press."""
    _component(key="given_file", data={"press": press, "name": name, "text": text})
