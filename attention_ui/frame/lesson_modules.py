"""What each lesson is made of, by its name, imported only where something asks for it."""

from collections.abc import Collection, Mapping
from functools import cache
from importlib import import_module
from types import ModuleType
from urllib.parse import urlencode

from ..controls.shared import AROUND
from ..reactive import settings
from ..reactive.control import MAX_LINK, Control, understood, written
from .contents import LESSONS, SECTIONS, lesson


def module_of(page: str) -> ModuleType:
    """Where a lesson has its `CONTROLS`, and the function `trace_of` of their values."""
    here = lesson(page)
    room = f"{__package__.rpartition('.')[0]}.lessons.{here.room or page}"
    return import_module(f"{room}.{here.module}")


@cache
def controls_of(page: str) -> tuple[Control, ...]:
    """The controls of a lesson, and what stands around every page."""
    return (*module_of(page).CONTROLS, *AROUND)


@cache
def every_control() -> Mapping[str, Control]:
    """The controls of all lessons by name, each as the first lesson that has it declares it."""
    found: dict[str, Control] = {}
    for each in LESSONS:
        for control in controls_of(each.name):
            found.setdefault(control.name, control)
    return found


def known_among(names: Collection[str]) -> set[str]:
    """Those names that a lesson has a control for; imports no more lessons than it takes."""
    left = {*names}
    for each in LESSONS:
        if left:
            left -= {control.name for control in controls_of(each.name)}
    return {*names} - left


def fixed_now(here: Collection[Control]) -> dict[str, str]:
    """What a link hides or locks, with its value now, also what controls `here` have none for."""
    fixed, values = settings.fixed(), settings.values()
    now = {each.name: each.field.write(values[each.name]) for each in here if each.name in fixed}
    for page in LESSONS if fixed - now.keys() - SECTIONS.keys() else ():
        controls = controls_of(page.name)
        if left := [each for each in controls if each.name in fixed - now.keys()]:
            there, _ = understood(settings.chosen(), controls)
            now |= {each.name: each.field.write(there[each.name]) for each in left}
    return now


def example_query(page: str, name: str) -> tuple[dict[str, str], str]:
    """Parameters for a link to a lesson with an example, and why there is none: "" if there is."""
    controls, fixed = controls_of(page), settings.fixed()
    if name != settings.chosen()["example"] and "example" in fixed:
        return {}, "The link that you opened keeps to its own example."
    opened = settings.with_preset({"example": name}, controls)
    if understood(opened, controls)[1] or len(urlencode(opened)) > MAX_LINK:
        return {}, "This example does not fit what the link that you opened keeps."
    of_page = {each.name for each in controls if each.of_page}
    return {n: text for n, text in written(opened, controls).items() if n not in of_page}, ""
