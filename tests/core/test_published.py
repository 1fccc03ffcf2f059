"""The published numbers: the data, the rule, where each number stands, the marks, the command."""

import math
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
import torch

from attention_core import EXAMPLES, Trace
from attention_core.operations import Given
from attention_core.published.building import BUILDERS, traces
from attention_core.published.checking import (
    Check,
    check,
    computed_entries,
    printed_entries,
    written,
)
from attention_core.published.marking import marks
from attention_core.published.printed import NOTEBOOKS, Result, notebook
from attention_core.published.recipe import RECIPES, Recipe
from attention_core.published.report import (
    VERDICTS,
    each_outcome,
    main,
    numbers_by_verdict,
    slack_on_processors,
    totals,
)
from sampling import few

ROOT = Path(__file__).parents[2]
ALL_RECIPES = [(name, id, each) for name in NOTEBOOKS for id, each in RECIPES[name].items()]


def printed(values, shape=(), kind="tensor", **others):
    told = dict.fromkeys(("description", "how", "note"), "")
    usual = {"reproduces": True, "reproduces_as_shown": True}
    usual |= {"abs_slack": math.inf, "source_line": 1}
    return Result("made_up", kind=kind, shape=shape, values=values, **told | usual | others)


def passes(result, value):
    return check(result, value).ok


# --- the rule ------------------------------------------------------------------------------------
LONG = -46.02456283569336
EXACT = printed(LONG, kind="scalar", decimals=14)
RULE = {
    "half a unit of the last printed digit": (
        printed(0.1234, decimals=4),
        [0.1234 + off * 1e-4 for off in (0, 0.5, -0.5, 0.5004, -0.5004)],
        [0.1234 + off * 1e-4 for off in (0.5006, -0.5006, 0.6, 1.01, -1.01, math.inf, math.nan)],
    ),
    "0 with an exponent": (printed(0.0, significant=5), [0.0, -9e-38], [1e-37, 1e-30]),
    "slack is a share": (replace(EXACT, rel_slack=1e-6), [LONG + 4.6e-5], [LONG + 4.7e-5]),
    "no slack": (EXACT, [LONG], [LONG + 1e-13]),
    "booleans": (printed(True, kind="bool"), [True], [False, 1]),
    "a shape": (printed([8, 2], (2,), kind="shape", decimals=0), [[8, 2]], [[2, 8]]),
}


@pytest.mark.parametrize("name", RULE)
def test_what_is_near_enough_passes_and_no_more(name):
    result, right, wrong = RULE[name]
    assert [value for value in right if not passes(result, value)] == []
    assert [value for value in wrong if passes(result, value)] == []


SLACK = [(n, r.id) for n in NOTEBOOKS for r in notebook(n).results.values() if r.rel_slack]


@pytest.mark.slow("3 s: each printed number by itself")
@pytest.mark.parametrize(("name", "id"), few(SLACK, 3))
def test_numbers_that_are_a_thousandth_off_are_refused(name, id):
    """All that are 0.2 % off. Where a sum nearly cancels, rounding alone may be 0.1 % of it."""
    result = notebook(name).results[id]
    right = torch.tensor(result.values, dtype=torch.float64)
    for off in (1.001, 0.999, 1.002, 0.998):
        passed = 0
        for at in product(*map(range, right.shape)):
            value = right.clone()
            value[at] *= off
            if right[at] != 0 and check(result, value).ok:
                passed += 1
                assert right[at].abs() < 0.001 * right.abs().max()
                assert off in (1.001, 0.999)
        assert passed <= 6


def test_the_readme_of_the_core_says_how_many_match_only_by_slack():
    said = " ".join((ROOT / "attention_core" / "README.md").read_text(encoding="utf-8").split())
    fewest, most = slack_on_processors()
    assert 0 < fewest < most
    assert f"one needs it for {fewest:,} numbers and another for {most:,}." in said


def test_of_a_cut_print_only_what_is_printed_is_compared():
    result = printed([[1.0, 2.0, 3.0], [4.0]], (3, 3), decimals=1)
    value = torch.tensor([[1.0, 2.0, 3.0], [4.0, 99.0, 99.0], [99.0, 99.0, 99.0]])
    assert check(result, value) == Check(4, 4, 0.0)
    value[1, 0] = 4.2
    assert check(result, value) == Check(4, 3, pytest.approx(0.2))
    assert check(result, value[:2]) == Check(4, 0, None)


