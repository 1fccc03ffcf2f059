"""Files that the browser saves as soon as a run hands them over. `st.download_button` asks for its
file beside the runs, and gets what was typed before, or nothing; a press of `st.button` waits for
its turn, and so does what is saved with it. A picture is the one on the page: another drawing would
take 80 MB here.
"""

from .unseen_component import unseen

_file, _picture = unseen("given_file"), unseen("saved_picture")


def give_file(press: str, name: str, text: str) -> None:
    """Save a page under a name, once for each press."""
    _file(key="given_file", data={"press": press, "name": name, "text": text})


def save_picture(
    press: str, picture: str, name: str, kind: str, title: str, ground: str, ink: str, dark: bool
) -> None:
    """Save a picture as `svg` or `png`, once a press, on a ground and in an ink of these."""
    given = {"press": press, "picture": picture, "name": name, "kind": kind, "title": title}
    _picture(key="saved_picture", data={**given, "ground": ground, "ink": ink, "dark": dark})
