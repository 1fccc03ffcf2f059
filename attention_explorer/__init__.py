"""The installed app: its command, and what a notebook uses. Loads no Streamlit."""

from importlib.util import find_spec
from typing import Any

import attention_core
from attention_core import __version__ as __version__
from attention_core.utils import display

__all__ = ["recorded", "show"]
DRAWS = {"altair": "altair", "numpy": "numpy", "PIL": "pillow", "pyarrow": "pyarrow"}
DRAWS |= {"vl_convert": "vl-convert-python"}
"""What draws, as it is imported and as it is installed."""


def __getattr__(name: str) -> Any:
    if name == "recorded":
        return getattr(attention_core, name)
    if name != "show":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from attention_ui.notebook.show import show
    except ModuleNotFoundError as error:
        missing = [package for name, package in DRAWS.items() if find_spec(name) is None]
        names = " ".join(missing) or error.name
        told = f"pictures need packages that are not here: pip install {names}"
        raise ImportError(told) from error
    return show


display.drawers[:] = [lambda what: __getattr__("show")(what)]
