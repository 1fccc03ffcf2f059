"""Attention Explorer as it is installed: the command that starts the app, and `show`, which draws a
trace or weights in a notebook. Loads no Streamlit.
"""

from attention_core import __version__ as __version__
from attention_core import shown

__all__ = ["show"]


def __getattr__(name: str) -> object:
    if name != "show":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        import vl_convert  # noqa: F401
    except ModuleNotFoundError as error:
        raise ImportError("pictures need vl-convert: pip install vl-convert-python") from error
    from attention_ui.notebook.show import show

    return show


shown.drawers[:] = [lambda what: __getattr__("show")(what)]
