"""What is said where a model cannot be opened."""

from importlib import import_module
from types import ModuleType


class ModelRefused(ValueError):
    """A model is not opened, and why, in the words of its reader, with nothing to move a cursor."""

    def __init__(self, words: str) -> None:
        super().__init__("".join(c if c.isprintable() else repr(c)[1:-1] for c in words))


def needed(name: str, what_for: str) -> ModuleType:
    """A package that models need and nothing else does. Raises ModelRefused where it is missing."""
    try:
        return import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise ModelRefused(
            f"{what_for} needs the Python package {package}, which is not installed: "
            f"`python -m pip install {package}` brings it"
        ) from error
