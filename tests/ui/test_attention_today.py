"""The lesson on the attention of today: its switches, its lights, what it counts, and its words."""

import pytest
import torch

import chosen
from attention_core.examples import EXAMPLES
from attention_ui.charts.amounts import amounts
from attention_ui.frame.lights import lights_of as shown_lights
from attention_ui.lessons.attention_today import checks, costs, lesson
from attention_ui.lessons.attention_today.decoding import page_size, same_row
from attention_ui.lessons.attention_today.facts import kept, parameters
from attention_ui.lessons.attention_today.words import wider_words
from attention_ui.reactive.control import fitted
from attention_ui.words import in_bytes
from sampling import marked
from visiting import rendered, visit

PAGE, OUTPUT = "pages/attention_today.py", "today_context_vectors"


def values_of(name, **link):
    return chosen.of(lesson.CONTROLS, example=name, **link)


def lights_of(settings):
    trace = lesson.alone(settings)
    return {
        "moved": checks.moved_light(lesson.rotary(settings), 1_000),
        "cap": checks.cap_light(trace, lesson.shown_cap(settings, trace)),
        "norm": checks.norm_light(trace),
        "sink": checks.sink_light(trace),
        "gate": checks.gate_light(trace),
    }


@pytest.mark.parametrize(
    "name", marked(EXAMPLES, ("wild_cat", "named_features"), pytest.mark.slow("1 s: the others"))
)
def test_every_switch_keeps_its_promise_on_every_example(name):
    on = {"window": "3", "sinks": "2", "soft_cap": "1", "position_encoding": "alibi"}
    models = [values_of(name).but(**lesson.switches_of(m, values_of(name))) for m in lesson.MODELS]
    for settings in (values_of(name), values_of(name, **on), *models):
        assert {what for what, (good, _) in lights_of(settings).items() if not good} == set()
        trace = lesson.trace_of(settings)
        for place in range(trace.size("token")):
            assert same_row(lesson.decoded(settings.but(decoded=place), trace), trace, place)[0]


def test_what_is_off_is_that_of_the_lesson_on_heads():
    plain = values_of("sorry_dave", kv_heads="4", position_encoding="none")
    assert not any(name.startswith("today_W") for name in lesson.trace_of(plain))
    trace = lesson.trace_of(plain)
    assert trace["today_weights"].value.equal(trace["head_weights"].value)
    same = [trace[f"{of}_context_vectors"].value for of in ("today", "head")]
    assert same[0].equal(same[1])
    today = lesson.today_of(plain.but(sinks=3))
    assert (today.sinks, today.window) == (0, None), "sinks belong to a window"


@pytest.mark.parametrize(
    ("n_heads", "asked", "has"), [(4, 3, 2), (8, 7, 4), (6, 5, 3), (1, 1, 1), (3, 2, 1)]
)
def test_key_heads_that_cannot_be_shared_go_to_the_next_that_can(n_heads, asked, has):
    link = {"example": "tiny_language", "n_heads": str(n_heads), "kv_heads": str(asked)}
    assert chosen.of(lesson.CONTROLS, **link).kv_heads == has
    said = f"kv_heads went from {asked} to {has}, which {n_heads} query heads can share."
    along = fitted(link, lesson.CONTROLS)
    assert along == ({"kv_heads": (str(asked), said)} if asked != has else {})


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_known_model_changes_something_on_arrival_and_looks_chosen_once_it_is(name):
    arrival = values_of(name)
    assert lesson.model_that_is_on(arrival) is None
    for model in lesson.MODELS:
        chosen = arrival.but(compared=model, **lesson.switches_of(model, arrival))
        assert lesson.model_that_is_on(chosen) == model


