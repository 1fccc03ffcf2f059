"""The lesson on keeping less: its latents, its indexer, its two mistakes, and the bytes it says."""

import pytest
import torch
from transformers import DeepseekV3Config, DeepseekV32Config, Gemma3nTextConfig

from attention_core import EXAMPLES
from attention_ui.frame.lights import lights_of
from attention_ui.lessons.kept_small import costs, lesson, words
from attention_ui.reactive.control import understood
from visiting import rendered, visit


def values_of(name="named_features", **changes):
    return understood({"example": name}, lesson.CONTROLS)[0].but(**changes)


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_latent_as_wide_as_the_rank_gives_the_heads_own_keys(name):
    trace = lesson.plain(values_of(name))
    n_heads, d_in, d_head = trace["head_W_key"].value.shape
    d_value = trace["head_W_value"].value.shape[-1]
    gaps = []
    for width in (1, 2, min(d_in, n_heads * (d_head + d_value))):
        made = lesson.with_latent(trace, width)
        assert lesson.absorbed_agrees(made)[0]
        of_both = [
            [made[f"{of}{each}"].value for each in ("keys", "values")]
            for of in ("head_", "latent_")
        ]
        gaps.append(max((a - b).abs().max().item() for a, b in zip(*of_both, strict=True)))
    assert gaps[-1] < 2e-5 * max(1, made["head_keys"].value.abs().max()) < gaps[0]
    assert "as the heads’ own, untrained matrices" in words.latent_words(made)
    out = {light.title for light in lights_of(made, "latent_context_vectors") if not light.holds}
    assert out <= {"Equal tokens have equal ids, and no id is skipped"}, "as one notebook has it"


@pytest.mark.parametrize(("way", "moved", "absorbed"), [
    ("apart", True, True), ("latent", False, True), ("keys", True, False),
])  # fmt: skip
@pytest.mark.parametrize("name", ["named_features", "wild_cat", "life_is_short"])
def test_one_light_goes_out_for_each_wrong_place_of_positions(name, way, moved, absorbed):
    values = values_of(name, rotary_at=way)
    assert lesson.moved_agrees(values)[0] == moved
    assert lesson.absorbed_agrees(lesson.placed(values, way))[0] == absorbed


def test_what_the_indexer_misses_is_weight_of_the_head():
    values = values_of(top_k=3)
    trace = lesson.trace_of(values)
    full, chosen = trace["head_weights"].value, trace["chosen"].value
    assert chosen.sum(-1).tolist() == [min(at + 1, 3) for at in range(len(chosen))]
    for head, rows in enumerate(full):
        gone = [sum(w for w, k in zip(row, own, strict=True) if not k)
                for row, own in zip(rows.tolist(), chosen.tolist(), strict=True)]  # fmt: skip
        torch.testing.assert_close(lesson.lost(trace, head), torch.tensor(gone))
    left = full[0] * chosen
    torch.testing.assert_close(trace["sparse_weights"].value[0], left / left.sum(-1, keepdim=True))
    assert words.sums_light(trace, "before", 0)[0]
    late, told = words.sums_light(trace, "after", values.head)
    assert not late
    assert told in rendered(visit("kept_small", example="named_features", masked_where="after"))
    assert told.startswith("6 of 9 rows lost weight")
    assert "loses none" in words.lost_words(lesson.trace_of(values.but(top_k=len(chosen))), 0)


def test_facts_agree_with_the_configs_that_say_them():
    facts, v3, v32 = costs.FACTS, DeepseekV3Config(), DeepseekV32Config()
    n = Gemma3nTextConfig()
    assert (v3.kv_lora_rank, v3.qk_rope_head_dim) == (facts["d_latent"], facts["d_rotary"])
    assert (v3.num_attention_heads, v3.qk_nope_head_dim) == (128, 128)
    assert (v32.index_head_dim, v32.index_topk) == (facts["d_index"], facts["top_k"])
    layers = (n.num_hidden_layers, n.num_kv_shared_layers)
    assert layers == (facts["layers"], facts["shared_layers"])


@pytest.mark.parametrize(("turn", "comes"), [
    ("local", [2, 3, 4, 5]), ("in_turn", [2, 3, 9, 9]), ("global", [9] * 4),
])  # fmt: skip
def test_what_has_come_after_some_layers_is_said(turn, comes):
    values = values_of(turn=turn)
    for n_layers, n_tokens in enumerate(comes, start=1):
        said = words.reach_words(lesson.deep(values, n_layers), n_layers, turn)
        assert f"something of {n_tokens} of the 9 tokens" in said
        assert ("sees all" in said) == (n_tokens == 9)


def test_a_layer_that_shares_has_no_keys_and_weights_of_its_own():
    trace = lesson.sharing(values_of())
    assert "shared_1_keys" not in trace
    shared = trace["shared_1_queries"].value @ trace["shared_0_keys"].value.T / 3**0.5
    left = shared.masked_fill(torch.ones_like(shared).triu(1).bool(), -torch.inf)
    torch.testing.assert_close(trace["shared_1_weights"].value, left.softmax(-1))
    assert not torch.allclose(trace["shared_1_weights"].value, trace["shared_0_weights"].value)
