"""Attention with one latent a token, and a cheap indexer, against DeepSeek-V3's and -V3.2's layers
in `transformers`, there and back; and what the absorbed form and the mistakes come to.
"""

import re

import pytest
import torch
from transformers import DeepseekV3Config, DeepseekV32Config
from transformers.models.deepseek_v3 import modeling_deepseek_v3 as v3
from transformers.models.deepseek_v32 import modeling_deepseek_v32 as v32
from transformers.models.qwen3.modeling_qwen3 import Qwen3RMSNorm

from attention_core import Trace, attend_latent, backward, choose_keys
from attention_core import operations as ops
from attention_core.mechanism.builder import head_norm, rotated, times
from checks import random, taken_apart_and_run_anew, told
from checks import rotated as by_complex_numbers

H, N, D_IN, D, D_V, LATENT, ROTARY, ASKED, K = 2, 7, 11, 3, 5, 13, 2, 17, 3
SIZES = {
    "hidden_size": D_IN, "num_attention_heads": H, "num_key_value_heads": H, "q_lora_rank": ASKED,
    "kv_lora_rank": LATENT, "qk_rope_head_dim": ROTARY, "qk_nope_head_dim": D, "v_head_dim": D_V,
    "max_position_embeddings": 32, "index_topk": K, "index_head_dim": 5, "index_n_heads": 3,
    "attn_implementation": "eager", "vocab_size": 19, "num_hidden_layers": 1,
}  # fmt: skip


def layer_of(config_of, module, name):
    """One layer with random weights, and the table of angles that it takes."""
    fits = SIZES if module is v32 else {k: v for k, v in SIZES.items() if "index" not in k}
    config = config_of(**fits)
    torch.manual_seed(5)
    layer = getattr(module, f"{name}Attention")(config, 0).eval()
    for weight in layer.parameters():
        torch.nn.init.normal_(weight, std=0.6)
    return layer, getattr(module, f"{name}RotaryEmbedding")(config)


class Given:
    """A trace with the weights of a layer, each a step of its own name."""

    def __init__(self, layer, vectors):
        self.layer, self.trace = layer, Trace()
        self.whose = {}
        self.vectors = self.given("vectors", vectors, ("token", "d_in"))

    def given(self, name, tensor, axes, whose=None):
        self.whose[name] = whose
        return self.trace.step(name, ops.Given.of(tensor.detach()), axes=axes)

    def matrix(self, name, of, rows=None, heads=(), axes=("d_in", "d_out")):
        """A stored (out, in) upright, or the rows of each head of it."""

        def take(stored):
            part = stored.unflatten(0, (H, -1)) if heads else stored
            return part[..., slice(*rows) if rows else slice(None), :].mT

        stored = self.layer.get_parameter(f"{of}.weight")
        return self.given(name, take(stored), (*heads, *axes), lambda grads: take(grads[of]))

    def rms(self, step, of):
        """Llama's norm, with the gain that is stored."""
        stored = self.layer.get_parameter(f"{of}.weight")
        gain = self.given(f"{step.name}_gain", stored, step.axes[-1:], lambda grads: grads[of])
        return head_norm(self.trace, "query", step, 1e-6, gain, f"{step.name}_")

    def latent(self):
        """The layer's attention, down to its output."""
        trace, head = self.trace, ("head",)
        down = self.matrix("W_asked", "q_a_proj", axes=("d_in", "d_asked"))
        self.asked = self.rms(times(trace, "asked", self.vectors, down, lead=("query",)),
                              "q_a_layernorm")  # fmt: skip
        up, kv = "q_b_proj", "kv_b_proj"
        matrices = {
            name: self.matrix(name, of, rows, front, axes)
            for name, of, rows, front, axes in (
                ("W_query", up, (0, D), head, ("d_asked", "d_head")),
                ("W_rotary_query", up, (D, D + ROTARY), head, ("d_asked", "d_rotary")),
                ("W_latent", "kv_a_proj_with_mqa", (0, LATENT), (), ("d_in", "d_latent")),
                ("W_rotary_key", "kv_a_proj_with_mqa", (LATENT, None), (), ("d_in", "d_rotary")),
                ("W_up_key", kv, (0, D), head, ("d_latent", "d_head")),
                ("W_up_value", kv, (D, None), head, ("d_latent", "d_value")),
            )
        }
        causal = trace.step("mask", ops.AttentionMask(N, N), axes=("query", "key"))
        chosen = self.chosen(causal) if hasattr(self.layer, "indexer") else causal
        context = attend_latent(
            trace, self.vectors, matrices, mask=chosen, query_vectors=self.asked, neighbours=True,
            normed=lambda step: self.rms(step, "kv_a_layernorm"),
        )  # fmt: skip
        joined = trace.step("concat", ops.JoinHeads(), context, axes=("query", "d_concat"))
        W_output = self.matrix("W_output", "o_proj", axes=("d_concat", "d_model"))
        return times(trace, "output", joined, W_output)

    def chosen(self, causal):
        """The keys that the layer's own indexer leaves: the first two of its columns are turned."""
        trace, axes = self.trace, ("index_head", "query", "d_index")
        wide = self.matrix("W_index_query", "indexer.wq_b", axes=("d_asked", "d_all"))
        flat = times(trace, "index_all", self.asked, wide, lead=("query",))
        queries = trace.step("index_queries", ops.SplitHeads(3), flat, axes=axes)
        W_key = self.matrix("W_index_key", "indexer.wk", axes=("d_in", "d_index"))
        keys = times(trace, "index_keys", self.vectors, W_key, lead=("key",))
        normed = trace.step("index_mean", ops.RowMean(), keys, axes=("key", "row"))
        varied = trace.step("index_variance", ops.RowVariance(), keys, normed, axes=("key", "row"))
        made = trace.step("index_standard", ops.Standardise(1e-6), keys, normed, varied,
                          axes=keys.axes)  # fmt: skip
        learned = [
            self.given(f"index_{kind}", getattr(self.layer.indexer.k_norm, kind), ("d_index",))
            for kind in ("weight", "bias")
        ]
        keys = trace.step("index_normed", ops.ScaleShift(), made, *learned, axes=keys.axes)
        both = [
            rotated(trace, role, step, 10_000.0, prefix="index_", how=ops.Rotate(rest=3))
            for role, step in (("query", queries), ("key", keys))
        ]
        W = self.given("W_index_shares", self.layer.indexer.weights_proj.weight.unsqueeze(-1),
                       ("index_head", "d_in", "row"))  # fmt: skip
        shares = times(trace, "shares", self.vectors, W, lead=("index_head", "query"))
        return choose_keys(trace, *both, shares, K, causal)


