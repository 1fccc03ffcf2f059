"""What has changed in attention since 2017: shared heads, places, windows, caps, and the cache."""

import streamlit as st

from attention_core.mechanism.today import PREFIX, ROTARY_BASE
from attention_ui.cards import elements as ui
from attention_ui.cards.page import Page, is_covered
from attention_ui.controls.shared import D_HEAD, HEAD, M_BYTES, N_HEADS
from attention_ui.lessons.attention_today import (
    checks,
    costs,
    decoding,
    facts,
    lesson,
    models,
    words,
)
from attention_ui.picture.matrix import Matrix
from attention_ui.reactive import settings
from attention_ui.reactive.fragments import event
from attention_ui.reactive.widget import put_in, sent

page = Page("attention_today", f"{PREFIX}context_vectors")


def set_as_in():
    """From the buttons: set the switches as a model has them, but for those a link has fixed."""
    if sent("as_in") not in lesson.MODELS:
        return
    before = settings.values()
    chosen = lesson.switches_of(sent("as_in"), before) | {"compared": sent("as_in")}
    with event():
        settings.change(
            **{name: value for name, value in chosen.items() if name not in settings.fixed()}
        )


def as_in():
    """A list of models that people know; the one whose switches these are is chosen."""
    put_in("as_in", lesson.model_that_is_on(settings.values()))
    st.selectbox(
        "Set them as in (scaled down)",
        [*lesson.MODELS],
        format_func=lesson.MODELS.__getitem__,
        key="as_in",
        index=None,
        placeholder="a model",
        on_change=set_as_in,
        width=240,
    )


@page.card(
    "today",
    "One head, then and now",
    words.on_words,
    controls=[ui.alive(as_in, "sets them all as in a model that people know")],
)
def today(v, trace):
    yield ui.row(
        HEAD.at(width=110),
        lesson.KV_HEADS.at(),
        lesson.POSITION_ENCODING.at(),
        lesson.WINDOW.at(label="Window", width=110),
        *([lesson.SINKS.at(label="Sinks", width=100)] if v.window else []),
        lesson.SOFT_CAP.at(label="Soft cap", width=110),
        key="switches",
    )
    yield ui.row(  # of its own, so that nothing moves into it while widgets come
        lesson.SINK_LOGIT.at(width=110),
        lesson.QK_NORM.at(width=110),
        lesson.GATED.at(width=80),
        *([lesson.ROTARY_SHARE.at()] if v.position_encoding == "rotary" else []),
        key="newer_switches",
    )
    then, now = (lesson.weights(trace, v.head, prefix) for prefix in (lesson.PLAIN, PREFIX))
    yield ui.matrices(trace, then, lesson.BESIDE, now, tall=215)
    yield ui.note(words.wider_words(v))
    yield ui.note(words.wide_cap_words(v, trace))


@page.card(
    "models",
    "Two models, switch by switch",
    models.compared_words,
    controls=[lesson.COMPARED.at(width=190), lesson.COMPARED_WITH.at(width=190)],
)
def two_models(v):
    found, pair = lesson.differences(v), (v.compared, v.compared_with)
    entries = []
    for control, one, other in found:
        texts = [
            models.choice_words(control, *each, v) for each in zip((one, other), pair, strict=True)
        ]
        now = v[control.name] == other
        label = f"{control.label.split(':')[0]}: {texts[0]} → {texts[1]}{' ✓' if now else ''}"
        target = {control.name: one if now else other}
        entries.append(ui.set_to(label, f"to_{control.name}", **target))
    if entries:
        yield ui.row(*entries, key="differences", is_main=True)
    else:
        yield ui.note("All switches are the same in both.")
    both_read = min(lesson.KINDS[name][0].context for name in pair)
    n_tokens = None if is_covered("cache") else both_read  # that would tell it
    for name in dict.fromkeys(pair):
        yield ui.caption(models.facts_words(name, n_tokens))


@page.card(
    "sharing",
    "Heads share keys and values",
    "From here on, each card has only its own switch on. Where several query heads use the same "
    "keys and values, a model that writes keeps fewer: **grouped-query attention**, or with one "
    "for all **multi-query attention**.",
    controls=[N_HEADS.at(width=110), D_HEAD.at(width=110, label="d_head")],
)
def sharing(v):
    if v.n_heads == 1:
        yield ui.note("There is only one head here, so nothing can be shared. Choose more above.")
    else:
        made, fewer = lesson.alone(v, lesson.GROUPED), lesson.shown_kv_heads(v)
        group = v.head // (v.n_heads // fewer)
        keys = Matrix(made[f"{lesson.GROUPED}keys"], lead=(group,))
        each = lesson.then_and_now(made, v.head, lesson.GROUPED, keys)
        yield ui.matrices(made, *each, tall=205)
        yield ui.note(facts.same_words(made))
    yield ui.link_to_a_real_model("Shared keys and values in a real model", "previous")


