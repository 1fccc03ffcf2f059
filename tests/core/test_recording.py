"""A recording changes nothing, holds what layers computed, and refuses what it does not know."""

import re
import warnings
from contextlib import suppress
from dataclasses import replace

import pytest
import torch
import transformers
from safetensors import safe_open
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional as F

from attention_core import NotAsRecorded, load_recording, recorded
from attention_core.recording.recording import joined
from checks import random, same
from serving import ROOT
from tiny_models import inputs_of, tensors_of, tiny

README = ROOT / "attention_core" / "README.md"
LLAMA = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 99,
         "num_key_value_heads": 2, "intermediate_size": 64, "max_position_embeddings": 64,
         "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}  # fmt: skip
IDS = torch.tensor([[5, 17, 42, 8, 23, 61, 9]])


def llama(implementation="sdpa", **settings):
    torch.manual_seed(0)
    config = transformers.LlamaConfig(**LLAMA | settings)
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    model.set_attn_implementation(implementation)
    return model


def seen_of(model, *given, grad=False, options=None, **named):
    with torch.set_grad_enabled(grad), recorded(model, **options or {}) as seen:
        model(*given, **named)
    return seen


def eager_weights(model, **inputs):
    """What the same model says its weights are, when it computes them one by one."""
    before = model.config._attn_implementation
    model.set_attn_implementation("eager")
    with torch.no_grad():
        found = model(**inputs, output_attentions=True)
    model.set_attn_implementation(before)
    return found


# --- every kind of model that asks the registry ---------------------------------------------------
def kinds_in(table):
    text = README.read_text(encoding="utf-8")
    within = re.search(f"<!-- {table} -->\n(.*?)<!-- /{table} -->", text, re.DOTALL)
    return re.findall(r"[\w.-]+", within[1])


QUICK = ("llama", "gemma2", "gpt_oss", "t5", "bert", "clip", "deepseek_v3", "vit")


