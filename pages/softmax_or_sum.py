"""Lesson 3: why scores go through a softmax, and are not just divided by their sum."""

from dataclasses import replace

import streamlit as st

from attention_core.mechanism.softmax import exp_limits, normalise_row, store_row
from attention_core.rounding import to_within
from attention_ui.cards import elements as ui
from attention_ui.cards.page import Page, is_covered
from attention_ui.lessons.softmax_or_sum import lesson, words
from attention_ui.picture.equation_parts import equation_of
from attention_ui.picture.layout import equation as uncovered
from attention_ui.picture.matrix import Matrix
from attention_ui.reactive import settings
from attention_ui.words import number

TALL = 182
STANDING = 16
"""A query with more entries is too tall to stand beside the embeddings: it is a row of them."""
page = Page("softmax_or_sum", published="softmax_or_sum")


def is_typed(v):
    return v.row_from == "hand"


def has_scores(trace):
    return not words.is_hopeless(trace)


def both(made, stays=True):
    """A trace, and of it both ways to share, side by side: what is divided by its sum, as bars.
    Whether both stay on a phone, or softmax alone.
    """
    ways = (
        ("sum_weights", "scores", "by the sum", True),
        ("softmax_weights", "e^(score − largest)", "softmax", False),
    )
    parts = []
    for name, divided, title, both_ways in ways:
        shares = made[name]
        over, total = shares.inputs
        parts += [Matrix(over, title=divided), "÷", Matrix(total, title="sum"), "="]
        look = {"as_bars": True, "both_ways": both_ways, "stays": stays}
        parts += [Matrix(shares, title=title, **look), "|"]
    return made, parts[:-1]


@page.card(
    "two_ways",
    "Two ways to share",
    "Three words were compared with a query: a good match with a score of 2, a fair one with 1, "
    "and a poor one. What share should each get? Move the poor match’s score, and see which "
    "bars still make sense.",
    controls=[ui.in_picture(lesson.POOR)],
)
def two_ways(v):
    # Of numbers of its own: no question covers them.
    def at(poor):
        made, parts = both(lesson.matches_of(poor))
        return uncovered(made, *parts)

    yield ui.moving(lesson.POOR, at, is_aside=True)
    yield ui.note(words.matches_words(lesson.matches_of(v.poor), v.poor))


def take_over(v, trace):
    """A button that makes the example's own row one to change by hand."""
    if v.row_from == "example" and len(trace.labels("key")) <= lesson.MAX_SCORES:
        most = lesson.MAX_SCORE
        bounded = (min(max(score, -most), most) for score in trace["score_row"].value.tolist())
        typed = {"row_from": "hand", "typed": tuple(round(score, 4) for score in bounded)}
        st.button(
            "Change these",
            type="tertiary",
            icon=":material/edit:",
            help="Begins with these scores: type others in their place.",
            disabled=bool(settings.fixed() & {*typed}),
            on_click=ui.set_values,
            args=(typed,),
            key="take_over",
        )


@page.card(
    "scores",
    "One row of scores",
    lambda v: (
        "A row of your own: the scores of one query, one for each key. Type others."
        if is_typed(v)
        else "One **query** is compared with every token, the keys. These are the scores of the "
        "last lesson, but only one row of them, drawn upright."
    ),
    controls=lambda v: [
        lesson.ROW_FROM,
        *(
            [lesson.TYPED.at(width=300)]
            if is_typed(v)
            else [
                lesson.ROW_QUERY.at(width=150),
                ui.alive(take_over, "lets you take these scores over and type others"),
            ]
        ),
    ],
)
def scores(v, trace):
    score_row = trace["score_row"]
    if is_typed(v):
        yield ui.matrices(trace, Matrix(score_row))
    else:
        first = trace.get("query_scores", score_row)
        result = Matrix(first, row_labels=False)
        parts = equation_of(*dict.fromkeys((first, score_row)), drawn=[result])
        if len(first.inputs[1].value) > STANDING:
            parts = (Matrix(first.inputs[0]), "→", *parts[parts.index("=") + 1 :])
        yield ui.matrices(trace, *parts, tall=TALL)
    if words.is_hopeless(trace):
        yield ui.light(
            False,
            "Every score is −∞: all keys are hidden, and there is nothing to share. Every weight "
            "is `nan` (not a number). Type at least one finite score.",
        )