@page.card(
    "rotary",
    "Rotary positions",
    "A dot product does not know where words stand. So each query and key is turned (↻), two "
    "columns at a time: pair k by its place times **θ = base^(−2k/d)** radians, pair 0 fast, later "
    f"ones ever more slowly. The base is {ROTARY_BASE:,.0f} (Llama 3: 500,000). In a score, all "
    "that is left of two places is how far apart they are.",
    controls=[lesson.MOVED_BY.at(width=150)],
)
def rotary(v):
    spun, shifted = lesson.rotary(v), lesson.rotary(v, v.moved_by)
    turned = shifted[f"{lesson.ROTARY}turned_queries"]
    each = (
        *(lesson.weights(shifted, v.head, lesson.PLAIN), lesson.BESIDE),
        *(Matrix(turned.inputs[1], title="angles"), "↻"),
        *(Matrix(turned, lead=(v.head,), title="turned queries"), lesson.NEXT),
        lesson.weights(shifted, v.head, lesson.ROTARY),
    )
    yield ui.matrices(shifted, *each, tall=205)
    good, told = checks.moved_light(spun, v.moved_by)
    yield ui.light(good, f"{told} {words.own_heads_words(v, spun)}".strip())


@page.card(
    "window",
    "A window, and sinks",
    "With a **sliding window** a query sees only the last few keys, so a new token costs the same "
    "however long the text is. But softmax must put its weight somewhere: where nothing fits, "
    "trained models leave it on the first tokens. So these stay visible, as **attention sinks**.",
    controls=[ui.in_picture(lesson.NEAR)],
)
def window(v):
    def near(window):
        """The weights of one head: all, those in a window, and with sinks too."""
        made = lesson.alone(v.but(near=int(window)), lesson.WINDOWED, lesson.SUNK)
        prefixes = lesson.PLAIN, lesson.WINDOWED, lesson.SUNK
        first, *others = (lesson.weights(made, v.head, prefix) for prefix in prefixes)
        return made, (first, *[part for other in others for part in (lesson.BESIDE, other)])

    yield ui.moving(lesson.NEAR, near, tall=205)
    yield ui.note(facts.kept_words(v))


@page.card(
    "decoding",
    "Written token by token",
    "A new token brings one query, one key and one value. Earlier keys and values come from the "
    "**cache**: no token looks ahead, so they never change. A query is asked once and never again, "
    "so there is no cache of queries. Here, every switch counts as it is set at the top.",
    controls=[lesson.DECODED.at(width=190)],
)
def token_by_token(v, trace):
    step = lesson.decoded(v, trace)
    yield ui.matrices(step, *decoding.with_cache(step, v.head), tall=170)
    yield ui.light(*decoding.same_row(step, trace, v.decoded))
    yield ui.note(decoding.products_words(v, v.decoded))


@page.card(
    "costs",
    "What it costs in a real model",
    lambda v: costs.outgrown_words(costs.model_of(v)),
    controls=[
        lesson.COST_MODEL.at(widget="selectbox", width=180),
        M_BYTES.at(widget="selectbox", width=150),
    ],
    ask=page.ask("cache", costs.cache_question, ["head_keys", "head_values"], ["cache"]),
)
def real_costs(v):
    if v.cost_model == "own":
        yield ui.row(*(size.at(width=190) for size in lesson.OWN_SIZES), key="own_sizes")
    if not is_covered("cache"):
        model, n_bytes = costs.model_of(v), int(v.m_bytes)
        yield ui.chart("costs", costs.bars(model, n_bytes), width=720)
        yield ui.caption(f"{costs.parameter_words(model)} {costs.cache_words(model, n_bytes)}")


deeper = page.deeper("norms, a part turned, a sink’s logit, gates, ALiBi, caps")


@deeper.card(
    "norms",
    "Queries and keys of one length: QK-norm",
    "In training, queries and keys can grow until softmax gives all to one key. **QK-norm** "
    "divides each head’s query and key by the root of its mean square, so all are of one length. "
    "It is no layer norm of the stream, whose vectors keep their lengths.",
)
def norms(v):
    made, each = lesson.beside(v, lesson.NORMED, "normed_queries")
    yield ui.matrices(made, *each, tall=205)
    yield ui.light(*checks.norm_light(made))