def check_kind(kind):
    model = tiny(kind)
    inputs = inputs_of(model)
    with torch.no_grad():
        plain = model(**inputs)
    with torch.no_grad(), recorded(model) as seen:
        again = model(**inputs)
    for before, now in zip(tensors_of(plain), tensors_of(again), strict=True):
        assert torch.equal(before.nan_to_num(7.0), now.nan_to_num(7.0)), "the output has changed"
    assert not seen.notices
    for layer in seen:
        weights = layer.weights()
        call = layer.call()
        context = weights @ call.values.repeat_interleave(call.n_heads // call.values.shape[1], 1)
        assert (context - call.output).abs().max() <= 1e-5
        last = layer.trace(text=0, head=call.n_heads - 1)
        same(last["weights"].value, weights[0, -1], tolerance=1e-5)
    try:
        eager = eager_weights(model, **inputs)
    except ValueError:  # a model without eager code
        return
    theirs = [each for name in ("attentions", "encoder_attentions") if eager.get(name)
              for each in eager[name] or () if each is not None]  # fmt: skip
    for layer, one in zip(seen, theirs, strict=False):
        if one.shape == layer.weights().shape:
            assert (layer.weights() - one).abs().max() <= 1e-5


@pytest.mark.parametrize("kind", QUICK)
def test_a_model_of_each_kind_is_recorded_as_it_is(kind):
    check_kind(kind)


@pytest.mark.slow("2 min: more than two hundred small models")
@pytest.mark.parametrize("kind", [each for each in kinds_in("recorded") if each not in QUICK])
def test_a_model_of_every_kind_of_the_readme_is_recorded_as_it_is(kind):
    check_kind(kind)


REFUSED = {"bloom": "BloomAttention", "mpt": "MptAttention", "deberta": "DisentangledSelfAttention"}


@pytest.mark.parametrize(("kind", "named"), REFUSED.items())
def test_layers_that_ask_nobody_are_refused_by_name(kind, named):
    model = tiny(kind)
    with pytest.raises(ValueError, match=named), recorded(model):
        model(**inputs_of(model))


@pytest.mark.slow("10 s: fifty small models")
@pytest.mark.parametrize("kind", kinds_in("refused"))
def test_each_kind_that_the_readme_calls_refused_is(kind):
    model = tiny(kind)
    with pytest.raises(ValueError, match="nothing was recorded"), recorded(model):
        model(**inputs_of(model))


# --- causality cannot be lost ---------------------------------------------------------------------
@pytest.mark.parametrize(
    "implementation",
    [
        "sdpa",
        "eager",
        pytest.param("flex_attention", marks=pytest.mark.slow("30 s: torch compiles it")),
    ],
)
def test_the_future_stays_hidden_whatever_computes_it(implementation):
    """A function registered under a new name, without its mask, loses the mask in silence."""
    model = llama(implementation)
    with torch.no_grad():
        plain = model(IDS).logits
        with recorded(model) as seen:
            again = model(IDS).logits
            other = model(IDS.index_fill(1, torch.tensor([6]), 90)).logits
    assert torch.equal(plain, again)
    assert torch.equal(again[:, :6], other[:, :6])
    for layer in seen:
        assert layer.weights(step=0).triu(1).abs().max() == 0
    assert model.config._attn_implementation == implementation


def test_without_its_mask_a_call_is_refused_not_drawn():
    call = seen_of(llama(), IDS)[0].call()
    with pytest.raises(NotAsRecorded, match="differ by"):
        replace(call, options={**call.options, "is_causal": False}).weights()
    for changed in (
        {"scale": 1.0},
        {"queries": call.queries.flip(1)},
        {"values": call.values + 1e-3},
    ):
        with pytest.raises(NotAsRecorded):
            replace(call, **changed).trace()


# --- batches, writing, gradients, halves ----------------------------------------------------------
def test_a_padded_batch_sees_no_padding():
    model = llama()
    ids = torch.cat([IDS, IDS.flip(1)])
    there = torch.ones_like(ids)
    there[0, :3] = 0
    seen = seen_of(model, ids, attention_mask=there)
    weights = seen[1].weights()
    theirs = eager_weights(model, input_ids=ids, attention_mask=there).attentions[1]
    assert (weights[0, :, 3:, :3] == 0).all()
    same(weights[0, :, 3:], theirs[0, :, 3:], tolerance=1e-6)
    same(weights[1], theirs[1], tolerance=1e-6)
    trace = seen[1].trace(text=0, head=3)
    same(trace["weights"].value, weights[0, 3], tolerance=1e-6)


def with_added_mask(call):
    """The same, told by numbers that are added; all of them one more, which changes no weight."""
    hidden = ~call.mask_of_all()
    options = {name: of for name, of in call.options.items() if name != "is_causal"}
    added = torch.full(hidden.shape, 1.0).masked_fill(hidden, -torch.inf)
    return replace(call, mask=added, options=options)


@pytest.mark.parametrize("cache", ["dynamic", "static"])
def test_what_is_written_step_by_step_is_one_table(cache):
    model = llama()
    with recorded(model) as seen:
        written = model.generate(IDS, max_new_tokens=5, do_sample=False, eos_token_id=None,
                                 cache_implementation=cache)  # fmt: skip
    theirs = eager_weights(model, input_ids=written[:, :-1]).attentions
    assert len(seen[0].calls) == 5
    for layer, one in zip(seen, theirs, strict=True):
        same(layer.weights()[..., : one.shape[-1]], one, tolerance=1e-6)
        same(layer.weights(step=-1)[..., : one.shape[-1]], one[:, :, -1:], tolerance=1e-6)
        added = joined([with_added_mask(each) for each in layer.calls])
        same(added.weights(), layer.weights(), tolerance=1e-6)
    assert seen[0].trace(head=1)["weights"].value.shape[0] == written.shape[1] - 1


def mistral(window):
    torch.manual_seed(0)
    config = transformers.MistralConfig(**LLAMA, sliding_window=window)
    return transformers.AutoModelForCausalLM.from_config(config).eval()


@pytest.mark.parametrize("window", [2, 4, 9])
def test_a_cache_that_forgets_is_one_table_with_the_right_names(window):
    model, names = mistral(window), list("ABCDEFGHIJKL")
    with recorded(model, tokens=names) as seen:
        written = model.generate(IDS, max_new_tokens=6, do_sample=False, eos_token_id=None)
    theirs = eager_weights(model, input_ids=written[:, :-1]).attentions
    for layer, one in zip(seen, theirs, strict=True):
        same(layer.weights(), one, tolerance=1e-6)
        assert layer.query_names() == layer.key_names() == names
        step = layer.trace(head=1, step=-1)
        assert step.labels("query") == ("L",)
        assert step.labels("key") == tuple(names[-layer.call(-1).keys.shape[-2] :])


def test_rows_of_a_static_cache_have_the_names_of_what_looks():
    """A cache of fixed size has places that nothing is written to."""
    model, names = llama(), list("ABCDEFGHIJK")
    with recorded(model, tokens=names, queries=slice(-1, None)) as seen:
        model.generate(IDS, max_new_tokens=5, do_sample=False, eos_token_id=None,
                       cache_implementation="static")  # fmt: skip
    assert seen[0].query_names() == ["G", "H", "I", "J", "K"]
    assert [seen[0].query_names(step) for step in range(5)] == [[each] for each in "GHIJK"]


def test_who_looks_at_another_text_has_none_of_its_names():
    torch.manual_seed(0)
    model = nn.Transformer(12, 3, 1, 1, 16, batch_first=True).eval()
    seen = seen_of(model, random(1, 5, 12), random(1, 3, 12), options={"tokens": list("ABCDE")})
    across = seen["multihead_attn"]
    assert across.is_across
    assert (across.query_names(), across.key_names()) == ([], list("ABCDE"))
    assert not any(each.is_across for each in seen if each is not across)


def test_what_a_half_rounds_is_said_with_how_much_it_did():
    whole, half = llama(), llama().to(torch.bfloat16)
    assert seen_of(whole, IDS)[0].rounding() == ""
    layer = seen_of(half, IDS)[0]
    apart = (layer.weights() @ layer.call().values.repeat_interleave(2, 1).float()
             - layer.call().output.float()).abs().max()  # fmt: skip
    assert f"by up to {apart:.2g}" in layer.rounding()
    assert "bfloat16" in layer.rounding()
    assert 0 < apart < 0.01


def test_passes_over_other_texts_are_not_one_table():
    model = llama()
    with torch.no_grad(), recorded(model) as seen:
        model(IDS)
        model(IDS.flip(1))
    with pytest.raises(ValueError, match=r"do not follow each other.*step=0"):
        seen[0].weights()
    assert not torch.equal(seen[0].weights(step=0), seen[0].weights(step=1))


@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
def test_the_gradient_of_each_weight_is_autograds(implementation):
    model = llama(implementation).train()
    with recorded(model) as seen:
        model(IDS, labels=IDS).loss.backward()
    model.set_attn_implementation("eager")
    output = model(IDS, labels=IDS, output_attentions=True)
    for each in output.attentions:
        each.retain_grad()
    output.loss.backward()
    for layer, each in zip(seen, output.attentions, strict=True):
        same(layer.gradient(), each.grad, tolerance=1e-6)
        assert each.grad.abs().max() > 1e-4


@pytest.mark.parametrize("reentrant", [False, True])
def test_a_layer_that_is_computed_again_on_the_way_back_is_one_call(reentrant):
    model = llama().train()
    with recorded(model) as plain:
        model(IDS, labels=IDS).loss.backward()
    model.gradient_checkpointing_enable({"use_reentrant": reentrant})
    model.enable_input_require_grads()
    with recorded(model) as seen:
        model(IDS, labels=IDS).loss.backward()
    for layer, one in zip(seen, plain, strict=True):
        assert len(layer.calls) == 1
        same(layer.gradient(), one.gradient(), tolerance=1e-7)


def test_without_a_backward_pass_there_is_no_gradient():
    with pytest.raises(ValueError, match="backward"):
        seen_of(llama(), IDS)[0].gradient()


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
def test_halves_are_traced_in_their_own_precision(kind, implementation):
    model = llama(implementation).to(kind)
    seen = seen_of(model, IDS)
    trace = seen[1].trace()
    assert trace["weights"].value.dtype == kind
    call = seen[1].call()
    apart = (trace["context_vectors"].value.float() - call.output[0].float()).abs().max()
    assert apart <= 8 * torch.finfo(kind).eps * call.values.abs().max()
    with pytest.raises(NotAsRecorded):
        replace(call, scale=call.scale * 3, mask=None, options={}).weights()


@pytest.mark.parametrize("size", [0.0, 1e-6, 1e-3, 1.0, 30.0])
def test_a_layer_is_taken_as_it_is_whatever_the_size_of_its_numbers(size):
    """Also where all scores, or all values, are 0."""
    for part in (slice(0, 24), slice(24, 36), slice(0, 36)):  # queries and keys, values, all
        torch.manual_seed(0)
        layer = CausalSelfAttention()
        with torch.no_grad():
            for each in layer.parameters():
                each[part] *= size
        seen = seen_of(layer, random(2, 5, 12))
        assert seen[0].weights().sum(-1).allclose(torch.ones(2, 3, 5))
        assert seen[0].trace(text=0)["context_vectors"].value.isfinite().all()


def test_flash_attention_which_is_given_no_mask_hides_by_its_own_rule():
    """A recorded call, told as flash attention is: that runs on no processor of these tests."""
    n = len(IDS[0])
    call = seen_of(llama(), IDS)[0].call()
    whole = replace(call, mask=torch.ones(n, n, dtype=torch.bool).tril()[None, None], options={})
    for window in (None, 1, 3, n):
        near = torch.ones(n, n, dtype=torch.bool).triu(1 - (window or n))[None, None]
        seen = whole.mask & near
        options = {"is_causal": True, "sliding_window": window}
        flash = replace(call, implementation="flash_attention_2", mask=None, options=options)
        assert torch.equal(flash.mask_of_all(), seen)
        last = replace(flash, queries=flash.queries[:, :, -2:], rows=torch.arange(2), n_queries=2)
        assert torch.equal(last.mask_of_all(), seen[:, :, -2:]), "the last queries of all keys"
    both = replace(flash, options={"is_causal": False, "sliding_window": 2})
    assert both.mask_of_all().all()


def test_dropout_is_named_where_it_changes_the_weights():
    model = llama(attention_dropout=0.5).train()
    with pytest.raises(NotAsRecorded, match=r"Dropout of 0\.5.*eval"):
        seen_of(model, IDS)[0].weights()


# --- plain PyTorch --------------------------------------------------------------------------------
class CausalSelfAttention(nn.Module):
    """As in nanoGPT."""

    def __init__(self, flash=True):
        super().__init__()
        self.c_attn, self.flash = nn.Linear(12, 36), flash

    def forward(self, vectors):
        n_texts, n_tokens, _ = vectors.shape
        parts = self.c_attn(vectors).split(12, dim=2)
        q, k, v = (each.view(n_texts, n_tokens, 3, 4).transpose(1, 2) for each in parts)
        if self.flash:
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)
        hidden = torch.ones(n_tokens, n_tokens, dtype=torch.bool).triu(1)
        return (q @ k.mT / 2).masked_fill(hidden, -torch.inf).softmax(-1) @ v