@page.card(
    "divide",
    "Divide by the sum",
    lambda trace: words.of_dividing(trace["sum_weights"].value),
    controls=lambda v, trace: (
        []
        if (trace["score_row"].value < 0).any()
        else [ui.set_to("A row with scores below 0", "below_0", **lesson.row_below_0(v))]
    ),
    ask=page.ask("sum_best", words.sum_best, ["sum_weights"], again=["score_row"]),
)
def divide(trace):
    by_sum = trace["sum_weights"]
    parts = equation_of(by_sum, drawn=[Matrix(by_sum, as_bars=True, both_ways=True)])
    yield ui.matrices(trace, *parts, tall=TALL)
    if not is_covered("sum_weights"):
        scores = trace["score_row"].value
        yield ui.light(*words.sum_verdict(scores, by_sum.value, trace.labels("key")))


@page.card(
    "softmax",
    "Softmax",
    lambda trace: (
        "−∞ minus −∞ is `nan` (not a number), and so is everything computed from it."
        if words.is_hopeless(trace)
        else "First subtract the row’s largest score: no share changes, and the largest becomes 0. "
        "Then take e to the power of each: at most 1, never negative, and larger for larger "
        "scores. Now it is safe to divide by the sum: it is never below 1."
    ),
    ask=page.ask(
        "softmax_row",
        words.softmax_most,
        ["softmax_weights"],
        stays=["exponentials"],
        again=["score_row"],
    ),
)
def softmax(v, trace):
    by_softmax, hopeless = trace["softmax_weights"], words.is_hopeless(trace)
    steps = (trace[name] for name in ("lowered_scores", "exponentials", "softmax_weights"))
    parts = equation_of(*steps, drawn=[Matrix(by_softmax, as_bars=not hopeless)])
    yield ui.matrices(trace, *parts, tall=TALL, asks=None if is_typed(v) else v.row_query)
    if not hopeless and not is_covered("softmax_weights"):
        off = abs(by_softmax.value.sum().item() - 1)
        yield ui.light(
            off < 1e-5 and bool((by_softmax.value >= 0).all()),
            f"No weight is below 0, and they sum to 1, {to_within(off)}.",
        )


def add_controls(trace):
    """The constant, exactly, and the one that brings the sum near 0, where there is one."""
    each = [
        ui.in_picture(lesson.SHIFT),
        lesson.SHIFT.at(widget="text_input", label="Exactly", width=80),
    ]
    scores = trace["score_row"].value
    if not scores.isfinite().all():
        return each
    zero = -scores.double().mean().item()
    nearest = round(zero * 200) / 200
    look = {
        "disabled": abs(nearest) > lesson.SHIFT.field.most,
        "help": f"The sum is 0 where the constant is {number(zero)}: minus the mean of the scores.",
    }
    return [ui.set_to("Bring the sum near 0", "to_zero", look, shift=nearest), *each]


@page.card(
    "constant",
    "Add a constant",
    "Add the same number to all scores, and their differences stay as they are. It begins just "
    "past where it makes the sum of the scores 0. Move it, and see which bars stay still.",
    controls=add_controls,
    when=has_scores,
)
def constant(v, trace):
    given = lesson.row_of(v)

    def shifted(shift):
        return both(normalise_row(given.branch(), shift=shift))

    yield ui.moving(lesson.SHIFT, shifted, tall=TALL)
    now, _ = shifted(v.shift)
    if not is_covered("sum_weights"):
        moved, shares = now["sum_weights"].inputs[0], now["sum_weights"]
        yield ui.light(*words.sum_verdict(moved.value, shares.value, trace.labels("key")))
    if v.shift:
        yield ui.light(*words.softmax_stays(trace, now))


def magnified(v, factor):
    """The row with all scores multiplied, and both ways to share it."""
    return normalise_row(lesson.row_of(v), magnify=factor)


