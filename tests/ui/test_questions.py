"""Kinds of questions: asked on every lesson, judged by its numbers, counted once, and skipped."""

import re
from itertools import product
from unittest.mock import patch

import pytest

from attention_core import EXAMPLES
from attention_ui.cards import question as asking
from attention_ui.cards.questions import Shape
from attention_ui.cards.row_question import Row
from attention_ui.controls.shared import FIRST
from attention_ui.picture.table import WORD, table
from sampling import few
from visiting import LESSONS, noted_layouts, stands, visit, words

SLOW = pytest.mark.slow("25 s: whole pages")


def opened(page, **link):
    return stands(visit(page, **{"cell": "none", "predict": "on", **link}))


def tallies(at):
    """What is said beside a verdict of how well one has guessed."""
    return "\n".join(each.help for each in at.markdown if each.help)


def press(at, what, question):
    return stands(at.button(key=f"{what}_{question}").click().run())


def open_questions(at):
    keys = [each.key or "" for each in at.button]
    return [key.removeprefix("skip_") for key in keys if key.startswith("skip_")]


# --- on the lessons ------------------------------------------------------------------------------
def test_a_covered_picture_says_which_question_uncovers_it_and_the_arcs_are_of_another_query():
    link = {"example": FIRST}
    with noted_layouts() as covered:
        at = opened("simplified_attention", **link)
    told = [each.value for each in at.caption if "waits for your guess" in each.value]
    assert {*told} == {"Each **?** waits for your guess at *Weights*, above."}
    (arcs,) = (each.sentence for each in covered if each.sentence)
    assert arcs.first == EXAMPLES[FIRST].query, "the page's query is seen from the first"
    (asked,) = arcs.weights.isnan().all(dim=-1).nonzero().flatten().tolist()
    assert asked != arcs.first
    assert f"Query {asked}: " in "".join(words(at))
    with noted_layouts() as shown:
        at = press(at, "skip", "simplified_attention.looks_at")
    assert not any("waits for" in each.value for each in at.caption)
    (arcs,) = (each.sentence for each in shown if each.sentence)
    assert not arcs.weights.isnan().any()


def test_a_question_about_one_row_covers_that_row_alone():
    with noted_layouts() as found:
        opened("causal_mask", example=FIRST, masking="minus_infinity")
    contexts = {"context_vectors", "changed_context_vectors"}
    asked = {"weights", "unmasked_weights"} | contexts
    covered = [each for layout in found for each in layout.matrices if each.asks]
    whole = [each.unseen.all(dim=-1).nonzero().flatten().tolist() for each in covered]
    rows = [(e.step.name, at, int(e.unseen.sum())) for e, at in zip(covered, whole, strict=True)]
    assert {name for name, *_ in rows} == asked
    for name, places, count in rows:
        assert places == [3], name
        assert count == (6 if name in contexts else 9)
    of_weights = [name for name, *_ in rows].count("weights")
    assert of_weights == 3, "the weights in three cards"


def test_all_of_a_page_is_shown_by_one_press_beside_its_first_question():
    def offers(at):
        return [each.key for each in at.button if (each.key or "").startswith("show_all")]

    at = opened("causal_mask", example=FIRST)
    assert offers(at) == ["show_all_row"]
    at = press(at, "skip", "causal_mask.row")
    assert offers(at) == ["show_all_leaks"], "beside the first that is still open"
    at = stands(at.button(key="show_all_leaks").click().run())
    assert open_questions(at) == offers(at) == []
    assert not offers(opened("causal_mask", example=FIRST, lock="predict"))


def guess_key(at, token):
    """Guess a token of which none of the same name gets another weight."""
    group = at.button_group(key="guess_simplified_attention.looks_at")
    told = [each.content for each in group.proto.options]
    place = next(at for at, each in enumerate(told) if each.endswith(f": {token}"))
    return stands(group.set_value(place).run())


def test_a_guess_counts_once_for_its_numbers_and_not_after_a_look():
    question = "simplified_attention.looks_at"
    at = guess_key(opened("simplified_attention"), "wild")
    assert "It is “the” (0.39)." in words(at)
    asked = [each.value for each in at.caption]
    assert any("Which token will this query look at most?" in each for each in asked)
    assert "0 of 1 guess right this session." in tallies(at)
    at = guess_key(press(at, "again", question), "the")
    assert "Right: “the”" in words(at)
    assert "0 of 1 guess right this session." in tallies(at)

    at.text_input(key="control_seed").set_value("70").run()
    assert "The numbers have changed since your guess." in words(at)
    assert "Right: “the”" not in words(at)
    assert open_questions(at) == [], "what is open stays open"
    at = press(press(at, "again", question), "skip", question)
    at = guess_key(press(at, "again", question), "The")
    assert "0 of 1 guess right this session." in tallies(at), "a skip counts for nothing"

    at.text_input(key="control_seed").set_value("71").run()
    at = guess_key(press(at, "again", question), "dog")
    assert " of 2 guesses right this session." in tallies(at)


def right_guess(question):
    if isinstance(question, Row):
        return tuple(question.truth)
    if isinstance(question, Shape):
        return tuple(size for _, size in question.truth)
    places = range(len(question.choices))
    if not question.many:
        return next([place] for place in places if question.judge([place]).right)
    named = [int(number) for number in re.findall(r"\d+", question.answer())]
    tries = [[at for at in places if str(question.choices[at]) in question.answer()], named]
    return next(each for each in tries if question.judged(each).right)


def numbers_in(words):
    return re.findall(r"\d[\d.,]*(?<![.,])", words)


@SLOW
@pytest.mark.parametrize(("page", "example"), few(product(LESSONS, EXAMPLES), 9))
def test_a_skipped_question_says_its_answer(page, example):
    asked = {}
    answered = asking._answered

    def noted(key, question, *others):
        asked[key] = question
        answered(key, question, *others)

    with patch.object(asking, "_answered", noted):
        at = opened(page, example=example)
        while names := open_questions(at):
            at = press(at, "skip", names[0])
            question = asked[names[0]]
            said = question.answer()
            assert f"{said} {question.teaches}".strip() in [each.value for each in at.markdown]
            assert said.endswith(".")
            if isinstance(question, Row):
                told = zip(question.truth, question.labels, strict=True)
                assert all(f"{weight:.2f} for {key}" in said for weight, key in told)
            else:
                verdict = question.judged(right_guess(question))
                assert verdict.right
                assert {*numbers_in(verdict.words)} <= {*numbers_in(said)}


def test_rows_are_numbered_where_a_question_speaks_of_their_numbers():
    with noted_layouts() as found:
        at = opened("tokenize_and_embed", example=FIRST)
    layout = next(each for each in found if any(m.name == "embeddings" for m in each.matrices))
    drawn = {row["text"] for row in table(layout).to_pylist() if row["kind"] == WORD}
    asked = re.search(r"Row (\d+: \w+)", words(at)).group(1)
    assert asked in drawn
    (one,) = (each for each in layout.matrices if each.name == "embeddings")
    assert len([each for each in drawn if re.match(r"\d+: ", each)]) >= len(one.values)
