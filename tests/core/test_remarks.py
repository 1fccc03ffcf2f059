"""What is said of a cell's arithmetic: how many terms are 0, and why; how closely ways agree."""

import itertools
import math
import re

import pytest

from attention_core import EXAMPLES, embed
from attention_core import operations as ops
from attention_core.explain.plain_text import plain_text
from attention_core.explain.remarks import remarks, zero_terms
from attention_core.expression import Product, Sum
from attention_core.mechanism.attention import attention
from attention_core.mechanism.flash import attend_in_tiles
from attention_core.mechanism.masking import attend_masked
from attention_core.mechanism.softmax import given_row, normalise_row
from attention_core.recipes import MaskRecipe
from attention_core.rounding import SHARE, to_within
from attention_core.symbols import SYMBOLS, VARIANTS
from attention_core.text.inputs import Inputs
from traces import LESSONS, lesson_trace, workshop

FIVE = Inputs("the quick brown fox jumps", d_in=3)


def masked(**options):
    return attend_masked(embed(FIVE), MaskRecipe(**options))


def said(trace, name, *index):
    return " ".join(remarks(trace[name], index))


@pytest.mark.parametrize(("name", "index", "words"), [
    ("context_vectors", (1, 2), "3 of the 5 products are times 0: the mask hides their keys."),
    ("context_vectors", (3, 0), "1 of the 5 products is times 0: the mask hides its key."),
    ("context_vectors", (4, 0), ""),
    ("context_vectors", (0, 1), "4 of the 5 products are times 0: the mask hides their keys. "
     "What is left is 1 times `embeddings[0, 1]`: a copy."),
    ("weights", (2, 1),
     "2 of the 5 terms of the sum are e to the −∞, exactly 0: the mask hides their keys."),
    ("weights", (2, 4), "…This cell is one of them, so its share is 0."),
    ("weights", (0, 0), "…No other term is left, so this cell gets all: 1."),
    ("masked_scores", (1, 3), "Nothing is computed here (hidden by the mask): −∞ stands in its "
     "place, and softmax turns that into exactly 0."),
    ("zero_filled_scores", (1, 3), "…0 stands in its place."),
    ("masked_scores", (3, 1), "`mask[3, 1]` is true…"),
])  # fmt: skip
def test_what_a_mask_hides_is_counted_and_said(name, index, words):
    assert re.fullmatch(re.escape(words).replace("…", ".*"), said(masked(), name, *index))


def test_a_one_hot_row_picks_the_row_of_its_id():
    trace = embed(FIVE, with_product=True)
    ids = trace["token_ids"].value.tolist()
    for token, column in itertools.product(range(5), range(3)):
        assert said(trace, "embeddings_by_product", token, column) == (
            "A one-hot row: only one term is not 0, so this picks "
            f"row {ids[token]} of `embedding_table`."
        )
        lookup = said(trace, "embeddings", token, column)
        assert lookup.startswith(f"A lookup: the id picks row {ids[token]} of")
    assert f"column {ids[2]}: the single 1" in said(trace, "one_hot", 2, ids[2])
    assert f"The id is {ids[2]}, not {ids[3]}" in said(trace, "one_hot", 2, ids[3])


def test_what_dropout_took_is_told_from_what_the_mask_hides():
    trace = masked()
    same = {"mask": trace["mask"], "dropout": 0.5, "dropout_seed": 3, "prefix": "left_"}
    attention(trace, *[trace["embeddings"]] * 3, **same)
    out = trace["left_kept"].value < 0.5
    hidden = ~trace["mask"].value & ~out
    for query in range(5):
        words = said(trace, "left_context_vectors", query, 0)
        for which, reason in ((out, "(dropped: its number is below 0.5)"), (hidden, ": the mask")):
            count = int(which[query].sum())
            many = "All 5" if count == 5 else f"{count} of the 5"
            are = "is" if count == 1 else "are"
            assert (f"{many} products {are} times 0" in words) == (count > 0), words
            assert (reason in words) == (count > 0), words


