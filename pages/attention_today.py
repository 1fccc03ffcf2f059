"""What has changed in attention since 2017: shared heads, places, windows, caps, and the cache."""

import streamlit as st

from attention_core.mechanism.today import PREFIX, ROTARY_BASE
from attention_core.trace import Trace
from attention_ui.cards.alone import Place, alone
from attention_ui.cards.begin import begin
from attention_ui.cards.card import card, light, note
from attention_ui.cards.question import question
from attention_ui.cards.show import Moving, chart, moves, picture
from attention_ui.controls import held
from attention_ui.controls.control import Values
from attention_ui.controls.shared import D_HEAD, HEAD, M_BYTES, N_HEADS
from attention_ui.controls.widget import control
from attention_ui.controls.widths import about_as_wide
from attention_ui.frame.ends import answers, deeper, ends
from attention_ui.frame.lights import sums_verdict
from attention_ui.frame.page import way_to, way_to_a_real_model
from attention_ui.lessons.attention_today import checks, costs, decoding, facts, lesson, words
from attention_ui.picture.layout import Layout, equation
from attention_ui.picture.matrix import Matrix

NAMES = {
    lesson.GROUPED: "Shared heads",
    lesson.ROTARY: "Rotary positions",
    lesson.ALIBI: "ALiBi",
    lesson.WINDOWED: "A window",
    lesson.SUNK: "A window with sinks",
    lesson.CAPPED: "Soft cap",
}
LINE = {"horizontal": True, "vertical_alignment": "bottom", "gap": "medium"}
values, trace = begin("attention_today")
single = lesson.alone(values, trace)
head, n_heads = values.head, values.n_heads
about = (*values.of(*lesson.MAKES_HEADS), head)
"""What the pictures of one switch alone depend on, beside that switch."""


def set_as_in() -> None:
    """From the buttons: set the switches as a model has them, but for those a link has fixed."""
    if st.session_state["as_in"] in lesson.MODELS:
        kept = {*held.names_in("hide"), *held.names_in("lock")}
        chosen = lesson.switches_of(st.session_state["as_in"], held.values())
        held.change(**{name: value for name, value in chosen.items() if name not in kept})


with card("today", "One head, then and now", words.on_words(values)) as beside:
    with beside:
        st.session_state["as_in"] = lesson.model_that_is_on(values)
        label = "Set them as in (scaled down)"
        st.segmented_control(
            label,
            [*lesson.MODELS],
            format_func=lesson.MODELS.__getitem__,
            key="as_in",
            on_change=set_as_in,
            width=about_as_wide(label, lesson.MODELS.values()),
        )
    with st.container(key="switches", **LINE):
        control(HEAD, widget="selectbox", width=110)
        control(lesson.KV_HEADS)
        control(lesson.PLACES)
        control(lesson.WINDOW, label="Window", width=110)
        if values.window:
            control(lesson.SINKS, label="Sinks", width=100)
        control(lesson.SOFT_CAP, label="Soft cap", width=110)
    then, now = (lesson.weights(trace, head, prefix) for prefix in (lesson.PLAIN, PREFIX))
    picture("today", equation(trace, then, lesson.BESIDE, now, tall=240))
    note(words.wider_words(values))
    note(words.wide_cap_words(values, trace))