@pytest.mark.parametrize(
    "pair",
    [
        ("llama3", "qwen3_5_fourth"),
        ("gemma3_local", "gpt_oss_global"),
        ("smollm3_fourth", "deepseek_v32"),
        ("llama3", "smollm3_most"),
    ],
)
def test_each_difference_of_two_models_turns_one_switch_and_all_of_them_make_the_other(pair):
    now = values_of("tiny_language", compared=pair[0], compared_with=pair[1])
    now = now.but(**lesson.switches_of(pair[0], now))
    found = lesson.differences(now)
    assert bool(found) == (pair != ("llama3", "smollm3_most")), "these two have the same switches"
    for control, one, other in found:
        assert now[control.name] == one != other
        before, now = now, now.but(**{control.name: other})
        assert before.changed(now) == {control.name}
    assert {n: now[n] for n in lesson.switches_of(pair[1], now)} == lesson.switches_of(pair[1], now)


def test_a_wrong_norm_a_sink_that_is_not_dropped_and_a_gate_by_chance_put_lights_out():
    trace = lesson.alone(values_of("wild_cat"))

    def with_other(name, value):
        step = trace[name]
        return {**trace, name: type(step)(name, value, step.axes, step.operation, step.inputs, "")}

    queries = trace["head_queries"].value
    over_heads = queries / queries.square().mean((0, 2), keepdim=True).sqrt()
    over_tokens = queries / queries.square().mean(1, keepdim=True).sqrt()
    for wrong in (over_heads, over_tokens):
        assert checks.norm_light(trace)[0]
        assert not checks.norm_light(with_other("qk_normed_queries", wrong))[0]
    whole = trace["sink_weights_and_sink"].value
    renormalised = whole[..., :-1] / whole[..., :-1].sum(-1, keepdim=True)
    for wrong in (whole, whole[..., 1:], renormalised):
        assert not checks.sink_light(with_other("sink_weights", wrong))[0]
    gates = trace["opened_context_vectors"].value * (torch.rand(queries.shape[:2])[..., None] > 0.5)
    assert not checks.gate_light(with_other("opened_gated_vectors", gates))[0]


@pytest.mark.parametrize(
    "on",
    [{"window": "3", "sinks": "1"}, {"position_encoding": "alibi", "window": "2"}, *lesson.MODELS],
    ids=str,
)
def test_no_light_is_red_for_a_switch_that_does_what_it_is_for(on):
    settings = values_of("wild_cat", **(on if isinstance(on, dict) else {}))
    if on in list(lesson.MODELS):
        settings = settings.but(**lesson.switches_of(on, settings))
    found = {each.name: each for each in shown_lights(lesson.trace_of(settings), OUTPUT)}
    assert [name for name, each in found.items() if each.holds is False] == []
    assert found["seen_has_weight"].holds is found["no_leak"].holds is True
    order = found["order_free"]
    assert order.holds is (True if settings.position_encoding == "none" else None)
    assert ("that is meant" in order.evidence) == (settings.position_encoding != "none")


def test_rotary_positions_stay_on_with_heads_of_any_number():
    for n_heads in ("1", "3", "5", "7", "8"):
        values = values_of("wild_cat", n_heads=n_heads, d_model="3", position_encoding="rotary")
        assert lesson.heads(values).d_head % 2 == 0
        assert "today_turned_queries" in lesson.trace_of(values)
        assert "in pairs" in wider_words(values)
    assert wider_words(values_of("wild_cat", position_encoding="rotary")) == ""


