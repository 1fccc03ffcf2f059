"""One picture of a lesson, without anything around it."""

import pytest

from sampling import few
from visiting import LESSONS, stands, texts, visit

pytestmark = pytest.mark.slow("40 s: every equation of every lesson")


def equations(lesson):
    page = stands(visit(lesson)).session_state["shown"].page
    return [name for name, part in page.parts.items() if part.is_equation]


@pytest.mark.parametrize("lesson", few(LESSONS, 2, first="simplified_attention"))
def test_every_equation_can_stand_alone(lesson):
    names = equations(lesson)
    assert names
    for name in names:
        at = visit(lesson, only=name, cell="none", predict="on")
        assert not at.exception
        page = at.session_state["shown"].page
        assert [*page.parts] == [name]
        assert page.outline, "the layout is known all the same"
        assert not at.title
        assert not at.header
        assert len(at.get("vega_lite_chart")) >= 1, "no question covers it"


@pytest.mark.parametrize("name", ["no_such_picture", "answers", "zz"])
def test_a_picture_that_there_is_not_is_said(name):
    at = visit("simplified_attention", only=name)
    assert not at.exception
    assert f"no picture called “{name}”" in texts(at)