@pytest.mark.parametrize(("config", "module", "name"), [
    (DeepseekV3Config, v3, "DeepseekV3"), (DeepseekV32Config, v32, "DeepseekV32"),
])  # fmt: skip
def test_a_latent_layer_is_deepseeks_there_and_back(config, module, name):
    layer, angles = layer_of(config, module, name)
    # With this seed the last score that is chosen has no equal: torch's topk takes any of those.
    vectors = torch.randn(1, N, D_IN, generator=torch.Generator().manual_seed(4))
    vectors.requires_grad_()
    hidden = torch.full((N, N), -torch.inf).triu(1)[None, None]
    output, weights = layer(vectors, angles(vectors, torch.arange(N)[None]), hidden)
    made = Given(layer, vectors[0])
    ours = made.latent()
    pairs = [(ours.value, output[0]), (made.trace["head_weights"].value, weights[0])]
    probe = torch.randn(N, D_IN, generator=torch.Generator().manual_seed(5))
    (output[0] * probe).sum().backward()
    told(made.trace, ours, ops.Given.of(probe))
    grads = {each.removesuffix(".weight"): weight.grad
             for each, weight in layer.named_parameters() if weight.grad is not None}  # fmt: skip
    asked = ["vectors", *(name for name, whose in made.whose.items()
                          if whose and "index" not in name)]  # fmt: skip
    learned = backward(made.trace, "loss", asked)
    pairs.append((learned["grad_vectors"].value, vectors.grad[0]))
    pairs += [(learned[f"grad_{each}"].value, made.whose[each](grads)) for each in asked[1:]]
    assert len(pairs) == 13
    for ours, theirs in pairs:
        torch.testing.assert_close(ours, theirs, rtol=2e-5, atol=2e-5)
    seen = made.trace["head_weights"].value[0] > 0
    assert seen.sum(-1).tolist() == ([min(at + 1, K) for at in range(N)] if module is v32 else
                                     [*range(1, N + 1)])  # fmt: skip


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("size", [1, 300])
def test_16_bits_are_normed_as_by_qwen3_itself_and_turned_in_float32(dtype, size):
    """In float32, so that no square is larger than what float16 holds; rounded once."""
    norm = Qwen3RMSNorm(4).to(dtype)
    norm.weight.data = random(4).to(dtype)
    trace, axes = Trace(), ("head", "query", "d_head")
    vectors, kind = (size * random(3, N, 4)).to(dtype), str(dtype).removeprefix("torch.")
    heads = trace.step("heads", ops.Given.of(vectors, kind), axes=axes)
    gain = trace.step("gain", ops.Given.of(norm.weight.detach(), kind), axes=axes[-1:])
    normed = head_norm(trace, "query", heads, 1e-6, gain)
    assert normed.value.equal(norm(vectors))
    turned = rotated(trace, "query", normed, 9.0)
    want = by_complex_numbers(normed.value, 9.0)
    assert torch.allclose(turned.value.float(), want, rtol=torch.finfo(dtype).eps, atol=1e-5)
    taken_apart_and_run_anew(trace)
    told(trace, turned)
    found = backward(trace, "loss", ("heads", "gain"))
    assert {found[f"grad_{each}"].value.dtype for each in ("heads", "gain")} == {dtype}


