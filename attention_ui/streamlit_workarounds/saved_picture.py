"""A picture as on the page, saved by the browser: another drawing would take 80 MB here."""

from .unseen_component import unseen

_component = unseen("saved_picture")


def save_picture(
    press: str, picture: str, name: str, kind: str, title: str, ground: str, ink: str, dark: bool
) -> None:
    """Save a picture as `svg` or `png`, once a press, on a ground and in an ink of these."""
    given = {"press": press, "picture": picture, "name": name, "kind": kind, "title": title}
    _component(key="saved_picture", data={**given, "ground": ground, "ink": ink, "dark": dark})
