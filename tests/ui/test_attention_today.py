"""The lesson on the attention of today: its switches, its lights, what it counts, and its words."""

import pytest
import torch

from attention_core.examples import EXAMPLES
from attention_ui.charts.amounts import amounts
from attention_ui.charts.equation_parts import laid_out
from attention_ui.charts.fit import sizes_for
from attention_ui.charts.matrix import Matrix
from attention_ui.charts.pointing import parameters as parameters_of
from attention_ui.lessons.attention_today import checks
from attention_ui.lessons.attention_today.computing import (
    alone,
    build,
    shown_cap,
    shown_kv_heads,
    shown_sinks,
    shown_window,
    today_of,
)
from attention_ui.lessons.attention_today.costs import (
    cache_question,
    cache_rows,
    cache_words,
    in_bytes,
    in_millions,
    model_of,
)
from attention_ui.lessons.attention_today.decoding import (
    decoded,
    page_size,
    products_words,
    same_row,
)
from attention_ui.lessons.attention_today.facts import (
    kept,
    kept_of,
    kept_words,
    parameters,
    shapes_words,
    table,
)
from attention_ui.lessons.attention_today.switches import on_words, switches_of
from attention_ui.settings.fit import changed
from attention_ui.settings.link import from_query, to_query
from attention_ui.settings.settings import Settings
from visiting import rendered, visit

PAGE = "pages/attention_today.py"


def settings_of(name, **changes):
    return changed(Settings.of(EXAMPLES[name]), **changes)


def lights_of(settings):
    trace = alone(settings, build(settings))
    return {
        "sharing": checks.sharing_light(trace, shown_kv_heads(settings)),
        "moved": checks.moved_light(trace, 1_000),
        "distance": checks.distance_light(trace, 0),
        "window": checks.window_light(trace, shown_window(settings)),
        "sinks": checks.sinks_light(trace, shown_sinks(settings)),
        "cap": checks.cap_light(trace, shown_cap(settings, trace)),
    }


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_switch_keeps_its_promise_on_every_example(name):
    on = {"window": 3, "sinks": 2, "soft_cap": 1.0, "places": "alibi"}
    for settings in (settings_of(name), settings_of(name, **on)):
        assert {what for what, (good, _) in lights_of(settings).items() if not good} == set()
        trace = build(settings)
        for place in range(trace.size("token")):
            now = changed(settings, decoded=place)
            assert same_row(decoded(now, trace), trace, place)[0]


def test_a_broken_switch_is_seen():
    settings = settings_of("sorry_dave", window=3, sinks=1)
    trace = alone(settings, build(settings))
    assert not checks.window_light(trace, 2)[0]
    assert not checks.sinks_light(trace, 2)[0]
    assert not checks.cap_light(trace, 0.01)[0]
    assert not checks.sharing_light(trace, 4)[0]
    for name in ("rotary_scores", "alibi_biased_scores"):
        trace[name]._kept = trace[name].value + torch.linspace(0, 1, 8)
    assert not checks.moved_light(trace, 10)[0]
    assert not checks.distance_light(trace, 0)[0]


def test_what_is_off_is_that_of_the_lesson_on_heads():
    plain = settings_of("sorry_dave", kv_heads=4, places="none")
    trace = build(plain)
    assert trace["today_weights"].value.equal(trace["head_weights"].value)
    same = [trace[f"{of}_context_vectors"].value for of in ("today", "head")]
    assert same[0].equal(same[1])
    today = today_of(changed(plain, sinks=3))
    assert (today.sinks, today.window) == (0, None), "sinks belong to a window"


@pytest.mark.parametrize(
    ("n_heads", "asked", "has"), [(4, 3, 2), (8, 7, 4), (6, 5, 3), (1, 1, 1), (3, 2, 1)]
)
def test_key_heads_that_cannot_be_shared_go_to_the_next_that_can(n_heads, asked, has):
    settings = settings_of("tiny_language", n_heads=n_heads, kv_heads=asked)
    assert settings.kv_heads == has
    link = {"example": "tiny_language", "n_heads": str(n_heads)}
    assert from_query(link)[1] == []
    back, notices = from_query(to_query(settings))
    assert (back, notices) == (settings, [])
    said = from_query(link | {"kv_heads": str(asked)})[1]
    words = f"The link's kv_heads is {asked}, but here it can be "
    assert [each.startswith(words) and each.endswith(f". {has} is used.") for each in said] == [
        True
    ] * (asked != has)


def test_known_models_set_the_switches_as_they_have_them():
    now = settings_of("tiny_language")
    assert switches_of("gpt2", now)["kv_heads"] == 4
    assert switches_of("gpt2", now)["places"] == "none"
    llama, mistral = (switches_of(name, now) for name in ("llama3", "mistral"))
    assert (llama["kv_heads"], llama["places"], llama["window"]) == (1, "rotary", 0)
    assert mistral == llama | {"window": 5}
    assert switches_of("llama3", settings_of("tiny_language", n_heads=8))["kv_heads"] == 2


def test_shapes_and_costs_are_those_of_the_tensors():
    settings = settings_of("life_is_short")
    trace, size = alone(settings, build(settings)), page_size(settings)
    assert "kv_head 1 × key 8 × d_head 24" in shapes_words(trace, "grouped_")
    assert shapes_words(trace, "rotary_") == "none changes"
    assert parameters(trace, "grouped_", settings.d_model) == size.parameters
    assert kept(trace, "grouped_") == size.cached(1)
    assert parameters(trace, "head_", settings.d_model) == size.with_kv_heads(3).parameters
    assert kept(trace, "alibi_") == size.with_kv_heads(3).cached(1)


