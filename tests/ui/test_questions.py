"""Kinds of questions: asked on every lesson, judged by its numbers, counted once, and skipped."""

import re
from itertools import product
from types import SimpleNamespace
from unittest.mock import patch

import pytest
import torch

from attention_core import EXAMPLES
from attention_ui.cards import question as asking
from attention_ui.cards import questions
from attention_ui.cards.common_questions import which_key, which_way, whole_row
from attention_ui.cards.covers import NUMBERS, Cover
from attention_ui.cards.questions import Shape
from attention_ui.cards.row_question import MOST, Row, as_shares, distance
from attention_ui.controls.shared import FIRST
from attention_ui.lessons.multi_head_attention.words import judge_most
from attention_ui.picture.table import WORD, table
from sampling import few
from visiting import LESSONS, noted_layouts, stands, visit, words

pytestmark = pytest.mark.slow("25 s: whole pages")


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


# --- the kinds, without a page -------------------------------------------------------------------
def row_of(*weights):
    tokens = [f"t{at}" for at in range(len(weights))]
    return Row(words="", keys=range(len(weights)), tokens=tokens, weights=weights)


def test_the_distance_is_half_the_sum_of_all_differences():
    assert distance((0.5, 0.5, 0.0), (0.25, 0.25, 0.5)) == pytest.approx(0.5)
    assert distance((1.0, 0.0), (0.0, 1.0)) == 1
    assert as_shares((0.0, 0.0)) is None
    assert as_shares((0.2, 0.6)) == pytest.approx((0.25, 0.75))
    verdict = row_of(0.25, 0.25, 0.5).judged((0.5, 0.5, 0.0))
    assert verdict.distance == pytest.approx(0.5)
    assert not verdict.right
    assert "50% of your weight would have to move to other keys" in verdict.words
    assert "with all bars equal it would be 17%." in verdict.words
    assert row_of(0.25, 0.75).judged((0.3, 0.7)).right, "near enough for a tick"


def test_a_long_row_has_few_sliders_and_its_last_keys_share_one():
    n_keys = MOST + 2
    row = row_of(*[1 / n_keys] * n_keys)
    assert len(row.labels) == MOST == len(row.names) == len(row.truth)
    assert row.labels[-1] == "the other 3 keys together"
    assert row.truth[-1] == pytest.approx(3 / n_keys)
    assert len(row_of(*[1 / MOST] * MOST).labels) == MOST
    assert "others" not in row_of(*[1 / MOST] * MOST).names


def test_only_visible_keys_are_asked_for():
    weights = torch.tensor([0.25, 0.0, 0.75])
    row = whole_row("", ("a", "b", "c"), weights, torch.tensor([True, False, True]))
    assert (row.keys, row.names) == ([0, 2], ["0: a", "2: c"])
    assert row.truth == [0.25, 0.75]
    assert whole_row("", ("a", "b", "c"), weights, torch.tensor([True, False, False])) is None
    assert whole_row("", ("a", "b"), torch.tensor([torch.nan] * 2), torch.ones(2).bool()) is None


@pytest.mark.parametrize(("before", "after", "truth"), [
    (0.5, 0.50001, 0), (0.5, 0.49999, 1), (0.5, 0.7, 0), (0.5, 0.3, 1), (0.5, 0.5 + 1e-9, 2),
    (-1.0, -2.0, 1), (1e6, 1e6 + 0.1, 2),
])  # fmt: skip
def test_a_sign_is_up_down_or_none(before, after, truth):
    sign = which_way("", "the sum", before, after, "")
    assert [sign.judged([way]).right for way in range(3)] == [way == truth for way in range(3)]
    assert sign.answer().startswith(f"The sum {('goes up', 'goes down', 'stays')[truth]}, ")


@pytest.mark.parametrize(("guess", "right", "words"), [
    ((3, 5), True, "Right: query 3 × key 5."),
    ((5, 3), False, "their order is not"),
    ((3, 2), False, "columns 5 instead of 2"),
    ((1, 2), False, "rows 3 instead of 1 and columns 5 instead of 2"),
])  # fmt: skip
def test_a_shape_is_told_where_it_is_wrong(guess, right, words):
    verdict = Shape(words="", truth=(("query", 3), ("key", 5))).judged(guess)
    assert verdict.right == right
    assert words in verdict.words


@pytest.mark.parametrize("row", [(0.3333, 0.3333, 0.3334), (0.112, 0.114, 0.11), (0.5, 0.5, 0.0)])
def test_of_keys_that_look_equal_each_is_right(row):
    """A guess is judged by what can be seen: two decimals."""
    names, row = ("a", "b", "c"), torch.tensor(row)
    asked = which_key("Which?", names, row)
    largest = [at for at, each in enumerate(row) if row.max() - each < 0.005]
    assert len(largest) > 1
    for at in range(3):
        verdict = asked.judged([at])
        assert verdict.right == (at in largest), verdict
        assert all(f"“{names[each]}”" in verdict.words for each in largest)


@pytest.mark.parametrize("lengths", [(1.0, 1.004, 0.2), (2.0, 2.0, 2.0)])
def test_of_heads_that_add_as_much_each_is_right(lengths):
    added = torch.tensor(lengths)[:, None] * torch.tensor([[0.6, 0.8]])
    right = [judge_most(head, added).right for head in range(3)]
    assert right == [max(lengths) - each < 0.005 for each in lengths]


def test_rows_are_numbered_where_a_question_speaks_of_their_numbers():
    with noted_layouts() as found:
        at = opened("tokenize_and_embed", example=FIRST)
    layout = next(each for each in found if any(m.name == "embeddings" for m in each.matrices))
    drawn = {row["text"] for row in table(layout).to_pylist() if row["kind"] == WORD}
    asked = re.search(r"Row (\d+: \w+)", words(at)).group(1)
    assert asked in drawn
    (one,) = (each for each in layout.matrices if each.name == "embeddings")
    assert len([each for each in drawn if re.match(r"\d+: ", each)]) >= len(one.values)


@pytest.mark.parametrize(("picked", "guess"), [
    ([], None), ([2], []), ([1, 0], [0, 1]), ([0, 2], None), ([2, 1, 0], None),
])  # fmt: skip
def test_none_of_them_and_one_of_them_is_no_guess(picked, guess, monkeypatch):
    monkeypatch.setattr(questions, "sent", lambda _: picked)
    asked = questions.Pick(words="Which?", choices="ab", judge=lambda _: None, truth=str, many=True)
    assert asked.guess("key") == guess


@pytest.mark.parametrize(("path", "is_open"), [
    ((), False), (("hidden",), True), (("other",), False), (("other", "hidden"), True),
    (("hidden", "other"), False), (("hidden", "other", "hidden"), True),
    (("other", "hidden", "other"), False),
])  # fmt: skip
@pytest.mark.parametrize("paper", [False, True])
def test_the_cell_that_is_looked_at_last_opens_what_hides_it_but_on_paper(
    path, is_open, paper, monkeypatch
):
    looked_at = SimpleNamespace(paper=paper, cell=tuple((name, (0, 1)) for name in path))
    monkeypatch.setattr(asking.session, "values", lambda: looked_at)
    assert asking.opens({"hidden": Cover(NUMBERS)}) == (is_open and not paper)
