"""What a lesson leaves alone when a setting changes is what it would draw anew."""

from dataclasses import fields
from functools import cache
from itertools import product

import pytest

from attention_ui.page.page import Page
from attention_ui.settings import session
from attention_ui.settings.fit import changed, problem_with_heads
from attention_ui.settings.link import problem_with, to_query
from attention_ui.settings.settings import FIELDS, VIEW_ONLY, Settings
from sampling import few
from visiting import PAGES, visit

pytestmark = pytest.mark.slow("6 s: some settings on every lesson")

VALUES = {
    "sentence": "A cat sat on a mat",
    "scores": (1.0, -2.0, 3.0),
    "turned": ((1, 1),),
    **dict.fromkeys(("edits", "q_edits", "k_edits", "v_edits"), ((0, 0, 0.5),)),
}
"""Of settings whose other values do not follow from their bounds."""
CHANGES = [each.name for each in fields(Settings) if each.name not in VIEW_ONLY]
SOME = few(product(PAGES, CHANGES), 6)


def other(settings, name):
    """The settings with another value of one of them that fits the others; None for none."""
    field, now = FIELDS[name], getattr(settings, name)
    tried = [VALUES[name]] if name in VALUES else [*getattr(field, "options", ())]
    if isinstance(now, bool):
        tried.append(not now)
    if hasattr(field, "least"):
        tried += [(now or 0) + 1, (now or 0) - 1, (now or 1) * 2, field.least, field.most]
    for value in tried:
        if hasattr(field, "least") and not field.least <= value <= field.most:
            continue
        found = changed(settings, **{name: value})
        is_other = getattr(found, name) != now
        if is_other and problem_with(found) is None and problem_with_heads(found) is None:
            return found
    return None


def drawn(block):
    """What a block of the page shows: charts with their numbers, words, controls, in order."""
    found = []
    for child in block.children.values():
        proto = child.proto
        if hasattr(child, "children"):
            found += drawn(child)
        elif child.type == "vega_lite_chart":
            found.append((proto.spec, proto.alt, proto.data.data))
        elif child.type == "download_button":  # made when it is asked for, at a new address
            found.append((proto.label, proto.help))
        elif "-control_" in getattr(proto, "id", ""):  # the person has set its value there
            offers = ("label", "help", "disabled", "options", "min", "max", "placeholder")
            found.append([str(getattr(proto, each, "")) for each in offers])
        else:
            found.append(proto.SerializeToString())
    return found


def parts_of(block):
    """What stands in each part of a page, by its name."""
    found = {}
    for child in block.children.values():
        if hasattr(child, "children"):
            key = getattr(child.proto, "id", "").rpartition("-part_")[2]
            found |= {key: drawn(child)} if "-part_" in child.proto.id else parts_of(child)
    return found


@cache
def opened(page):
    """A page as it is opened first."""
    return visit(page, cell="none")


def left_alone(at, settings):
    """The parts that a change to these settings leaves as they are; none where all of the page
    is drawn.
    """
    shown = at.session_state[session.SHOWN]
    fresh = Page(shown._view_of(settings), draws=False)
    shown._lesson(fresh)
    if not fresh.has_layout_of(shown.page):
        return set()
    return fresh.parts.keys() - set(fresh.changed_parts(shown.page))


@pytest.mark.parametrize(("page", "name"), SOME)
def test_what_is_left_alone_is_what_would_be_drawn_anew(page, name):
    before = opened(page)
    after = other(before.session_state[session.SETTINGS], name)
    alone = left_alone(before, after) if after else set()
    if not alone:
        return
    old, new = parts_of(before.main), parts_of(visit(page, **to_query(after)).main)
    assert alone <= old.keys() & new.keys(), "not all parts were found"
    wrong = [part for part in sorted(alone) if old[part] != new[part]]
    assert wrong == [], f"another {name} leaves these with what they showed before"