def test_exact_kinds_are_equal_and_of_the_same_type():
    ids = printed([3, 4], (2,), kind="ints", decimals=0)
    assert passes(ids, torch.tensor([3, 4]))
    assert check(ids, torch.tensor([3, 5])) == Check(2, 1, None)
    assert not passes(ids, torch.tensor([3.0, 4.0]))
    assert not passes(printed([1], (1,), kind="ints", decimals=0), torch.tensor([True]))
    assert check(printed([" ", "a"], (2,), kind="text"), [" ", "b"]) == Check(2, 1, None)
    assert check(printed([["a", "0"]], (1,), kind="text"), [["a", "0"]]) == Check(1, 1, None)


def test_a_number_does_not_match_what_is_no_number():
    result = printed([1.0, 1.0], (2,), decimals=1)
    assert check(result, ["1.0", None]) == Check(2, 0, math.inf)
    assert check(result, torch.tensor([1.0, math.nan])) == Check(2, 1, math.inf)
    assert check(result, torch.tensor([True, True])) == Check(2, 0, math.inf)


OF_OTHER_SHAPES = (None, 1.0, True, "text", [], [1.0], [[1.0, 2.0]], torch.tensor(1.0))
OF_OTHER_SHAPES += tuple(map(torch.ones, [(3,), (2, 1), (2, 2, 2), (0, 2)]))


@pytest.mark.parametrize("value", OF_OTHER_SHAPES, ids=str)
def test_a_value_of_another_shape_does_not_match(value):
    assert check(printed([[1.0, 1.0], [1.0, 1.0]], (2, 2), decimals=1), value) == Check(4, 0, None)


# --- the recipes ---------------------------------------------------------------------------------
TRUE_OF_ANY_DRAW = {
    *("zeros_3", "sumnorm_weights_0_sum", "softmax_weights_0_sum", "row_sums"),
    *("causal_row_sums", "weights_1_sum", "alpha_1_sum"),  # a softmax sums to 1
    *("alpha_all_sum", "mh_alpha_sum"),  # one for each column, or for each cell of all heads
}
MATRICES_ALONE = {"W_query", "W_key", "W_value", "W_key_reprint", "linear_key_weight"}
"""Drawn from a seed of their own, whatever the embeddings are."""


def of_another_seed(place):
    example = EXAMPLES[place.example]
    vectors = tuple((token, (0.1, 0.2, 0.3)) for token, _ in example.inputs.vectors)
    inputs = replace(example.inputs, seed=70, vectors=vectors)
    return BUILDERS[place.lesson](replace(example, inputs=inputs), place.query)


@pytest.mark.parametrize(
    ("name", "id", "recipe"), ALL_RECIPES, ids=[f"{name}-{id}" for name, id, _ in ALL_RECIPES]
)
def test_a_recipe_gives_what_is_printed_and_with_another_seed_does_not(name, id, recipe):
    result = notebook(name).results[id]
    assert result.reproduces
    checked = check(result, recipe.value(traces()))
    assert checked.matching == checked.published == result.count, checked
    if not recipe.places or id == "trace_all1_first_weight":  # which rounds to 0
        return
    drawn = result.kind in ("tensor", "scalar") or (name, id) == ("sorry_dave", "token_ids")
    depends = drawn and id not in TRUE_OF_ANY_DRAW | MATRICES_ALONE
    assert passes(result, recipe.read(of_another_seed)) != depends


def of(**values):
    """A trace of these values, each also in the steps that two notebooks compare."""
    trace = Trace()
    for name, value in values.items():
        axes = tuple(f"{name}_{k}" for k in range(torch.tensor(value).ndim))
        trace.step(name, Given(value), axes=axes)
    return lambda _: trace


def test_a_comparison_can_be_false_and_where_shapes_or_types_differ_there_is_none():
    recipe = Recipe("close(any.one, any.other, 1e-6)", "wild_cat")
    scores = ((1.0, 2.0),)
    assert recipe.read(of(one=scores, other=scores)) is True
    assert recipe.read(of(one=scores, other=((1.0, 2.00005),))) is False
    for other in (((1.0, 2.0, 3.0),), (1.0, 2.0), ((1, 2),)):
        assert recipe.read(of(one=scores, other=other)) is None
    first_run = RECIPES["sorry_dave"]["context_3_equal"]
    row_2 = BUILDERS["simplified"](EXAMPLES["sorry_dave_first_run"], 2)
    assert first_run.read(lambda _: row_2) is False