def test_a_hidden_score_that_was_typed_and_one_that_is_far_too_small():
    trace = normalise_row(given_row((3.0, -math.inf, 1.0)))
    assert (
        said(trace, "softmax_weights", 1) == "0 divided by any other number is 0 (a score of −∞)."
    )
    assert said(trace, "exponential_sum", 0) == "1 of the 3 terms is 0 (a score of −∞)."
    trace = normalise_row(given_row((-math.inf, 300.0, 2.0)))
    assert said(trace, "exponential_sum", 0) == (
        "1 of the 3 terms is 0 (a score of −∞). "
        "1 of the 3 terms is 0 (too small a number: rounded to 0)."
    )
    trace = embed(FIVE)
    attend_in_tiles(trace, trace["embeddings"], trace["embeddings"], trace["embeddings"], 2, 2)
    zero = trace.step("zero", ops.Given(((0.0,), (0.0,))), axes=("query_block_0", "row"))
    begun = trace["running_sum_0_start"], trace["shrink_0_0"], zero
    trace.step("nothing_yet", ops.RescaleAndAdd(), *begun, axes=("query_block_0", "row"))
    assert said(trace, "nothing_yet", 1, 0) == "All 2 terms are 0."
    trace = normalise_row(given_row((300.0, 1.0, 2.0)))
    assert said(trace, "exponential_sum", 0) == (
        "2 of the 3 terms are 0 (too small a number: rounded to 0)."
    )


def test_a_head_that_is_switched_off_is_times_0():
    trace = workshop()
    assert said(trace, "switched", 1, 0, 0).startswith("One factor is 0")
    assert said(trace, "switched", 0, 0, 0) == ""


TRACES = {
    **{name: lambda name=name: lesson_trace(name) for name in LESSONS},
    "workshop": workshop,
    "all ways to hide": lambda: attend_masked(embed(EXAMPLES["journey_123"].inputs)),
}


@pytest.mark.parametrize("name", TRACES)
def test_just_the_terms_that_are_0_are_given_a_reason(name):
    """Counted anew from the factors of every cell; a long trace by every seventh cell."""
    seen = 0
    for step in TRACES[name]().values():
        if step.value.numel() > 10_000:
            continue
        places = list(itertools.product(*map(range, step.value.shape)))
        for index in places[:: 1 + len(places) // 60]:
            arithmetic = step.arithmetic(index)
            why = zero_terms(step, arithmetic)
            truth = [term.value == 0 for term in arithmetic.terms]
            assert [reason is not None for reason in why] == truth
            if isinstance(arithmetic, Sum) and any(truth):
                seen += all(isinstance(term, Product) for term in arithmetic.terms)
                assert remarks(step, index), f"nothing is said of {step.name}{index}"
            for sentence in remarks(step, index):
                assert sentence[0].isupper() or sentence[0] in "`0123456789", sentence
                assert sentence.endswith("."), sentence
                assert "\\" not in sentence, "LaTeX among the words"
    assert seen or "one_hot" not in (lesson_trace(name) if name in LESSONS else {})


def test_no_latex_is_left_of_any_formula():
    steps = [*workshop().values(), *(each for n in LESSONS for each in lesson_trace(n).values())]
    written = {step.formula for step in steps} | {*SYMBOLS.values()}
    written |= {pattern.format("X") for pattern in VARIANTS.values()}
    assert len(written) > 200
    left = {latex: plain_text(latex) for latex in written}
    assert {latex: text for latex, text in left.items() if set(text) & set("\\{}")} == {}


# --- how closely two ways agree -------------------------------------------------------------------
SMALL = "to within 0.0000002, the rounding of 32-bit numbers"


@pytest.mark.parametrize(("gap", "words"), [
    (0.0, "exactly"),
    (2e-7, SMALL),
    (1.4e-7, SMALL),
    (SHARE, "to within 0.00001, the rounding of 32-bit numbers"),
    (1.2e-5, "but for differences of up to 0.00002"),
    (0.034, "but for differences of up to 0.04"),
    (1e-12, "to within 0.000000000001, the rounding of 32-bit numbers"),
    (1e4, "but for differences of up to 10000"),
    (31.0, "but for differences of up to 40"),
    (math.inf, "but for differences of up to Infinity"),
    (math.nan, "but for what is nan (not a number)"),
])  # fmt: skip
def test_a_gap_is_written_out_and_said_for_what_it_is(gap, words):
    assert to_within(gap) == words
