"""What a notebook draws in the place of a trace's words, where a package that draws is loaded."""

from collections.abc import Callable
from typing import Any

drawers: list[Callable[[object], Any]] = []
"""Gives a picture of a trace or step. The app adds it: the core knows no screen."""


class Displayed:
    """Draws itself as the last line of a cell."""

    __slots__ = ()

    def _repr_mimebundle_(self, **_: Any) -> dict:
        """For Jupyter; words alone where nothing draws, or where there is nothing to draw."""
        try:
            return drawers[-1](self)._repr_mimebundle_() if drawers else {"text/plain": repr(self)}
        except (ImportError, ValueError) as error:
            return {"text/plain": f"{self!r}\nNo picture: {error}"}

    def _mime_(self) -> tuple[str, str]:
        """For marimo."""
        try:
            return drawers[-1](self)._mime_() if drawers else ("text/plain", repr(self))
        except (ImportError, ValueError) as error:
            return "text/plain", f"{self!r}\nNo picture: {error}"