@pytest.mark.parametrize(("n_heads", "d_model"), [("1", "3"), ("3", "6"), ("2", "12"), ("2", "10")])
def test_rotary_positions_are_shown_with_pairs_of_different_speeds(n_heads, d_model):
    settings = values_of("wild_cat", n_heads=n_heads, d_model=d_model, position_encoding="none")
    trace = lesson.rotary(settings)
    angles = trace["rotary_query_angles"].value
    d = trace.size("d_head")
    speeds = 10_000.0 ** (-2 * torch.arange(d // 2) / d)
    assert d in (4, 6), "no wider than it has to be"
    assert angles[1].allclose(speeds)
    assert angles.shape[-1] >= 2


def test_a_shifted_text_turns_queries_further_and_leaves_the_weights():
    settings = values_of("wild_cat", n_heads="3", d_model="6", position_encoding="none")
    here, there = (lesson.rotary(settings, place) for place in (0, 100))
    (here_at, *_), (there_at, *_) = (each["rotary_query_angles"].value for each in (here, there))
    assert there_at[0] - here_at[0] == 100
    turned, weights = (
        (there[f"rotary_{name}"].value - here[f"rotary_{name}"].value).abs().max()
        for name in ("turned_queries", "weights")
    )
    assert turned > 0.1
    assert weights < 1e-4


def test_a_bias_on_a_hidden_score_is_faint():
    trace, (_, _, bias, *_) = lesson.beside(values_of("wild_cat"), lesson.SLOPED, "bias")
    assert ((bias.strengths == 1) == trace["mask"].value).all()
    assert 0 < bias.strengths.min() < 0.5


def test_shapes_and_costs_are_those_of_the_tensors():
    settings = values_of("life_is_short")
    trace = lesson.alone(settings)
    size = page_size(settings)
    assert parameters(trace, "grouped_", settings.d_model) == size.parameters
    assert kept(trace, "grouped_") == size.cached(1)
    assert parameters(trace, "head_", settings.d_model) == size.with_kv_heads(3).parameters
    assert kept(trace, "head_") == size.with_kv_heads(3).cached(1)


def test_the_cache_of_a_model_in_plain_words():
    rows = costs.cache_rows(costs.model_of(values_of("wild_cat")), 2)
    assert [in_bytes(row.size) for row in rows] == ["4 GiB", "1 GiB", "128 MiB"]
    own = values_of("wild_cat", cost_model="own", m_heads="12", m_kv_heads="8", m_context="512")
    assert own.m_kv_heads == 6
    for kv_heads in (1, 4, 12):
        for window in (0, 256, 512, 1_024):
            model = costs.model_of(own.but(m_kv_heads=kv_heads, m_window=window))
            assert sum(row.is_own for row in costs.cache_rows(model, 1)) == 1
    question = costs.cache_question()
    judged = [question.judged([at]).right for at in range(len(question.choices))]
    assert judged.count(True) == 1
    assert question.choices[judged.index(True)] == "1 GiB"


def test_bars_say_their_amounts():
    pieces, colours = [{"x": 3.0, "y": 1.0}, {"y": 1.0}], {"x": "red", "y": "blue", "z": "grey"}
    chart = amounts(["a", "b"], pieces, ["4 GiB", "1 GiB"], colours, "Memory")
    assert chart.frame["from"].tolist() == [0, 0.75, 0]
    assert chart.frame["to"].tolist() == [0.75, 1, 0.25]
    assert chart.frame["is_first"].tolist() == [True, False, True]
    scale = chart.spec["layer"][0]["encoding"]["color"]["scale"]
    assert scale == {"domain": ["x", "y"], "range": ["red", "blue"]}
    assert chart.alt == "Memory. a: 4 GiB; b: 1 GiB."


def test_the_page_follows_its_switches():
    at = visit(PAGE, example="wild_cat", n_heads="4", d_model="8", decoded="2", predict="off")
    told = rendered(at)
    assert "The whole text shifted by 10 places" in told
    assert "1.34 billion parameters" in told
    assert at.selectbox(key="as_in").value is None
    at.selectbox(key="as_in").set_value("mistral").run()
    now = at.session_state["session"].values
    assert (now.kv_heads, now.position_encoding, now.window, now.sinks) == (1, "rotary", 5, 0)
    assert at.selectbox(key="as_in").value == "mistral"
    at.button(key="to_qk_norm").click().run()
    now = at.session_state["session"].values
    assert now.qk_norm
    assert (now.kv_heads, now.window, now.gated) == (1, 5, False), "that switch alone"
    assert not at.exception