def test_the_cache_of_a_model_in_plain_words():
    llama = settings_of("wild_cat")
    rows = cache_rows(model_of(llama), 2)
    assert [in_bytes(row.size) for row in rows] == ["4 GiB", "1 GiB", "128 MiB"]
    assert [row.is_own for row in rows] == [False, True, False]
    mistral = model_of(changed(llama, cost_model="mistral"))
    assert "× 4,096 tokens × 2 bytes = 512 MiB instead of 4 GiB" in cache_words(mistral, 2)
    assert cache_rows(mistral, 2)[-1].is_own
    gpt2 = model_of(changed(llama, cost_model="gpt2"))
    assert [in_bytes(row.size) for row in cache_rows(gpt2, 4)] == ["72 MiB", "6 MiB"]
    own = changed(llama, cost_model="own", m_heads=12, m_kv_heads=8, m_context=512)
    assert own.m_kv_heads == 6
    for kv_heads in (1, 4, 12):
        for window in (0, 256, 512, 1_024):
            model = model_of(changed(own, m_kv_heads=kv_heads, m_window=window))
            assert sum(row.is_own for row in cache_rows(model, 1)) == 1
    assert (in_millions(999), in_millions(28_348_416)) == ("999", "28.3 million")
    assert in_bytes(3 * 2**40) == "3 TiB"
    question = cache_question()
    judged = [question.judged([at]).right for at in range(len(question.choices))]
    assert judged.count(True) == 1
    assert question.choices[judged.index(True)] == "1 GiB"


def test_bars_say_their_amounts():
    chart = amounts(["a", "b"], [4.0, 1.0], ["4 GiB", "1 GiB"], 1, "Memory")
    assert chart.frame["share"].tolist() == [1.0, 0.25]
    assert chart.frame["chosen"].tolist() == [False, True]
    assert chart.alt == "Memory. a: 4 GiB; b: 1 GiB."


def test_a_cell_of_one_is_pointed_at_in_both():
    trace = build(settings_of("wild_cat"))
    steps = [trace[f"{of}_weights"] for of in ("head", "today")]
    for compared in (False, True):
        matrices = [Matrix(step, lead=(0,), compared=compared) for step in steps]
        made = {each["name"]: each["expr"] for each in parameters_of(matrices, [[], []])}
        assert ("hover.matrix[0] === 1" in made["same_0"]) == compared
        assert "hover.matrix[0] === 0" in made["same_0"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_then_and_now_stand_side_by_side(name):
    trace = build(settings_of(name))
    parts = laid_out([Matrix(trace[f"{of}_weights"], lead=(0,)) for of in ("head", "today")])
    sizes = sizes_for(trace, [[("", each) for each in parts]], side_by_side=True)
    assert len(set(sizes)) == 1
    assert sizes[0].font, "their numbers can be read"


@pytest.mark.slow("1 s: whole pages")
def test_the_page_follows_its_switches():
    at = visit(PAGE, example="wild_cat", n_heads="4", d_model="8", decoded="2", predict="off")
    words = rendered(at)
    assert "Here 4 query heads have 1 key/value head." in words
    assert "The whole text shifted by 10 places" in words
    assert "| Shared heads |" in words
    assert "1.34 billion parameters" in words
    at.button(key="as_in_mistral").click().run()
    now = at.session_state["settings"]
    assert (now.kv_heads, now.places, now.window, now.sinks) == (1, "rotary", 5, 0)
    assert "A row sees at most 5 keys" in rendered(at)
    at.select_slider(key="control_moved_by").set_value(1_000).run()
    assert "The whole text shifted by 1,000 places" in rendered(at)
    assert not at.exception


def test_odd_heads_and_a_single_one_are_told_in_words():
    at = visit(PAGE, example="wild_cat", n_heads="1", d_model="3")
    words = rendered(at)
    assert "There is only one head here, so nothing can be shared." in words
    assert "A head is 3 wide here, so a column would be left over." in words
    assert "Rotary positions are left out here" in words
    assert not at.exception


def test_what_is_on_is_said_and_what_a_card_has_where_nothing_is_set():
    plain = settings_of("sorry_dave", kv_heads=4, places="none")
    assert "Nothing is on now" in on_words(plain, odd=False)
    today = changed(plain, kv_heads=2, places="rotary", window=3, sinks=1, soft_cap=2.0)
    on = "2 key/value heads, rotary positions, a window of 3, 1 sink, a soft cap of ±2"
    assert f"**{on}**" in on_words(today, odd=False)
    assert "rotary" not in on_words(today, odd=True)
    both_off = "Here with a window of 3 and 1 sink, which are off at the top."
    assert kept_words(plain).startswith(both_off)
    assert kept_words(changed(plain, window=2)).startswith("Here with 1 sink, which is off at")
    assert kept_words(today) == "Of 8 tokens a cache holds 3, 4 with sinks."
    trace = alone(today, build(today))
    told = table(trace, {"windowed_": "A window"}, today.d_model, kept_of(today))
    assert told.endswith("| 8 → 3 |")
    assert "<" not in table(trace, {"grouped_": "Shared heads"}, today.d_model, {})


@pytest.mark.parametrize(("window", "sinks"), [(3, 0), (3, 2), (5, 1)])
def test_of_a_window_is_said_how_many_numbers_would_be_enough(window, sinks):
    settings = settings_of("wild_cat", window=window, sinks=sinks, places="none")
    trace = decoded(settings, build(settings))
    n_seen = (trace["decoded_weights"].value[0, 0] > 0).sum().item()
    past = trace["decoded_keys"].value.shape[1] - 1
    kept = page_size(settings).cached(past) // past * n_seen
    assert f"Left out, {kept:,} numbers would be enough." in products_words(settings, past)
    assert "Left out" not in products_words(changed(settings, window=0), past)
