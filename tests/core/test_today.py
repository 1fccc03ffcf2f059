"""What models have added to attention, in prime and unequal sizes, by plain torch and loops."""

import itertools
import math
from dataclasses import replace
from importlib import import_module

import pytest
import torch

from attention_core import (
    EXAMPLES,
    attend_heads,
    attend_tensors,
    attend_today,
    decode_step,
    embed,
    program,
)
from attention_core.costs import KNOWN, AttentionSize, kept_tokens
from attention_core.mechanism.today import Today
from attention_core.models_of_today import MODELS_OF_TODAY
from attention_core.operations import WindowMask
from attention_core.operations.distances import alibi_slopes
from attention_core.recipes import HeadsRecipe
from attention_core.text.inputs import Inputs
from checks import random, rotated, same, taken_apart_and_run_anew

N_TEXTS, N_HEADS, N_QUERIES, N_KEYS, D_HEAD = 2, 3, 5, 7, 11


# --- ALiBi ----------------------------------------------------------------------------------------
def published_slopes(n):
    def of_a_power(n):
        start = 2 ** (-(2 ** -(math.log2(n) - 3)))
        return [start * start**i for i in range(n)]

    if math.log2(n).is_integer():
        return of_a_power(n)
    below = 2 ** math.floor(math.log2(n))
    return of_a_power(below) + published_slopes(2 * below)[0::2][: n - below]


@pytest.mark.parametrize("front", [(N_HEADS,), (N_TEXTS, N_HEADS)], ids=str)
@pytest.mark.parametrize("corner", ["top_left", "bottom_right"])
def test_alibi_is_plain_torch_written_out(front, corner):
    shapes = ((N_QUERIES, D_HEAD), (N_KEYS, D_HEAD), (N_KEYS, 13))
    given = [random(*front, *shape, seed=at) for at, shape in enumerate(shapes)]
    first = N_KEYS - N_QUERIES if corner == "bottom_right" else 0
    trace = attend_tensors(*given, alibi=True, corner=corner)
    same(trace["context_vectors"].value, with_alibi(*given, first))
    added = random(N_QUERIES, N_KEYS, seed=8)
    trace = attend_tensors(*given, alibi=True, corner=corner, mask=added)
    same(trace["context_vectors"].value, with_alibi(*given, first, added))


def with_alibi(queries, keys, values, first, added=0.0):
    """Head by head, score by score."""
    scores = torch.einsum("...id,...jd->...ij", queries, keys) / queries.shape[-1] ** 0.5
    n_queries, n_keys = scores.shape[-2:]
    for head, i, j in itertools.product(range(N_HEADS), range(n_queries), range(n_keys)):
        scores[..., head, i, j] -= published_slopes(N_HEADS)[head] * abs(i + first - j)
    return torch.einsum("...ij,...jd->...id", (scores + added).softmax(-1), values)


def test_alibi_counts_the_past_keeps_the_precision_and_takes_one_head():
    queries, keys, values = (random(N_HEADS, n, D_HEAD, seed=n) for n in (2, 5, 3))
    values = random(N_HEADS, 5, 13)
    past = {"past_keys": keys[:, :3], "past_values": values[:, :3]}
    trace = attend_tensors(queries, keys[:, 3:], values[:, 3:], **past, alibi=True)
    same(trace["context_vectors"].value, with_alibi(queries, keys, values, 3))
    half = attend_tensors(*(each.bfloat16() for each in (queries, keys, values)), alibi=True)
    assert {step.value.dtype for step in half.values()} == {torch.bfloat16}
    single = attend_tensors(queries[0], keys[0], values[0], alibi=True, scale="none")
    scores = queries[0] @ keys[0].T
    away = torch.tensor([[abs(i - j) for j in range(5)] for i in range(2)])
    same(single["biased_scores"].value, scores - away / 256)


