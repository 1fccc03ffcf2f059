"""The installed app: its command, and `show` for notebooks. Loads no Streamlit."""

from typing import Any

from attention_core import __version__ as __version__
from attention_core import shown

__all__ = ["show"]


def __getattr__(name: str) -> Any:
    if name != "show":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from attention_ui.notebook.show import show
    except ModuleNotFoundError as error:
        named = {"vl_convert": "vl-convert-python", "PIL": "pillow"}.get(error.name, error.name)
        raise ImportError(f"pictures need {error.name}: pip install {named}") from error
    return show


shown.drawers[:] = [lambda what: __getattr__("show")(what)]
