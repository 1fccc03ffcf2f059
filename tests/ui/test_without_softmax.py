"""The lesson without softmax: its numbers by plain torch, its two mistakes, and what it says."""

import pytest
import torch

from attention_core import EXAMPLES
from attention_ui.frame.lights import lights_of
from attention_ui.lessons.without_softmax import lesson, words
from attention_ui.reactive.control import understood
from visiting import rendered, visit


def values_of(name="named_features", **changes):
    return understood({"example": name}, lesson.CONTROLS)[0].but(**changes)


@pytest.mark.parametrize("rule", lesson.RULES)
@pytest.mark.parametrize("name", EXAMPLES)
def test_every_way_to_the_vectors_gives_the_same(name, rule):
    trace = lesson.trace_of(values_of(name, memory_rule=rule))
    for agrees in (lesson.brackets_agree, lesson.table_agrees, lesson.loops_agree):
        assert agrees(trace)[0]
    lengths = trace["unit_keys"].value.norm(dim=-1)
    assert ((lengths - 1).abs() < 1e-5).logical_or(lengths == 0).all()
    out = {light.title for light in lights_of(trace, "read_vectors") if not light.holds}
    assert out <= {"Equal tokens have equal ids, and no id is skipped"}, "as one notebook has it"
    assert ("decay_0" in trace, "held_0" in trace, "write_0" in trace) == {
        "plain": (False, False, False),
        "decay": (True, False, False),
        "delta": (False, True, False),
        "both": (True, True, True),
    }[rule]


def test_checks_go_out_where_the_numbers_are_others():
    trace = lesson.trace_of(values_of(memory_rule="both"))
    assert not lesson.loops_agree(lesson.decayed_late(trace, *range(len(trace["values"].value))))[0]


WAYS = {
    "plain": (False, "(4.0, 3.0, 0.0): the sum of (3.0, −1.0, 2.0) and (1.0, 4.0, −2.0)"),
    "delta": (True, "(1.0, 4.0, −2.0): the value that was written last"),
    "wrong_sign": (False, "(7.0, 2.0, 2.0), and should read (1.0, 4.0, −2.0)"),
    "late_decay": (False, "(0.5, 2.0, −1.0), and should read (1.0, 4.0, −2.0)"),
}
"""Twice the first value and the second; half of the second."""


def test_a_page_that_nobody_touches_shows_the_rule_that_writes_over():
    assert "The first is gone" in rendered(visit("without_softmax"))


@pytest.mark.parametrize("way", lesson.WAYS)
def test_two_tokens_with_one_key_tell_the_mistakes(way):
    good, told = words.two_words(lesson.two_tokens(way), way)
    assert good == WAYS[way][0]
    assert WAYS[way][1] in told
    assert told.rstrip(".") in rendered(visit("without_softmax", written_by=way))


SIGNS = {"·": torch.matmul, "⊙": torch.mul, "+": torch.add, "−": torch.sub}


@pytest.mark.parametrize("way", ["wrong_sign", "late_decay", *lesson.RULES])
def test_what_is_drawn_of_a_token_is_true(way):
    """Each line of its picture, by the signs between the matrices."""
    trace = (
        lesson.two_tokens(way)
        if way in lesson.WAYS
        else lesson.trace_of(values_of(memory_rule=way))
    )
    made = sign = None
    for part in lesson.written_now(trace, 1):
        if isinstance(part, str):
            made, sign = (None, None) if part in ("|", "\n") else (made, part)
            continue
        value = part.drawn.mT if part.transposed else part.drawn
        if sign == "=":
            torch.testing.assert_close(made, value)
        made = SIGNS[sign](made, value) if sign in SIGNS else value