# --- windows with sinks ---------------------------------------------------------------------------
def test_a_hidden_key_says_beyond_which_place_it_stands():
    mask = WindowMask(9, 9, 2)
    assert mask.arithmetic((7, 3)).written.startswith(r"\text{key }3 < 5 = 7 - 2")
    assert mask.arithmetic((2, 3)).written.startswith(r"\text{key }3 > 2\text{: hidden")


# --- all of it ------------------------------------------------------------------------------------
INPUTS = Inputs("a b c a d b e", tokenizer="blanks", d_in=5, seed=7)
RECIPE = HeadsRecipe(n_heads=6, d_head=4, d_value=3, d_model=11, causal=True)
SWITCHED = {
    "nothing": Today(6),
    "groups": Today(2),
    "one head": Today(1),
    "rotary": Today(3, rotary_base=100.0),
    "alibi": Today(6, alibi=True),
    "window": Today(6, window=2),
    "sinks": Today(6, window=2, sinks=1),
    "cap": Today(6, soft_cap=0.5),
    "a part turned": Today(3, rotary_base=100.0, rotary_share=0.6),
    "norms": Today(2, qk_norm=True),
    "a sink": Today(6, sink_logit=0.5),
    "gates": Today(6, gated=True),
    "all": Today(2, 50.0, True, window=3, sinks=1, soft_cap=0.7),
    "all of 2026": Today(
        2, 50.0, window=3, rotary_share=0.5, qk_norm=True, sink_logit=-1.0, gated=True
    ),
}


def whole(today, recipe=RECIPE):
    return attend_today(attend_heads(embed(INPUTS), recipe), today)


@pytest.mark.parametrize("changes", [{"temperature": 3.0}, {"dropout": 0.3, "dropout_seed": 5}])
def test_todays_attention_takes_the_temperature_and_the_dropout_of_the_heads_beside_it(changes):
    today = Today(RECIPE.n_heads, scale=RECIPE.scale)
    made, plain = whole(today, replace(RECIPE, **changes)), whole(today)
    same(made["today_context_vectors"].value, made["head_context_vectors"].value)
    assert not made["today_context_vectors"].value.equal(plain["today_context_vectors"].value)
    if "dropout" in changes:
        with pytest.raises(ValueError, match=r"a dropout of 0\.3 is for training"):
            decode_step(made, today, 3)
    else:
        new = decode_step(made, today, 3)["decoded_context_vectors"].value[:, 0]
        same(new, made["head_context_vectors"].value[:, 3])


