"""What has changed in attention since 2017: shared heads, places, windows, caps, and the cache."""

import streamlit as st

from attention_core.mechanism.today import PREFIX
from attention_ui.cards.card import card, light, note
from attention_ui.cards.pinned import since_the_pin
from attention_ui.cards.question import question
from attention_ui.cards.show import Moving, chart, moves, picture
from attention_ui.controls import held
from attention_ui.controls.shared import D_HEAD, HEAD, N_HEADS
from attention_ui.controls.widget import control
from attention_ui.frame.ends import answers, deeper, ends
from attention_ui.frame.lights import sums_verdict
from attention_ui.frame.page import open_lesson
from attention_ui.lessons.attention_today import checks, costs, decoding, facts, words
from attention_ui.lessons.attention_today.lesson import (
    ALIBI,
    BESIDE,
    BOUND,
    CAPPED,
    CONTROLS,
    COST_MODEL,
    DECODED,
    GROUPED,
    KV_HEADS,
    M_BYTES,
    MAKES_HEADS,
    MODELS,
    MOVED_BY,
    NEAR,
    NEXT,
    OWN_SIZES,
    PLACES,
    PLAIN,
    ROTARY,
    SINKS,
    SLOPE,
    SLOPED,
    SOFT_CAP,
    SUNK,
    WINDOW,
    WINDOWED,
    add,
    add_slope,
    alone,
    decoded,
    is_odd,
    model_that_is_on,
    plain,
    shown_cap,
    shown_kv_heads,
    shown_sinks,
    switches_of,
    then_and_now,
    trace_of,
    weights,
    with_the_rest,
)
from attention_ui.picture.layout import equation
from attention_ui.picture.matrix import Matrix

PAGE = "attention_today"
NAMES = {
    GROUPED: "Shared heads",
    ROTARY: "Rotary positions",
    ALIBI: "ALiBi",
    WINDOWED: "A window",
    SUNK: "A window with sinks",
    CAPPED: "Soft cap",
}
LINE = {"horizontal": True, "vertical_alignment": "bottom", "gap": "medium"}
values = open_lesson(PAGE, CONTROLS)
trace = trace_of(values)
since_the_pin(trace, trace_of, CONTROLS)
single = alone(values, trace)
head, n_heads = values.head, values.n_heads
about = (*values.of(*MAKES_HEADS), head)
"""What the pictures of one switch alone depend on, beside that switch."""


def set_as_in() -> None:
    """From the buttons: set the switches as a model has them, but for those a link has fixed."""
    if st.session_state["as_in"] in MODELS:
        kept = {*held.names_in("hide"), *held.names_in("lock")}
        chosen = switches_of(st.session_state["as_in"], held.values())
        held.change(**{name: value for name, value in chosen.items() if name not in kept})


with card("today", "One head, then and now", words.on_words(values)) as beside:
    with beside:
        st.session_state["as_in"] = model_that_is_on(values)
        st.segmented_control(
            "Set them as in (scaled down)",
            [*MODELS],
            format_func=MODELS.__getitem__,
            key="as_in",
            on_change=set_as_in,
        )
    with st.container(key="switches", **LINE):
        control(HEAD, widget="selectbox", width=110)
        control(KV_HEADS)
        control(PLACES)
        control(WINDOW, label="Window", width=110)
        if values.window:
            control(SINKS, label="Sinks", width=100)
        control(SOFT_CAP, label="Soft cap", width=110)
    now = (weights(trace, head, PLAIN), BESIDE, weights(trace, head, PREFIX))
    picture("today", equation(trace, *now, tall=290))
    if told := words.wider_words(values):
        note(told)