with card(
    "sharing",
    "Heads share keys and values",
    "From here on, each switch is on alone. A model that writes text keeps every key and value. "
    "Where several query heads use the same ones, there is less to keep: **grouped-query "
    "attention**, or with one for all **multi-query attention**.",
) as beside:
    with beside:
        control(N_HEADS, width=110)
        control(D_HEAD, width=110, label="d_head")
    if n_heads == 1:
        note("There is only one head here, so nothing can be shared. Choose more above.")
    else:
        fewer = lesson.shown_kv_heads(values)
        keys = Matrix(single[f"{lesson.GROUPED}keys"], lead=(head // (n_heads // fewer),))
        parts = lesson.then_and_now(single, head, lesson.GROUPED, keys)
        picture("sharing", equation(single, *parts, tall=235))
        note(facts.same_words(single, fewer))
    way_to_a_real_model("Shared keys and values in a real model", "previous")


spun = lesson.rotary(values)


@alone(
    "rotary",
    "Rotary positions",
    "A dot product does not know where words stand. So each query and key is turned (↻), two "
    "columns at a time, by its place times **θ = base^(−2k/d)** radians: pair 0 fast, later ones "
    f"ever more slowly. The base is {ROTARY_BASE:,.0f} (Llama 3: 500,000). Of their places, only "
    "how far apart two tokens stand is left in a score.",
)
def rotary_positions(values: Values, beside: Place) -> None:
    with beside:
        control(lesson.MOVED_BY, width=150)
    shifted = lesson.rotary(values, values.moved_by)
    turned = shifted[f"{lesson.ROTARY}turned_queries"]
    parts = (
        *(lesson.weights(shifted, head, lesson.PLAIN), lesson.BESIDE),
        *(Matrix(turned.inputs[1], title="angles"), "↻"),
        *(Matrix(turned, lead=(head,), title="turned queries"), lesson.NEXT),
        lesson.weights(shifted, head, lesson.ROTARY),
    )
    picture("rotary", equation(shifted, *parts, tall=235))
    good, told = checks.moved_light(spun, values.moved_by)
    light(good, f"{told} {words.own_heads_words(values, spun)}".strip())


with card(
    "alibi",
    "A bias for distance: ALiBi",
    "Simpler still: for each step between query and key, take a fixed amount off the score, after "
    "÷ √d. It is the **slope**, and each head has its own. Nothing is learned, and texts may be "
    "longer than in training.",
) as beside:
    with beside:
        moves("alibi", lesson.SLOPE)

    def sloped(slope: float) -> tuple:
        """The weights of one head, and those with a bias of this slope."""
        made = lesson.add_slope(lesson.plain(values), slope)
        bias = lesson.slope_bias(made, head)
        return lesson.then_and_now(made, head, lesson.SLOPED, bias)

    moving = Moving(lesson.SLOPE, sloped, about, elsewhere=True)
    parts = lesson.then_and_now(single, head, lesson.SLOPED, lesson.slope_bias(single, head))
    picture("alibi", equation(single, *parts, tall=235), moving)
    note(facts.far_words(single, head))

with card(
    "window",
    "A window, and sinks",
    "With a **sliding window** a query sees only the last few keys, so a new token costs the same "
    "however long the text is. But softmax must put its weight somewhere: where nothing fits, "
    "trained models leave it on the first tokens. So these stay visible, as **attention sinks**.",
) as beside:
    with beside:
        moves("window", lesson.NEAR)

    def seen(made: Trace) -> tuple:
        """The weights of one head: all, those in a window, and with sinks too."""
        each = (lesson.PLAIN, lesson.WINDOWED, lesson.SUNK)
        plain, near, sunk = (lesson.weights(made, head, prefix) for prefix in each)
        return plain, lesson.BESIDE, near, lesson.BESIDE, sunk

    def near(window: int) -> Layout:
        """The picture with another window, and its outlines."""
        made = lesson.add(lesson.plain(values), lesson.WINDOWED, window=int(window))
        sinks = lesson.shown_sinks(values)
        made = lesson.add(made, lesson.SUNK, window=int(window), sinks=sinks)
        return equation(made, *seen(made), tall=235)

    moving = Moving(lesson.NEAR, near, (*about, values.sinks), elsewhere=True)
    picture("window", equation(single, *seen(single), tall=235), moving)
    note(facts.kept_words(values))


@alone(
    "decoding",
    "Written token by token",
    "A new token brings one query, one key and one value. Earlier keys and values come from the "
    "**cache**: no token looks ahead, so they never change. A query is asked once and never again, "
    "so there is no cache of queries. Here, all that is on at the top is on.",
)
def token_by_token(values: Values, beside: Place) -> None:
    with beside:
        control(lesson.DECODED, width=190)
    step = lesson.decoded(values, trace)
    picture("decoding", equation(step, *decoding.with_cache(step, head), tall=170))
    note(decoding.products_words(values, values.decoded))


covered: set[str] = set()


@alone(
    "costs",
    "What it costs in a real model",
    lambda values: costs.outgrown_words(costs.model_of(values)),
)
def real_costs(values: Values, beside: Place) -> None:
    with beside:
        control(lesson.COST_MODEL, widget="selectbox", width=180)
        control(M_BYTES, widget="selectbox", width=150)
    if values.cost_model == "own":
        with st.container(key="own_sizes", **LINE):
            for size in lesson.OWN_SIZES:
                control(size, width=190)
    if question("cache", costs.cache_question(), trace, ("head_keys", "head_values")):
        covered.add("cache")
    else:
        model, n_bytes = costs.model_of(values), int(values.m_bytes)
        chart("costs", costs.bars(model, n_bytes), width=720)
        st.caption(f"{costs.parameter_words(model)} {costs.cache_words(model, n_bytes)}")
        st.caption(costs.training_words(model, n_bytes))
        way_to("flash_attention", "Weights computed again, tile by tile")


with deeper("scores kept in bounds, shapes and costs of each switch, pairs of columns", "cap",
            "whole") as is_open:  # fmt: skip
    if is_open:
        single = lesson.with_the_rest(values, single)
        with card(
            "cap",
            "Scores kept in bounds",
            "One huge score takes all the weight, and then hardly anything is learned. A **soft "
            "cap** presses large scores towards a bound, by cap · tanh(score / cap), and leaves "
            "small ones nearly alone. Gemma 2 caps at ±50: its scores grow far larger than yours.",
        ) as beside:
            with beside:
                moves("cap", lesson.BOUND, width=260)

            def capped(bound: float) -> tuple:
                """The weights of one head, and those with capped scores."""
                made = lesson.plain(values)
                cap = lesson.shown_cap(values.but(bound=bound), made)
                lesson.add(made, lesson.CAPPED, soft_cap=cap)
                scores = Matrix(made[f"{lesson.CAPPED}capped_scores"], lead=(head,))
                return lesson.then_and_now(made, head, lesson.CAPPED, scores)

            moving = Moving(lesson.BOUND, capped, about, elsewhere=True)
            scores = Matrix(single[f"{lesson.CAPPED}capped_scores"], lead=(head,))
            parts = lesson.then_and_now(single, head, lesson.CAPPED, scores)
            picture("cap", equation(single, *parts, tall=280), moving)
            light(*checks.cap_light(single, lesson.shown_cap(values, single)))
        with card(
            "shapes",
            "Shapes and costs",
            "Tensors that are not named keep their shape.",
        ):
            tokens = facts.kept_of(values)
            st.markdown(facts.table(single, NAMES, values.d_model, tokens))
            if n_heads > 1:
                note(facts.sharing_words(lesson.shown_kv_heads(values), n_heads, values.kv_heads))
        with card(
            "whole",
            "The new token’s row, without a cache",
            "Compute all queries at once, and this token’s row is the same.",
        ):
            row = decoding.in_the_whole(trace, head, values.decoded)
            picture("whole", equation(trace, *row, tall=170))
        for good, told in (
            *([checks.sharing_light(single, lesson.shown_kv_heads(values))] if n_heads > 1 else []),
            decoding.same_row(lesson.decoded(values, trace), trace, values.decoded),
            sums_verdict(trace, f"{PREFIX}context_vectors"),
            checks.distance_light(single, head),
            checks.window_light(single, values.near),
            checks.sinks_light(single, lesson.shown_sinks(values)),
        ):
            light(good, told)
        st.markdown(
            "**Pairs of columns.** Column k is turned with column k + d/2, as by `rotate_half` in "
            "Hugging Face’s Llama; values are not turned, and a cache keeps turned keys. The first "
            "paper and Meta’s own Llama pair neighbours, 2k and 2k + 1: where Hugging Face takes "
            "over its weights, it puts the columns of `W_query` and `W_key` in another order, and "
            "every score stays."
        )

answers(
    lambda values: [
        words.what_sharing_saves(values, single),
        words.why_distance(values, spun),
        words.why_cache(values),
    ],
    frozenset(covered),
)
ends(trace, f"{PREFIX}context_vectors")