def test_nothing_comes_back_to_an_indexer():
    layer, _ = layer_of(DeepseekV32Config, v32, "DeepseekV32")
    made = Given(layer, torch.randn(N, D_IN))
    told(made.trace, made.latent())
    with pytest.raises(ValueError, match="'index_scores' only has a say in what 'loss' chooses"):
        backward(made.trace, "loss", ["index_scores"])


def test_a_choice_is_told_where_scores_are_no_numbers():
    """As torch's own topk has it, nan is the largest."""
    trace, inf = Trace(), torch.inf
    given = ops.Given.of(torch.tensor([[1, torch.nan, 3, -inf, inf], [-inf, 2, -inf, -inf, 1]]))
    scores = trace.step("scores", given, axes=("query", "key"))
    chosen = trace.step("chosen", ops.TopK(3), scores, axes=scores.axes)
    assert chosen.value.int().tolist() == [[0, 1, 1, 0, 1], [0, 1, 0, 0, 1]]
    for cell in ((row, key) for row in range(2) for key in range(5)):
        says = chosen.arithmetic(cell).value
        assert says == chosen.value[cell] or (says, scores.value[cell]) == (-inf, -inf), cell


WIDE = {"token": N, "d_in": 5, "d_latent": 2, "head": 3, "d_head": 4, "d_value": 7, "d_rotary": 2}
AXES = {
    "vectors": ("token", "d_in"), "W_latent": ("d_in", "d_latent"),
    "W_query": ("head", "d_in", "d_head"), "W_up_key": ("head", "d_latent", "d_head"),
    "W_up_value": ("head", "d_latent", "d_value"), "W_rotary_key": ("d_in", "d_rotary"),
    "W_rotary_query": ("head", "d_in", "d_rotary"),
}  # fmt: skip
WRONG = [
    ({"place": 10**30}, "a first place of 1000000000000000000000000000000: choose one from"),
    ({"rotary_base": 1e300}, "rotary_base is 1e+300, but must be a number from 1e-6 to 1e12"),
    ({"without": "W_rotary_query"}, "there is no matrix 'W_rotary_query': did you mean"),
    ({"without": "W_rotary_key"}, "there is no matrix 'W_rotary_key': did you mean"),
    ({"without": "W_latent"}, "there is no matrix 'W_latent'. There are"),
    ({"W_rotary_keys": None}, "there is no use for a matrix 'W_rotary_keys': did you mean"),
    ({"W_latent": torch.ones(5, 2)}, "W_latent is a tensor of 5 × 2, but must be a step"),
]


@pytest.mark.parametrize(("change", "words"), WRONG)
def test_what_does_not_fit_a_latent_is_refused_in_words(change, words):
    trace, change = Trace(), dict(change)
    for name in AXES.keys() - {change.pop("without", None)}:
        draw = ops.Draw("normal", tuple(map(WIDE.get, AXES[name])), seed=1)
        trace.step(name, draw, axes=AXES[name])
    given = {name: step for name, step in trace.items() if name != "vectors"}
    given |= {name: change.pop(name) for name in [*change] if name.startswith("W_")}
    with pytest.raises(ValueError, match=f"^{re.escape(words)}"):
        attend_latent(trace, trace["vectors"], given, **change)


@pytest.mark.parametrize("n_tokens", [1, 2, 7])
@pytest.mark.parametrize("sign", [1, -1])
def test_places_are_as_far_out_as_a_float64_tells_each_from_the_next(n_tokens, sign):
    largest = 2**53 - n_tokens
    ops.RotaryAngles(n_tokens, 1, first=sign * largest)
    places = torch.arange(largest, largest + n_tokens).double()
    assert len({*places.tolist(), float(largest + n_tokens)}) == n_tokens + 1
    with pytest.raises(ValueError, match="a first place of"):
        ops.RotaryAngles(n_tokens, 1, first=sign * (largest + 1))


@pytest.mark.parametrize(("n_columns", "rest", "said"), [
    (7, 0, "3 angles turn 6 columns, two each, but there are 7"),
    (6, 1, "3 angles turn 6 columns, two each, and 1 are left as they are, but there are 6"),
])  # fmt: skip
def test_columns_that_are_not_as_many_as_angles_turn_are_refused_in_words(n_columns, rest, said):
    with pytest.raises(ValueError, match=said):
        ops.Rotate(rest=rest).value(random(5, n_columns), random(5, 3))