with card(
    "sharing",
    "Heads share keys and values",
    "Above, all switches count together; from here on, each is on alone. A model that generates "
    "text stores every key and value. If several query heads use the same ones, there is less to "
    "store: **grouped-query attention**. With one for all it is **multi-query attention**.",
) as beside:
    with beside:
        control(N_HEADS, width=110)
        control(D_HEAD, width=110, label="d_head")
    if n_heads == 1:
        note("There is only one head here, so nothing can be shared. Choose more above.")
    else:
        fewer = shown_kv_heads(values)
        keys = Matrix(single[f"{GROUPED}keys"], lead=(head // (n_heads // fewer),))
        picture("sharing", equation(single, *then_and_now(single, head, GROUPED, keys), tall=235))

with card(
    "rotary",
    "Rotary positions",
    "A dot product does not know where two words stand. So each query and key is turned (↻), pair "
    "of columns by pair, by an angle that grows with its place; 6.28 is a full turn. A score then "
    "depends on how many places apart two tokens stand, not on where in the text they are.",
) as beside:
    with beside:
        control(MOVED_BY, width=150)
    if is_odd(values):
        note(
            f"A head is {values.d_head or values.d_model // n_heads} wide here, so a column would "
            "be left over. Choose an even d_head at *Heads share keys and values*, or switch "
            "rotary positions on at the top."
        )
    else:
        turned = single[f"{ROTARY}turned_queries"]
        queries, angles = turned.inputs
        parts = (
            *(Matrix(queries, lead=(head,), title=f"queries[{head}]"), "↻"),
            *(Matrix(angles, title="angles"), "="),
            *(Matrix(turned, lead=(head,), title="turned"), NEXT, weights(single, head, ROTARY)),
        )
        picture("rotary", equation(single, *parts, tall=235))
        light(*checks.moved_light(single, values.moved_by))

with card(
    "alibi",
    "A bias for distance: ALiBi",
    "Simpler still: subtract a fixed amount from a score for each step between query and key. This "
    "amount, the **slope**, differs from head to head. Nothing is learned, and texts may be longer "
    "than in training.",
) as beside:
    with beside:
        moves("alibi", SLOPE)

    def sloped(slope: float) -> tuple:
        """The weights of one head, and those with a bias of this slope."""
        made = add_slope(plain(values), slope)
        bias = Matrix(made[f"{SLOPED}bias"], lead=(head,))
        return then_and_now(made, head, SLOPED, bias)

    moving = Moving(SLOPE, sloped, about, elsewhere=True)
    bias = Matrix(single[f"{SLOPED}bias"], lead=(head,))
    parts = then_and_now(single, head, SLOPED, bias)
    picture("alibi", equation(single, *parts, tall=235), moving)
    note(facts.far_words(single, head))

with card(
    "window",
    "A window, and sinks",
    "With a **sliding window** a query sees only the last few keys, so a new token costs the same, "
    "however long the text. But softmax must put its weight somewhere: a trained model puts what "
    "it has no use for on the first tokens. So these stay visible, as **attention sinks**.",
) as beside:
    with beside:
        moves("window", NEAR)

    def near(window: int) -> tuple:
        """The weights of one head: all, those in a window, and with sinks too."""
        made = add(plain(values), WINDOWED, window=int(window))
        add(made, SUNK, window=int(window), sinks=shown_sinks(values))
        each = [weights(made, head, prefix) for prefix in (PLAIN, WINDOWED, SUNK)]
        return each[0], BESIDE, each[1], BESIDE, each[2]

    moving = Moving(NEAR, near, (*about, values.sinks), elsewhere=True)
    each = [weights(single, head, prefix) for prefix in (PLAIN, WINDOWED, SUNK)]
    parts = (each[0], BESIDE, each[1], BESIDE, each[2])
    picture("window", equation(single, *parts, tall=235), moving)
    note(facts.kept_words(values))

with card(
    "decoding",
    "Written token by token",
    "Each new token makes one query, one key and one value. Earlier keys and values come from the "
    "**cache**: they never change, since no token looks ahead. Its query is asked once and never "
    "again, so no query is kept. What is on at the top is on here too.",
) as beside:
    with beside:
        control(DECODED, width=190)
    step = decoded(values, trace)
    picture("decoding", equation(step, *decoding.with_cache(step, head), tall=170))
    note(decoding.products_words(values, values.decoded))

with card(
    "costs",
    "What it costs in a real model",
    "While a model generates text, it keeps the keys and values of all tokens so far, in every "
    "layer. For long texts this cache takes more memory than anything else in attention.",
) as beside:
    with beside:
        control(COST_MODEL, widget="selectbox", width=180)
        control(M_BYTES, widget="selectbox", width=150)
    if values.cost_model == "own":
        with st.container(key="own_sizes", **LINE):
            for size in OWN_SIZES:
                control(size, width=190)
    covered = set()
    if question("cache", costs.cache_question(), trace, ("head_keys", "head_values")):
        covered.add("cache")
    else:
        model, n_bytes = costs.model_of(values), int(values.m_bytes)
        chart("costs", costs.bars(model, n_bytes), width=720)
        st.caption(f"{costs.parameter_words(model)} {costs.cache_words(model, n_bytes)}")

with deeper("scores kept in bounds, shapes and costs of each switch, pairs of columns", "cap",
            "whole") as is_open:  # fmt: skip
    if is_open:
        single = with_the_rest(values, single)
        with card(
            "cap",
            "Scores kept in bounds",
            "One huge score takes all the weight, and then hardly anything is learned. A **soft "
            "cap** bends large scores, by cap · tanh(score / cap), and leaves small ones nearly "
            "alone.",
        ) as beside:
            with beside:
                moves("cap", BOUND, width=260)

            def capped(bound: float) -> tuple:
                """The weights of one head, and those with capped scores."""
                made = plain(values)
                cap = shown_cap(values.but(bound=bound), made)
                add(made, CAPPED, soft_cap=cap)
                scores = Matrix(made[f"{CAPPED}capped_scores"], lead=(head,))
                return then_and_now(made, head, CAPPED, scores)

            moving = Moving(BOUND, capped, about, elsewhere=True)
            scores = Matrix(single[f"{CAPPED}capped_scores"], lead=(head,))
            parts = then_and_now(single, head, CAPPED, scores)
            picture("cap", equation(single, *parts, tall=280), moving)
            light(*checks.cap_light(single, shown_cap(values, single)))
        with card(
            "shapes",
            "Shapes and costs",
            "What another shape means for a model: fewer parameters, or less to keep. All tensors "
            "that are not named stay as they were.",
        ):
            tokens = facts.kept_of(values)
            st.markdown(facts.table(single, NAMES, values.d_model, tokens))
            if n_heads > 1:
                note(facts.sharing_words(shown_kv_heads(values), n_heads, values.kv_heads))
        with card(
            "whole",
            "The new token’s row, without a cache",
            "Where all queries are computed at once, the row of the token that is written now is "
            "the same.",
        ):
            row = decoding.in_the_whole(trace, head, values.decoded)
            picture("whole", equation(trace, *row, tall=170))
        for good, told in (
            *([checks.sharing_light(single, shown_kv_heads(values))] if n_heads > 1 else []),
            decoding.same_row(step, trace, values.decoded),
            sums_verdict(trace, f"{PREFIX}context_vectors"),
            checks.distance_light(single, head),
            checks.window_light(single, values.near),
            checks.sinks_light(single, shown_sinks(values)),
        ):
            light(good, told)
        st.markdown(
            "**Pairs of columns.** Rotary positions pair column k with column k + d/2, one from "
            "each half, as `rotate_half` does in the Llama models; values are not turned. The "
            "first paper paired neighbours, 2k and 2k + 1. Both work, but weights trained for one "
            "do not fit the other. In a cache, keys are kept turned."
        )

answers(words.answers(values, single), frozenset(covered))
ends(PAGE, trace, f"{PREFIX}context_vectors")
