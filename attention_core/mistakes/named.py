"""The mistakes that can be switched on, in words: one list for lab and game, `mistakes.toml`."""

from dataclasses import dataclass

from ..utils.toml_file import read_toml


@dataclass(frozen=True)
class Named:
    """A mistake in a whole layer, and what is said of it."""

    name: str
    """In addresses, and wherever it is named in code."""
    title: str
    right: str
    """The line, as it is often written, done right."""
    wrong: str
    """The same line with the mistake."""
    words: str
    """What to look at first, what happens, and what to do about it, in a few sentences of ours."""
    lights: tuple[str, ...] = ()
    """The lights that it turns red in a layer of some width, whose outputs are not all 0."""
    unseen: str = ""
    """Why no light sees it; "" where one does."""


NAMED: dict[str, Named] = {}
"""By name, in the order of a layer."""
for _name, _entry in read_toml(__package__, "mistakes.toml").items():
    if _said := {key: _entry[key] for key in _entry if key not in ("likely", "advice", "change")}:
        NAMED[_name] = Named(_name, **_said | {"lights": tuple(_said.get("lights", "").split())})
