"""A page as a hand-out: every question with room to write, its answer on the last sheet alone."""

from urllib.parse import parse_qs, urlsplit

import pytest

from attention_ui.frame.hand_out import MOST_IN_A_CODE, LastSheet
from sampling import few
from visiting import LESSONS, noted_layouts, stands, texts, visit

HOSTILE = "<b>Mary</b> **went** :red[home]"


@pytest.mark.slow("30 s: lessons as a person's browser prints them")
@pytest.mark.parametrize("lesson", few(LESSONS, 5, first="simplified_attention"))
def test_every_question_of_a_lesson_has_its_answer_after_all_of_them(lesson):
    at = stands(visit(lesson, paper="on", predict="on"))
    asked = at.session_state["session"].own(LastSheet).asked
    assert len(asked) >= 1
    assert all(answer for _, _, answer, _ in asked)
    said = [each.value for each in at if hasattr(each, "value") and isinstance(each.value, str)]
    last_sheet = next(at for at, text in enumerate(said) if text.startswith("Answers: "))
    for number, (_, words, answer, _) in enumerate(asked, 1):
        at_first, again = (p for p, t in enumerate(said) if t.startswith(f"**{number}.** {words}"))
        assert at_first < last_sheet < again
        assert said[again + 1] == answer
    live = texts(at).splitlines()[-1]
    assert "paper" not in parse_qs(urlsplit(live).query)


def test_what_a_question_asks_for_stays_covered():
    with noted_layouts() as drawn:
        stands(visit("simplified_attention", paper="on", predict="on"))
    asked = [[each.step for each in one.matrices] for one in drawn if any(_covered(one))]
    solved = [[each.step for each in one.matrices] for one in drawn if not any(_covered(one))]
    assert "weights" in {step.name for one in asked for step in one}
    assert all(one in solved for one in asked), "each stands on the last sheet, with its numbers"


def _covered(layout):
    return [each.asks for each in layout.matrices]


def test_without_questions_the_answers_stand_where_they_belong():
    at = stands(visit("simplified_attention", paper="on", predict="off"))
    assert not at.session_state["session"].own(LastSheet).asked
    assert not [each for each in at.header if each.value.startswith("Answers")]


def test_tasks_stand_all_at_once_and_as_plain_text():
    at = stands(visit("simplified_attention", paper="on", tasks=f"{HOSTILE}\nCausal mask: why?"))
    assert {HOSTILE, "why?"} <= {each.value for each in at.text}
    assert not at.text_area or "Your answer" not in {each.label for each in at.text_area}


@pytest.mark.parametrize(("length", "has_code"), [(10, True), (MOST_IN_A_CODE, False)])
def test_a_link_too_long_for_a_phone_has_no_code(length, has_code):
    tasks = "\n".join(["x" * (length // 2)] * 2)
    at = stands(visit("simplified_attention", paper="on", tasks=tasks))
    assert bool(at.get("image")) is has_code
