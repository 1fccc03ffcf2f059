"""Kinds of questions by themselves: what is a guess, how it is judged, and what lifts a cover."""

from types import SimpleNamespace

import pytest
import torch

from attention_ui.cards import question as asking
from attention_ui.cards import questions
from attention_ui.cards.common_questions import which_key, which_way, whole_row
from attention_ui.cards.covers import NUMBERS, Cover
from attention_ui.cards.questions import Shape
from attention_ui.cards.row_question import MOST, Row, as_shares, distance
from attention_ui.lessons.multi_head_attention.words import judge_most


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
    monkeypatch.setattr(asking.settings, "values", lambda: looked_at)
    assert asking.opens({"hidden": Cover(NUMBERS)}) == (is_open and not paper)