def by_hand(trace, today):
    """Every head by itself, with loops over what is hidden and added."""
    vectors, n_heads = trace["embeddings"].value, 6
    times, n_tokens = n_heads // today.n_kv_heads, len(trace["embeddings"].value)
    contexts = []
    for head in range(n_heads):
        group = range(head // times * times, (head // times + 1) * times)
        query = vectors @ trace["head_W_query"].value[head]
        key, value = (
            vectors @ sum(trace[f"head_W_{role}"].value[at] for at in group) / times
            for role in ("key", "value")
        )
        if today.qk_norm:
            query, key = (each / (each**2).mean(-1, keepdim=True).sqrt() for each in (query, key))
        if today.rotary_base:
            turned = 4 if today.rotary_share == 1 else 2
            query, key = (
                torch.cat([rotated(each[:, :turned], today.rotary_base), each[:, turned:]], -1)
                for each in (query, key)
            )
        scores = query @ key.T / 2
        if today.soft_cap:
            scores = today.soft_cap * torch.tanh(scores / today.soft_cap)
        for i, j in itertools.product(range(n_tokens), range(n_tokens)):
            if today.alibi:
                scores[i, j] -= published_slopes(n_heads)[head] * abs(i - j)
            far = today.window is not None and i - j >= today.window and j >= today.sinks
            if j > i or far:
                scores[i, j] = -math.inf
        if today.sink_logit is not None:
            scores = torch.cat([scores, torch.full((n_tokens, 1), today.sink_logit)], -1)
        contexts.append(scores.softmax(-1)[:, :n_tokens] @ value)
        if today.gated:
            contexts[-1] = contexts[-1] / (1 + (-vectors @ trace["today_W_gate"].value[head]).exp())
    return torch.cat(contexts, dim=-1) @ trace["W_output"].value


@pytest.mark.parametrize("name", SWITCHED)
def test_attention_of_today_is_its_rules_written_out(name):
    trace = whole(SWITCHED[name])
    same(trace["today_output"].value, by_hand(trace, SWITCHED[name]))
    if name == "nothing":
        assert trace["today_output"].value.equal(trace["output"].value)
    assert ("today_shared_keys" in trace) == (SWITCHED[name].n_kv_heads < 6)
    plain = whole(SWITCHED["nothing"])
    assert all(plain[each].value.equal(trace[each].value) for each in plain if each[:5] != "today")


@pytest.mark.parametrize("name", SWITCHED)
def test_decoding_with_a_cache_gives_the_rows_of_the_whole(name):
    today = SWITCHED[name]
    trace = whole(today)
    for place in range(7):
        step = decode_step(trace, today, place)
        assert step["new_embedding"].value.equal(trace["embeddings"].value[place : place + 1])
        assert step["decoded_weights"].value.shape == (6, 1, place + 1)
        row = trace["today_weights"].value[:, place : place + 1]
        same(step["decoded_weights"].value, row[..., : place + 1])
        assert (row[..., place + 1 :] == 0).all()
        context = trace["today_context_vectors"].value[:, place : place + 1]
        same(step["decoded_context_vectors"].value, context)
        if today.gated:
            row = trace["today_gated_vectors"].value[:, place : place + 1]
            same(step["decoded_gated_vectors"].value, row)
        assert ("past_keys" in step) == (place > 0)


@pytest.mark.parametrize("name", ["all", "all of 2026"])
def test_every_step_can_be_taken_apart_and_runs_anew(name):
    trace = whole(SWITCHED[name])
    for each in (trace, decode_step(trace, SWITCHED[name], 4)):
        taken_apart_and_run_anew(each, every=5)
    assert "Pairs are columns k and k + d/2, as in rotate_half, not neighbours" in program(trace)


def test_odd_heads_are_not_turned():
    odd = whole(Today(6, rotary_base=100.0), replace(RECIPE, d_head=3))
    assert odd["today_weights"].value.equal(odd["head_weights"].value)


@pytest.mark.parametrize(("call", "words"), [
    (lambda: whole(Today(4)), "6 query heads cannot be shared evenly among 4 key"),
    (lambda: whole(Today(6), replace(RECIPE, normalise="sum")), "has a softmax over keys"),
    (lambda: decode_step(whole(Today(6)), Today(6), 7), "there is no token 7: the last of 7 is 6"),
    (lambda: alibi_slopes(0), "there are 0 heads: slopes need 1 or more"),
    (lambda: Today(1, window=0), "a window of 0 hides every key"),
    (lambda: Today(1, sinks=1), "sinks is 1, but there is no window"),
    (lambda: Today(1, rotary_share=1.5),
     r"a share of 1\.5 of a head's columns: choose one above 0"),
    (lambda: Today(0), "n_kv_heads is 0, but must be 1 or more"),
    (lambda: AttentionSize(1, 5, 6, 4, 4), "6 query heads cannot be shared evenly among 4"),
    (lambda: AttentionSize(0, 5, 6, 6, 4), "n_layers is 0, but must be 1 or more"),
])  # fmt: skip
def test_what_cannot_be_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


# --- costs ----------------------------------------------------------------------------------------
def test_costs_of_known_models_are_those_counted_by_hand():
    gpt2, llama, mistral = (KNOWN[name] for name in ("gpt2", "llama3", "mistral"))
    assert gpt2.size.parameters == 12 * 4 * (768 * 768 + 768) == 28_348_416
    assert gpt2.size.cached(1_024) == 2 * 12 * 768 * 1_024
    assert gpt2.size.weights(1_024) == 12 * 12 * 1_024 * 1_024
    assert 2 * llama.size.cached(llama.context) == 2 * 32 * 8 * 128 * 8_192 * 2 == 2**30
    assert 2 * llama.size.with_kv_heads(32).cached(8_192) == 4 * 2**30
    assert 2 * llama.size.with_kv_heads(1).cached(8_192) == 2**27
    layer = 4_096 * 4_096 + 2 * 4_096 * 8 * 128 + 4_096 * 4_096
    assert llama.size.parameters == 32 * layer == 1_342_177_280
    assert 2 * mistral.size.cached(kept_tokens(mistral.context, mistral.window)) == 2**29
    assert [kept_tokens(n, 5, 2) for n in (3, 7, 11)] == [3, 7, 7]


def matrices_of(step):
    """The matrices that a step is made with: of those of groups the means, as they are used."""
    found, left = {}, [step]
    while left:
        each = left.pop()
        if "W_" in each.name:
            found[each.name] = each.value
        else:
            left += each.inputs
    return found


@pytest.mark.parametrize("name", SWITCHED)
def test_parameters_and_cache_are_those_of_the_tensors(name):
    today = SWITCHED[name]
    trace, n_kv_heads = whole(today), today.n_kv_heads
    size = AttentionSize(1, 5, 6, n_kv_heads, 4, 3, 11, gated=today.gated)
    found = matrices_of(trace["today_output"])
    assert len(found) == 4 + today.gated
    assert size.parameters == sum(each.numel() for each in found.values())
    prefix = "head_" if n_kv_heads == 6 else "today_"
    kept = [trace[f"{prefix}{each}"].value.numel() for each in ("keys", "values")]
    assert size.cached(7) == sum(kept)


@pytest.mark.parametrize("gated", [False, True])
def test_products_are_counted_one_by_one(gated):
    size = AttentionSize(2, 5, 6, 3, 4, 7, 11, gated=gated)

    def counted(place, has_cache):
        count = 0
        for token in range(place + 1):
            if has_cache and token < place:
                continue
            count += 5 * (6 * 4 + 3 * 4 + 3 * 7)  # its query, key and value
            for _key in range(place + 1):
                count += 6 * 4 + 6 * 7  # a score, and a share of the value
            count += 6 * 7 * 11
            for _column in range(6 * 7 * gated):
                count += 5 + 1  # a gate, and what it lets through
        return 2 * count

    for place, has_cache in itertools.product(range(5), (True, False)):
        assert size.products_of_step(place, has_cache) == counted(place, has_cache)


# --- the facts about known models -----------------------------------------------------------------
def says(config):
    """What a config says, by our names."""
    layers = config.num_hidden_layers
    kinds = getattr(config, "layer_types", None) or ["full_attention"] * layers
    ropes = getattr(config, "rope_parameters", None) or {}
    near = [kind == "sliding_attention" for kind in kinds]
    window = getattr(config, "sliding_window", None)
    if config.model_type == "mistral":
        near = [True] * layers
    rotary = getattr(config, "no_rope_layers", None) or [config.model_type != "gpt2"] * layers
    share = ropes.get("partial_rotary_factor", 1.0)
    if config.model_type == "deepseek_v32":
        share = config.qk_rope_head_dim / config.qk_head_dim
    heads = config.num_attention_heads
    return {
        "n_layers": layers,
        "n_heads": heads,
        "n_kv_heads": getattr(config, "num_key_value_heads", heads),
        "d_head": getattr(config, "qk_head_dim", None) or getattr(config, "head_dim", None)
        or config.hidden_size // heads,
        "context": config.max_position_embeddings,
        "window": window if any(near) else None,
        "rotary_share": share,
        "attends": [kind != "linear_attention" for kind in kinds].count(True) / layers,
        "local": near.count(True) / layers,
        "rotary": [bool(each) and kind != "linear_attention"
                   for each, kind in zip(rotary, kinds, strict=True)].count(True) / layers,
    }  # fmt: skip


def table_says(model):
    """The same of our table; shares of layers, since sizes of a model may have other numbers."""

    def share(fits):
        return sum(kind.n_layers for kind in model.kinds if fits(kind)) / model.n_layers

    windows = {kind.window for kind in model.kinds if kind.window} or {None}
    (rotary,) = {kind.rotary_share for kind in model.kinds if kind.positions == "rotary"} or {1.0}
    sizes = {name: getattr(model, name) for name in ("n_layers", "n_heads", "n_kv_heads", "d_head")}
    return sizes | {
        "context": model.context, "window": windows.pop(), "rotary_share": rotary,
        "attends": share(lambda kind: kind.attends),
        "local": share(lambda kind: kind.window is not None),
        "rotary": share(lambda kind: kind.positions == "rotary"),
    }  # fmt: skip


@pytest.mark.parametrize("name", MODELS_OF_TODAY)
def test_a_model_is_as_the_defaults_of_its_config_say_but_for_what_is_said_to_differ(name):
    model = MODELS_OF_TODAY[name]
    module, kind = model.config.split(".")
    found = import_module(f"transformers.models.{module}.configuration_{module}")
    theirs, ours = says(getattr(found, kind)()), table_says(model)
    # 26 layers and 34 have not the very same share of local ones.
    wrong = {k for k in ours if k != "local" and ours[k] != theirs[k]}
    assert abs(ours["local"] - theirs["local"]) < 0.02
    assert wrong == model.differs, {k: (ours[k], theirs[k]) for k in wrong ^ model.differs}
    assert model.source
    assert model.checked.year == 2026


@pytest.mark.parametrize("name", MODELS_OF_TODAY)
def test_what_a_layer_adds_stands_in_the_code_of_its_model(name):
    model = MODELS_OF_TODAY[name]
    module, _ = model.config.split(".")
    code = import_module(f"transformers.models.{module}.modeling_{module}").__file__
    text = open(code, encoding="utf-8").read()  # noqa: SIM115
    has = {"qk_norm": "self.q_norm(", "sink": "self.sinks", "gated": "torch.sigmoid(gate)"}
    for fact, line in has.items():
        assert any(getattr(kind, fact) for kind in model.kinds) == (line in text), fact


def test_caches_are_those_counted_by_hand():
    kept = {name: model.cached(model.context) for name, model in MODELS_OF_TODAY.items()}
    for name in ("gpt2", "llama3", "mistral"):
        known = KNOWN[name]
        assert kept[name] == known.size.cached(min(known.context, known.window or known.context))
    assert kept["gemma3"] == 2 * 4 * 256 * (29 * 1_024 + 5 * 131_072)
    assert kept["gpt_oss"] == 2 * 8 * 64 * 18 * (128 + 131_072)
    assert kept["deepseek_v32"] == (512 + 64 + 128) * 61 * 163_840
    memory = 32 * 128 * 128 + 3 * (2 * 16 * 128 + 32 * 128)
    assert kept["qwen3_5"] == 2 * 4 * 256 * 8 * 262_144 + 24 * memory


def test_columns_keep_their_names_where_a_decoded_token_s_still_mean_the_same():
    example = EXAMPLES["named_features"]
    for n_kv_heads, base, norms in itertools.product((3, 1), (None, 100.0), (False, True)):
        today = Today(n_kv_heads, rotary_base=base, qk_norm=norms)
        trace = attend_today(attend_heads(embed(example.inputs), example.heads), today)
        step = decode_step(trace, today, 4)
        mean_the_same = n_kv_heads == 3 and base is None and not norms
        for head in range(3):
            named = step.has_axis("d_head") and step.labels("d_head", head)
            assert (named == trace.labels("d_head", head)) == mean_the_same, today
        assert step.labels("head") == example.heads.given.names