def test_scaled_dot_product_attention_is_recorded_in_any_module():
    torch.manual_seed(1)
    module, vectors = nn.Sequential(CausalSelfAttention()), random(2, 5, 12)
    plain = module(vectors)
    with recorded(module) as seen:
        again = module(vectors)
    assert torch.equal(plain, again)
    same(seen["0"].weights() @ seen["0"].call().values, plain, tolerance=1e-6)
    with pytest.raises(ValueError, match="CausalSelfAttention does not compute"):
        seen_of(CausalSelfAttention(flash=False), vectors)


MASKS = {
    "none": {},
    "hidden": {"attn_mask": torch.ones(5, 5, dtype=torch.bool).triu(1)},
    "added": {"attn_mask": random(5, 5, seed=3)},
    "padding": {"key_padding_mask": torch.arange(5) >= torch.tensor([[4], [3]])},
    "of_heads": {"attn_mask": torch.ones(6, 5, 5, dtype=torch.bool).triu(2)},
    "both": {"attn_mask": torch.ones(5, 5, dtype=torch.bool).triu(2),
             "key_padding_mask": torch.arange(5) >= torch.tensor([[4], [3]])},
}  # fmt: skip


@pytest.mark.parametrize("masks", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize("needs", [True, False])
def test_multihead_attention_is_recorded_with_each_mask(masks, needs):
    torch.manual_seed(2)
    module, vectors = nn.MultiheadAttention(12, 3, batch_first=True), random(2, 5, 12)
    given = {"need_weights": needs, "average_attn_weights": False, **masks}
    plain, _ = module(vectors, vectors, vectors, **given)
    with recorded(module) as seen:
        again, _ = module(vectors, vectors, vectors, **given)
    assert torch.equal(plain, again)
    _, theirs = module(vectors, vectors, vectors, **{**given, "need_weights": True})
    same(seen[0].weights(), theirs, tolerance=1e-6)


def test_the_gradient_of_multihead_attention_goes_through_its_output_matrix():
    torch.manual_seed(2)
    module, vectors = nn.MultiheadAttention(12, 3, batch_first=True), random(1, 5, 12)
    wanted = random(1, 5, 12, seed=4)
    with recorded(module) as seen:
        (module(vectors, vectors, vectors)[0] * wanted).sum().backward()
    call = seen[0].call()
    weights = call.weights().requires_grad_()
    context = (weights @ call.values).transpose(1, 2).reshape(1, 5, 12)
    (module.out_proj(context) * wanted).sum().backward()
    same(seen[0].gradient(), weights.grad, tolerance=1e-6)


# --- what is asked for ----------------------------------------------------------------------------
def test_layers_and_rows_are_chosen_and_named():
    seen = seen_of(llama(), IDS, options={"layers": [1], "queries": slice(-1, None)})
    assert [each.name for each in seen] == ["model.layers.1.self_attn"]
    whole = seen_of(llama(), IDS)
    same(seen[1].weights(), whole[1].weights()[:, :, -1:], tolerance=1e-6)
    assert seen[-1] is seen[1] is seen["layers.1.self_attn"]
    with pytest.raises(ValueError, match="no layer 0: those recorded are 1"):
        seen[0]
    with pytest.raises(ValueError, match=r"none of the layers \[7\] ran"):
        seen_of(llama(), IDS, options={"layers": [7]})


def test_kinds_of_layers_go_by_their_names():
    model = tiny("t5")
    seen = seen_of(model, **inputs_of(model))
    assert [len(each) for each in seen.kinds.values()] == [2, 2, 2]
    assert [each.weights().shape[2:] for each in seen.of_kind("EncDec")] == [(4, 9), (4, 9)]
    with pytest.raises(ValueError, match="several kinds"):
        seen.of_kind("decoder")


def test_a_word_chooses_its_row():
    seen = seen_of(
        llama(), IDS, options={"tokens": ["The", "Ġcat", "Ġsat", ",", "Ġit", "Ġis", "Ġit"]}
    )
    trace = seen[0].trace(head=2, query="cat")
    same(trace["weights"].value, seen[0].weights()[0, 2, 1:2], tolerance=1e-6)
    assert trace.labels("query") == ("Ġcat",)
    assert trace.labels("key")[-1] == "Ġit"
    with pytest.raises(ValueError, match="stands at 4, 6"):
        seen[0].trace(head=2, query="it")
    with pytest.raises(ValueError, match="none of them"):
        seen[0].trace(head=2, query="dog")
    seen.tokens = None
    with pytest.raises(ValueError, match="knows no tokens"):
        seen[0].trace(head=2, query="cat")


def test_what_there_is_no_room_for_is_left_out_and_said():
    with pytest.warns(
        UserWarning, match="1 layers are left out.*model.layers.1.self_attn.*layers="
    ):
        seen = seen_of(llama(), IDS, options={"most_bytes": 4_000})
    assert [each.place for each in seen] == [0]


def test_a_trace_that_is_too_large_says_what_to_choose():
    model = tiny("gpt2", n_embd=640, n_head=4, n_positions=512)
    seen = seen_of(model, torch.randint(3, 99, (1, 200)))
    with pytest.raises(ValueError, match=r"128,000 numbers.*trace\(head=0\)"):
        seen[0].trace()
    assert seen[0].trace(head=0)["weights"].value.shape == (200, 200)


@pytest.mark.parametrize(("model", "words"), [
    ("gpt2", "builtins.str"),
    (torch.compile(nn.Linear(2, 2)), "is compiled"),
    (nn.Sequential(torch.compile(nn.Linear(2, 2))), "0 is compiled"),
])  # fmt: skip
def test_what_is_no_model_is_refused(model, words):
    with pytest.raises(ValueError, match=words):
        recorded(model)


def test_a_model_that_did_not_run_is_no_recording():
    with pytest.raises(ValueError, match="did not run"), recorded(llama()):
        pass


def test_nothing_is_left_behind():
    interface = transformers.AttentionInterface
    before = interface.get_interface, interface.__getitem__
    model = llama()
    for fails in (False, True):
        try:
            with recorded(llama()), recorded(model):
                model(IDS if not fails else "no ids")
        except (ValueError, TypeError, AttributeError):
            pass  # the first did not run; the second could not
        assert (interface.get_interface, interface.__getitem__) == before
        each = [*model.modules()]
        assert not any(one._forward_hooks or one._forward_pre_hooks for one in each)


def test_two_recordings_do_not_mix():
    one, two = llama(), llama()
    with torch.no_grad(), recorded(one) as first, recorded(two) as second:
        one(IDS)
        two(IDS.flip(1))
    assert len(first[0].calls) == len(second[0].calls) == 1
    assert not torch.equal(first[0].weights(), second[0].weights())


# --- in a file ------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["gpt_oss", "t5", "gemma2"])
def test_a_saved_recording_is_the_same(kind, tmp_path):
    model = tiny(kind)
    seen = seen_of(model, **inputs_of(model), options={"tokens": ["a"] * 9})
    seen.save(tmp_path / "seen.safetensors")
    again = load_recording(tmp_path / "seen.safetensors")
    assert repr(again) == repr(seen)
    assert again.tokens == seen.tokens
    for before, now in zip(seen, again, strict=True):
        assert torch.equal(before.weights(), now.weights())
        assert before.trace(head=1).keys() == now.trace(head=1).keys()


def test_a_file_that_is_no_recording_is_refused_in_words(tmp_path):
    path = tmp_path / "seen.safetensors"
    seen = seen_of(llama(), IDS)
    seen.save(path)
    raw = path.read_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for at in range(0, len(raw), 97):  # each of these bytes says or holds something
            path.write_bytes(raw[:at] + bytes([raw[at] ^ 0x55]) + raw[at + 1 :])
            with suppress(ValueError):  # what is wrong is said; any other error is a fault of ours
                for layer in load_recording(path):
                    layer.weights()


CHANGED = [
    ("queries", lambda t: t.int(), "queries have the wrong axes"),
    ("output", lambda t: t[0], "output have the wrong axes"),
    ("values", lambda t: t[:, :, 1:], "tensors do not fit each other"),
    ("keys", lambda t: t[..., 1:], "tensors do not fit each other"),
    ("keys", lambda t: torch.cat([t, t[:, :1]], 1), "tensors do not fit each other"),
    ("output", lambda t: t[:, 1:], "tensors do not fit each other"),
    ("rows", lambda t: t[1:], "tensors do not fit each other"),
    ("rows", lambda t: t.int(), "tensors do not fit each other"),
    ("rows", lambda t: t - 1, "its rows are none of"),
    ("rows", lambda t: t + 1, "its rows are none of"),
    ("mask", lambda t: t.int(), "mask has numbers of torch.int32"),
    ("mask", lambda t: t[0], "mask does not fit"),
    ("mask", lambda t: t[..., 1:], "mask does not fit"),
    ("mask", lambda t: t[:, :, 1:], "mask does not fit"),
    ("position_bias", lambda t: t.bool(), "position_bias has numbers of torch.bool"),
    ("position_bias", lambda t: t[:, 1:], "position_bias does not fit"),
    ("s_aux", lambda t: t[1:], "its sinks are none for each head"),
    ("output_gradient", lambda t: t[:, :, 1:], "output_gradient does not fit"),
]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Files of three models, which have all that a file can hold; and a mask that is no numbers."""
    made = {}
    for kind in ("gpt_oss", "t5"):
        model = tiny(kind)
        path = tmp_path_factory.mktemp(kind) / "seen.safetensors"
        with recorded(model) as seen:
            output = model(**inputs_of(model))
            output[0].sum().backward()
        seen.save(path)
        made[kind] = path
    return made


def parts_of(path):
    """What is said in a file, and its tensors."""
    with safe_open(path, "pt") as file:
        names = file.keys()
        return file.metadata(), {each: file.get_tensor(each) for each in names}


@pytest.mark.parametrize(("name", "change", "wrong"), CHANGED)
def test_a_tensor_in_a_file_that_cannot_be_is_refused_by_its_name(
    saved, tmp_path, name, change, wrong
):
    about, tensors = parts_of(saved["t5" if name == "position_bias" else "gpt_oss"])
    at = next(each for each in tensors if each.partition(".")[2] == name)
    save_file(tensors, tmp_path / "as it was.safetensors", about)
    assert len(load_recording(tmp_path / "as it was.safetensors")) > 1
    tensors[at] = change(tensors[at]).contiguous()
    save_file(tensors, tmp_path / "seen.safetensors", about)
    with pytest.raises(ValueError, match=wrong):
        load_recording(tmp_path / "seen.safetensors")


def test_a_mask_of_true_and_false_is_read(saved, tmp_path):
    about, tensors = parts_of(saved["gpt_oss"])
    for name in [each for each in tensors if each.endswith(".mask")]:
        tensors[name] = tensors[name] == 0
    save_file(tensors, tmp_path / "seen.safetensors", about)
    hidden, known = (load_recording(each)[0].weights() for each in (
        tmp_path / "seen.safetensors", saved["gpt_oss"]))  # fmt: skip
    assert torch.allclose(hidden, known)
