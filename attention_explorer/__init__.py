"""Attention Explorer: `show` draws a trace or weights in a notebook."""

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