@pytest.mark.parametrize("text", ["(lambda: 1)()", "row.sum()", "__import__('os')", "unknown", ""])
def test_a_recipe_does_nothing_but_what_its_functions_do(text):
    with pytest.raises((KeyError, ValueError, SyntaxError)):
        Recipe(text, "wild_cat").value(traces())


# --- marks ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("lesson", BUILDERS)
@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES.keys())
def test_the_marks_of_an_example_hold(example, lesson):
    expected = {
        id
        for id, recipe in RECIPES.get(example.notebook, {}).items()
        for place in recipe.places[:1]
        if place.lesson == lesson
        and place.example == example.name
        and place.query in (None, example.query)
    }
    trace = BUILDERS[lesson](example, example.query)
    found = marks(example.notebook, example.name, lesson, trace, example.query)
    assert {mark.result.id for mark in found} == expected
    assert all(mark.check.ok for mark in found)


# --- the command ---------------------------------------------------------------------------------
TOTALS = "2,563 of 2,603 38 of 38 81 of 81 92 of 92 17 of 17 2 of 2"


def test_all_148_results_come_one_by_one_with_what_was_computed():
    """Everything that a page needs: what is counted here is what the report counts."""
    found = {name: [*each_outcome(name)] for name in NOTEBOOKS}
    everything = [outcome for some in found.values() for outcome in some]
    assert len(everything) == 148
    for name, some in found.items():
        assert [each.result.id for each in some] == [*notebook(name).results]
    told = [f"{good:,} of {count:,}" for good, count in totals(everything).values()]
    assert " ".join(told) == TOTALS
    counted = numbers_by_verdict(everything)
    assert {*counted} <= {*VERDICTS}
    assert (counted.total(), counted["never"]) == (2_603, 40)
    assert counted["slack"] == sum(each.check.by_slack for each in everything if each.check)
    older = [each.result.id for each in everything if each.verdict == "older"]
    assert older == ["context_3", "causal_context_3_equal", "decoder_shape"]
    reasons = {each.result.reason for each in everything if each.verdict == "never"}
    assert reasons == {"invented for a diagram", "drawn at random without a seed"}
    for outcome in everything:
        assert bool(outcome.result.reason) == (outcome.verdict == "never")
        assert (outcome.computed is None) == (outcome.verdict == "never")
        if outcome.computed is not None:
            assert check(outcome.result, outcome.computed) == outcome.check


def test_a_number_that_is_another_differs_and_the_command_ends_with_1(monkeypatch, capsys):
    results = notebook("wild_cat").results
    right = results["context_0"]
    wrong = replace(right, values=[right.values[0] + 0.001, *right.values[1:]])
    monkeypatch.setitem(results, "context_0", wrong)
    (found,) = [each for each in each_outcome("wild_cat") if each.result.id == "context_0"]
    assert (found.verdict, found.entries()) == ("differs", {"print": 2, "differs": 1})
    own = printed_entries(wrong)
    assert own[0] == "1.1186"
    assert computed_entries(wrong, found.computed) == ["≠1.1176", *own[1:]]
    assert main() == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "DOES NOT MATCH: context_0, 2 of 3 entries, largest difference 0.00" in said


def test_entries_are_written_in_the_digits_of_the_print():
    assert written(printed(0.5, decimals=4, kind="scalar"), -0.00001) == "0.0000"
    assert written(printed(0.5, significant=5, kind="scalar"), 12.55) == "1.2550e+01"
    assert written(printed(["a b"], (1,), "text"), "a b") == "'a b'"
    assert written(printed(True, kind="bool"), True) == "True"
    near = printed([44.1], (1,), decimals=1, rel_slack=0.1, abs_slack=0.2)
    assert computed_entries(near, [44.3]) == ["≈44.3"]
    cut = printed([[1, 2, 3], [4, 5]], (3, 3), "ints")
    assert computed_entries(cut, [[1, 2, 3], [4, 5, 6], [7, 8, 9]]) == printed_entries(cut)
    assert (printed_entries(cut), computed_entries(cut, None)) == (list("12345"), [])