@page.card(
    "magnify",
    "Multiply by a factor",
    lambda trace: (
        "Long vectors make large scores. A factor above 0 does not change the shares by the sum, "
        "but softmax reacts: where it is near 0 all keys are alike; where it is large "
        f"{words.winners(trace['score_row'].value)}. A language model’s **temperature** is 1 "
        "divided by this factor."
    ),
    controls=[ui.in_picture(lesson.MAGNIFY)],
    when=has_scores,
)
def magnify(v, trace):
    given = lesson.row_of(v)
    yield ui.moving(
        lesson.MAGNIFY,
        lambda factor: both(normalise_row(given.branch(), magnify=factor), stays=False),
        tall=TALL,
    )
    now = magnified(v, v.magnify)
    if not now["softmax_weights"].value.isfinite().all():
        yield ui.light(
            False, "0 · (−∞) is not a number. With a hidden score, choose a factor above 0."
        )
    else:
        if not is_covered("softmax_weights"):
            yield ui.note(words.spread_words(now["softmax_weights"].value))
        if v.magnify:
            yield ui.light(*words.sum_stays(trace, now))


deeper = page.deeper("how training moves scores, numbers that overflow, the formulas")


@deeper.section("gradient", "How training moves scores", when=has_scores)
def gradient(v):
    now = magnified(v, v.magnify)
    if is_covered("softmax_weights"):
        yield ui.note("These pictures wait for your guess at *Softmax*: they would give it away.")
    elif now["softmax_weights"].value.isfinite().all():
        yield ui.say(
            "**The gradient.** Training moves the scores along the derivatives of the weights, "
            "drawn below. Cell j, k says how much weight j changes when score k grows a little. "
            "The diagonal is never negative, the rest never positive. Each column sums to 0, since "
            "the weights always sum to 1: what one key wins, the others lose. Each row sums to 0 "
            "as well, since adding the same number to all scores changes no weight. Where a weight "
            "is nearly 0 or nearly 1, its row is nearly 0, and hardly anything is learned from it."
        )
        yield ui.matrices(now, now["jacobian"])


@deeper.section(
    "overflow",
    "Numbers that overflow",
    "On paper, the weights are the same without subtracting the largest score. On a computer they "
    "may not be: its numbers cannot grow for ever. Move the scores, and try numbers of half the "
    "size, float16 and bfloat16.",
    when=has_scores,
    pictures=["as_written", "lowered"],
)
def overflow(v, trace):
    yield ui.row(lesson.PUSH.at(width=320), lesson.PRECISION.at())
    stored = store_row(lesson.row_of(v), v.push, v.precision)
    has = {name: step.value for name, step in stored.items()}
    largest, zero = exp_limits(v.precision)
    yield ui.say(
        f"In {v.precision}, e to a power above **{number(largest, 2)}** is infinite, and e to a "
        f"power of **{number(zero, 2)}** or less is 0. The largest score is now "
        f"**{number(has['stored_scores'].max().item(), 2)}**."
    )
    if is_covered("softmax_weights"):
        return
    for name, told, scores, title, powers, raised, weights in (
        ("as_written", "As the formula is written:",
         *("stored_scores", "score", "naive_exponentials", "e^score", "naive_weights")),
        ("lowered", "With the largest subtracted first:",
         *("lowered_scores", "score − largest", "exponentials", "e^(…)", "softmax_weights")),
    ):  # fmt: skip
        total = Matrix(stored[weights].inputs[1], title="sum")
        parts = Matrix(stored[scores], title=title), "→", Matrix(stored[powers], title=raised)
        parts += ("÷", total, "=", Matrix(stored[weights], title="weights"))
        yield ui.caption(told)
        yield ui.picture(uncovered(stored, *parts, tall=TALL), name, is_aside=True)
    yield ui.light(
        *words.lost_words(*(has[f"naive_{name}"] for name in ("exponentials", "sum", "weights")))
    )
    exact = trace["softmax_weights"].value
    yield ui.light(*words.stable_words(has["softmax_weights"], exact, v.precision))


@deeper.section("formula", "Both in one line")
def in_one_line(trace):
    yield ui.formula_of(trace, "sum_weights", "score_row")
    yield ui.formula_of(trace, "softmax_weights", "score_row", "largest")


def on_adding(trace):
    adding = words.on_adding(trace)
    return replace(adding, card="softmax") if words.is_hopeless(trace) else adding


page.answers(words.why_e, on_adding, words.on_a_lead)
page.show()
