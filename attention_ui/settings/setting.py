"""What a setting is: how it is read and written, what a person reads of it, what limits it."""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field
from typing import TYPE_CHECKING, Any

from ..controls.fields import Choice, Field, Flag, OptionalWhole, ScoreRow, Sentence

if TYPE_CHECKING:
    from .settings import Settings


TYPED = ("text_input", "text_area")
"""Widgets that hold a text, whatever their setting is."""


@dataclass(frozen=True)
class Setting:
    """All that is known of a setting, whatever its value is."""

    field: Field
    label: str = ""
    """What a person calls it, also away from its control; "" where nothing on a page sets it."""
    hint: str = ""
    """What stands after the label, in parentheses, where it is typed."""
    widget: str = ""
    """The widget that sets it, by Streamlit's name; "" for the one that its field is set by."""
    shown: str = "{:,g}"
    """How a stop of its slider is written."""
    choices: "Callable[[Settings], Mapping[Any, str]] | None" = None
    """What can be chosen, where that depends on other settings: values and their labels."""
    limit: "Callable[[Settings], tuple[int, str]] | None" = None
    """How large it may be beside other settings, and in words what they are."""
    only_choices: bool = False
    """Whether a number that is none of its choices goes to the next one below it."""
    table: "Callable[[Settings], tuple[str, int, int]] | None" = None
    """The table whose cells it names: what it is called, its rows and its columns."""
    made_by: frozenset[str] = frozenset()
    """The settings that make another table of it: its typed numbers do not belong there."""
    view_only: bool = False
    """Whether a lesson's own numbers stay as they are: it is what is looked at, or an experiment
    beside them."""
    look: Mapping[str, Any] = field(default_factory=dict)
    """What else its widget is given."""

    def values(self, settings: "Settings") -> Mapping[Any, str]:
        """What can be chosen, and how it is written; nothing where any number in bounds can be."""
        if self.choices:
            return self.choices(settings)
        options = getattr(self.field, "options", {})
        if isinstance(self.field, Choice):
            return options
        return {value: self.shown.format(value) for value in options}


def setting(kind: Field, label: str = "", start: object = MISSING, **about: Any) -> Any:
    """A setting: how it is read from a link, its label, what it starts with whatever the example
    is, and what else a `Setting` has. The rest is for its widget, such as its `step`.
    """
    known = {name: about.pop(name) for name in Setting.__dataclass_fields__ if name in about}
    known.setdefault("widget", _widget(kind, "choices" in known))
    if isinstance(kind, Sentence):
        known.setdefault("hint", f"at most {kind.most_tokens} tokens")
    return field(default=start, metadata={"setting": Setting(kind, label, look=about, **known)})


def _widget(kind: Field, has_choices: bool) -> str:
    if has_choices:
        return "selectbox"
    if isinstance(kind, Choice):
        return "segmented_control"
    if isinstance(kind, Flag):
        return "toggle"
    if isinstance(kind, Sentence):
        return "text_area"
    if isinstance(kind, ScoreRow | OptionalWhole):
        return "text_input"
    return "select_slider" if getattr(kind, "options", ()) else "slider"
