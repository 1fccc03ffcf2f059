"""One picture of a lesson, without anything around it."""

import re

import pytest

from conftest import ROOT
from sampling import few
from visiting import LESSONS, texts, visit, visit_deeper

pytestmark = pytest.mark.slow("40 s: every card of every lesson")

CARDS = re.compile(r"\bcard\(\s*\"(\w+)\"")


def cards(lesson):
    """The cards of a page that is a script, as it names them."""
    return CARDS.findall((ROOT / "pages" / f"{lesson}.py").read_text(encoding="utf-8"))


@pytest.mark.parametrize("lesson", few(LESSONS, 2, first="simplified_attention"))
def test_every_card_can_stand_alone(lesson):
    there = {each.proto.anchor for each in visit_deeper(lesson).header}
    names = [name for name in cards(lesson) if name in there]
    assert names
    for name in names:
        at = visit(lesson, card=name, cell="none", predict="on")
        assert not at.exception
        assert not at.title
        assert name in {each.proto.anchor for each in at.header}
        assert not [each for each in at.button if (each.key or "").startswith("skip_")]
        assert not [each.label for each in at.expander if each.label.startswith("**")], "rows"


@pytest.mark.parametrize("name", ["no_such_picture", "answers", "zz"])
def test_a_picture_that_there_is_not_is_said(name):
    at = visit("simplified_attention", card=name)
    assert not at.exception
    assert f"no picture called “{name}”" in texts(at)