@deeper.card(
    "part",
    "Positions on a part of the columns, or none",
    "**Partial rotary** turns the first columns of a head and leaves the rest to what words mean. "
    "Some layers turn none: every 4th layer of SmolLM3 is **without positions** (NoPE), and only "
    "its mask tells before from after.",
)
def part(v):
    made = lesson.partly(v)
    each = lesson.then_and_now(made, v.head, lesson.PARTLY, "turned_queries")
    yield ui.matrices(made, *each, tall=205)


@deeper.card(
    "learned_sink",
    "A sink that no key stands for",
    "gpt-oss gives each head one more score, its **sink’s logit**, a number that is learned. "
    "Softmax counts it, then its column is dropped, so a head can give little to every key. With "
    "a logit of 0, softmax divides by 1 more: the softmax “off by one”.",
    controls=[ui.in_picture(lesson.OWN_SINK)],
)
def learned_sink(v):
    def beside(logit):
        return lesson.beside(v.but(own_sink=logit), lesson.BESIDE_SINK, "weights_and_sink")

    yield ui.moving(lesson.OWN_SINK, beside, tall=205)
    yield ui.light(*checks.sink_light(lesson.alone(v, lesson.BESIDE_SINK)))


@deeper.card(
    "gates",
    "A gate on what attention gives",
    "In Qwen3-Next and Qwen3.5 each token makes a **gate** for every number of its context vector: "
    "a share from 0 to 1, not drawn at random as in dropout. Where nothing fits, it can close. "
    "Three of four layers there have a memory in place of attention; every 4th has attention with "
    "this gate.",
)
def gates(v):
    made = lesson.alone(v, lesson.OPENED)
    context, opened, gated = (
        Matrix(made[f"{lesson.OPENED}{name}"], lead=(v.head,))
        for name in ("context_vectors", "gates", "gated_vectors")
    )
    yield ui.matrices(made, context, "⊙", opened, "=", gated, tall=205)
    yield ui.light(*checks.gate_light(made))
    yield ui.link_to("without_softmax", "A memory in the place of attention")


@deeper.card(
    "alibi",
    "A bias for distance: ALiBi",
    "Simpler than turning: for each step between query and key, take a fixed amount off the score, "
    "after ÷ √d: the **slope**, of which each head has its own. Nothing is learned, and texts may "
    "be longer than in training.",
    controls=[ui.in_picture(lesson.SLOPE)],
)
def alibi(v):
    def sloped(slope):
        return lesson.beside(v.but(slope=slope), lesson.SLOPED, "bias")

    yield ui.moving(lesson.SLOPE, sloped, tall=205)
    yield ui.note(facts.far_words(lesson.alone(v, lesson.SLOPED), v.head))


@deeper.card(
    "cap",
    "Scores kept in bounds",
    "One huge score takes all the weight, and then hardly anything is learned. A **soft "
    "cap** presses large scores towards a bound, by cap · tanh(score / cap), and leaves "
    "small ones nearly alone. Gemma 2 caps at ±50: its scores grow far larger than yours.",
    controls=[ui.in_picture(lesson.BOUND, width=260)],
)
def cap(v):
    def capped(bound):
        return lesson.beside(v.but(bound=bound), lesson.CAPPED, "capped_scores")

    yield ui.moving(lesson.BOUND, capped, tall=280)
    made = lesson.alone(v, lesson.CAPPED)
    yield ui.light(*checks.cap_light(made, lesson.shown_cap(v, made)))


@deeper.section("sources", "Where the facts about models come from")
def sources(v):
    yield ui.caption(models.source_words(v))


@deeper.section(
    "pairs",
    "Pairs of columns",
    "Column k is turned with column k + d/2, as by `rotate_half` in Hugging Face’s Llama; values "
    "are not turned, and a cache keeps turned keys. The first paper and Meta’s own Llama pair "
    "neighbours, 2k and 2k + 1: where Hugging Face takes over its weights, it puts the columns of "
    "`W_query` and `W_key` in another order, and every score stays.",
)
def pairs():
    return ()


page.answers(
    lambda v: words.what_sharing_saves(v, lesson.alone(v, lesson.GROUPED)),
    lambda v: words.why_distance(v, lesson.rotary(v)),
    words.why_cache,
    words.what_norms_and_gates_do,
)
page.show()
