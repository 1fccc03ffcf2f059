"""Questions that come again on the home page: when, of which numbers, and whatever is stored."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from attention_core.examples import EXAMPLES
from attention_ui.cards.questions import Question
from attention_ui.cards.review import asked_again, declared
from attention_ui.controls.lesson_session import LessonSession
from attention_ui.frame.contents import LESSONS
from attention_ui.frame.spaced_repetition import DAYS, LAST_DAY, ComingBack, understood
from attention_ui.lessons.home.spaced_repetition import MOST, SCHEDULE, SENTENCES, Round
from serving import HANG, ROOT
from visiting import stands

TODAY = 20_000
LESSON, OTHER = "simplified_attention", "softmax_or_sum"
NOTHING = [
    "", "null", "7", "[]", '"simplified_attention"', "{", "[" * 100_000, '{"a":' * 50_000, None, 7,
    '{"<img src=x onerror=alert(1)>": [0, 5]}', '{"home": [0, 5]}', '{"__proto__": [0, 5]}',
    *(f'{{"{LESSON}": {each}}}' for each in (
        "null", "5", "[]", "[0]", "[0, 5, 6]", "[5, 5]", "[-1, 5]", "[0, 0]", "[0, -3]", "[0.5, 5]",
        f"[0, {LAST_DAY}]", "[0, 1e999]", "[0, NaN]", '["0", "5"]', "[true, 5]", "[0, true]",
        '{"0": 0, "1": 5}',
    )),
]  # fmt: skip


@pytest.mark.parametrize("text", NOTHING, ids=range(len(NOTHING)))
def test_what_is_no_box_and_day_of_a_lesson_is_ignored(text):
    assert understood(text) == {}


def test_beside_what_is_ignored_the_rest_counts():
    text = json.dumps({"nobody": [0, 1], LESSON: [1, TODAY], OTHER: [9, 9]})
    assert understood(text) == {LESSON: (1, TODAY)}


def home(kept):
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=HANG)
    visit = at.session_state["session"] = LessonSession()
    told = visit.own(ComingBack)
    told.text, told.day = json.dumps(kept), TODAY
    at.session_state["row_again"] = True
    return at.run()


@pytest.mark.parametrize(
    ("kept", "asked"),
    [
        ({}, []),
        ({LESSON: (0, TODAY + 1)}, []),
        ({"real_model": (0, TODAY)}, []),  # it waits for work
        ({LESSON: (0, TODAY)}, [(LESSON, 0), (LESSON, 1), (LESSON, 2)]),
        ({LESSON: (0, TODAY), OTHER: (0, 5)}, [(OTHER, 0), (LESSON, 0), (OTHER, 1)]),
        ({each.name: (0, 9) for each in LESSONS[:5]}, [(each.name, 0) for each in LESSONS[:3]]),
    ],
)
def test_what_is_due_is_asked_and_nothing_else(kept, asked):
    at = home(kept)
    stands(at)
    assert at.session_state["session"].own(Round).asked == asked
    assert ("Coming back" in str(at)) == bool(asked)
    assert set(at.query_params) == set(), "no link has it"


@pytest.mark.parametrize("box", range(len(DAYS)))
@pytest.mark.parametrize("right", [(True, True), (True, False), (False, True)])
def test_a_lesson_goes_on_by_a_box_or_back_to_the_first(box, right, monkeypatch):
    visit = LessonSession()
    monkeypatch.setattr("attention_ui.lessons.home.spaced_repetition.this_session", lambda: visit)
    here = Round([(LESSON, 0), (OTHER, 0), (LESSON, 1)], boxes={LESSON: box, OTHER: box})
    for at, good in ((0, right[0]), (2, right[1])):
        here.at = at
        here.answered(good)
        here.answered(not good)  # only the first answer counts
    now = min(box + 1, len(DAYS) - 1) if all(right) else 0
    assert visit.own(ComingBack).changes[-1] == {LESSON: (now, DAYS[now])}


@pytest.mark.parametrize("place", range(len(SENTENCES)))
def test_each_question_can_be_asked_of_each_sentence(place):
    chosen = {"example": "named_features", "sentence": SENTENCES[place], "draw_seed": "3"}
    for each in LESSONS:
        found = asked_again(declared(ROOT / each.page), chosen)
        asked = [one.asked for one in found if isinstance(one.asked, Question)]
        assert all(one.answer() for one in asked)
        assert len(found) >= (0 if each.name in ("real_model", "mistakes_lab", "diagnosis") else 1)
        drawn = [m for one in found if one.seen for m in one.seen.matrices]
        assert not any(m.covered for m in drawn)
    assert all(one.inputs.sentence != SENTENCES[place] for one in EXAMPLES.values())


def test_three_questions_are_answered_one_after_the_other():
    at = home({LESSON: (0, TODAY)})
    assert "scores" in str(at.get("vega_lite_chart")[-1].proto)
    at.button(key=f"skip_again.{LESSON}_0").click().run()
    for _ in range(MOST - 1):
        at.button(key="again_next").click().run()
        at.button(key="again_show").click().run()
        at.button(key="again_known").click().run()
    at.button(key="again_next").click().run()
    stands(at)
    assert SCHEDULE in [each.value for each in at.caption]
    assert at.session_state["session"].own(ComingBack).changes[-1] == {LESSON: (0, 1)}
