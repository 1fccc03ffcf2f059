"""Every family that is computed here gives what `transformers` gives."""

import re
from itertools import product

import pytest
import torch
from safetensors.torch import load_file, save_file

from attention_core import program
from attention_core.real_model.by_config import Described
from attention_core.real_model.layer_trace import layer_trace
from attention_core.real_model.model import Model, open_model
from attention_core.real_model.run import logits, normed, run
from checks import held, run_anew
from gguf_files import written
from model_folders import EACH_KIND, FAMILIES, config, in_gguf, make
from sampling import each_once, marked


def last(found):
    """The last that a model makes of a text: logits, or vectors where it says no next token."""
    model = found.model
    if model.settings.predicts:
        return logits(found)
    if model.settings.norms == "after":
        return found.final
    return normed(model.settings, found.final, *model.norm("final_norm"))


IDS = (3, 17, 5, 5, 41, 29, 52, 0, 8, 11, 5)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_computes_what_transformers_computes(tmp_path, name):
    reference = make(tmp_path, name)
    model = open_model(tmp_path)
    found = run(model, IDS)
    wanted = reference(torch.tensor([IDS]), output_attentions=True, output_hidden_states=True)
    torch.testing.assert_close(found.weights, torch.cat(wanted.attentions), atol=1e-4, rtol=0)
    streams = torch.cat(wanted.hidden_states[: len(found.before)])
    torch.testing.assert_close(found.before, streams, atol=1e-4, rtol=1e-4)
    if "logits" not in wanted:
        if not model.settings.predicts:
            torch.testing.assert_close(last(found), wanted[0][0], atol=1e-4, rtol=1e-4)
    elif model.settings.predicts:
        torch.testing.assert_close(logits(found), wanted.logits[0], atol=1e-4, rtol=1e-4)
    assert model.quantised is None


HAS_MOST = ("llama biases", "granite biases", "qwen3 biases", "gpt2 untied", *EACH_KIND)
"""Together they have every tensor that there is in any."""


@pytest.mark.parametrize("name", marked(FAMILIES, HAS_MOST, pytest.mark.slow("1 s: all others")))
def test_every_tensor_of_a_file_is_read_or_known_to_change_nothing(tmp_path, name):
    make(tmp_path, name)
    model = open_model(tmp_path)
    read, spoilt = model.source.matrix, None
    model.source.matrix = lambda name, rows=None: (
        read(name, rows) * (float("nan") if name == spoilt else 1)
    )
    for spoilt in model.source.places:
        described = Described(model.family, model.settings, model.names)
        found = run(Model("of which nothing is kept", model.source, described, None, None), IDS)
        said = last(found)
        bare = spoilt.removeprefix(model.names.beginning)
        unread = any(re.fullmatch(each, bare) for each in model.names.ignored)
        assert said.isnan().any() != unread, spoilt


EMBEDDED = re.compile(r".*\.(embed_tokens|wte|embed_in)\.weight")


def own_table(tensors):
    tensors["lm_head.weight"] = torch.randn_like(tensors[next(filter(EMBEDDED.match, tensors))])


def same_table(tensors):
    tensors["lm_head.weight"] = tensors[next(filter(EMBEDDED.match, tensors))].clone()


def only_that_table(tensors):
    tensors["lm_head.weight"] = tensors.pop(next(filter(EMBEDDED.match, tensors)))


def older_norms(tensors):
    for name in [each for each in tensors if "LayerNorm" in each]:
        older = name.replace("Norm.weight", "Norm.gamma").replace("Norm.bias", "Norm.beta")
        tensors[older] = tensors.pop(name)


def bare_and_older(tensors):
    older_norms(tensors)
    for name in [*tensors]:
        tensors[name.removeprefix("bert.")] = tensors.pop(name)
    tensors["classifier.weight"] = torch.ones(2, 35)


SPEAKING = {k: n for n, (k, _) in FAMILIES.items() if k.endswith(("CausalLM", "LMHeadModel"))}
TABLES = (own_table, same_table, only_that_table)
STORED = each_once(
    [(name, each) for name in SPEAKING.values() for each in TABLES], "0.2 s: the same of others"
)
STORED += [("bert", older_norms), ("bert", bare_and_older), ("bert masked", older_norms)]


@pytest.mark.parametrize(("name", "store"), STORED)
def test_tensors_as_people_have_them_are_used_as_transformers_uses_them(tmp_path, name, store):
    kind = type(make(tmp_path, name))
    tensors = load_file(tmp_path / "model.safetensors")
    if store in TABLES:
        config(tie_word_embeddings=True)(tmp_path)
        for each in ("lm_head.weight", "embed_out.weight"):
            tensors.pop(each, None)
    store(tensors)
    save_file(tensors, tmp_path / "model.safetensors", {"format": "pt"})
    model = open_model(tmp_path)
    found = run(model, IDS)
    reference = kind.from_pretrained(tmp_path, attn_implementation="eager")
    with torch.no_grad():
        wanted = reference(torch.tensor([IDS]), output_hidden_states=True)
    streams = torch.cat(wanted.hidden_states[: len(found.before)])
    torch.testing.assert_close(found.before, streams, atol=1e-4, rtol=1e-4)
    if model.settings.predicts:
        torch.testing.assert_close(logits(found), wanted.logits[0], atol=1e-4, rtol=1e-4)


@pytest.mark.slow("30 s: every family, every layer, every step")
@pytest.mark.parametrize("name", FAMILIES)
def test_the_trace_of_each_layer_is_what_the_run_has(tmp_path, name):
    make(tmp_path, name)
    model = open_model(tmp_path)
    found = run(model, IDS)
    behind = torch.cat((found.before[1:], found.final[None]))
    pieces = [f"t{each}" for each in IDS]
    for layer in range(model.settings.n_layers):
        trace = layer_trace(model, found.before[layer], layer, pieces)
        for step, wanted in {
            "head_weights": found.weights[layer],
            "head_context_vectors": found.context_vectors[layer],
            "output": behind[layer],
        }.items():
            torch.testing.assert_close(trace[step].value, wanted, atol=1e-4, rtol=1e-4)
        bias = trace["b_output"].value if "b_output" in trace else 0
        heads = trace["head_outputs"].value.sum(0) + bias
        torch.testing.assert_close(heads, trace["attention_output"].value, atol=1e-4, rtol=1e-4)
        held(trace, layer)


@pytest.mark.parametrize(("name", "parts"), each_once(
    product(sorted({"llama slowed", "gemma2", "gpt2", "bert", *EACH_KIND}), [1, 2]),
    "0.2 s: the same of others",
))  # fmt: skip
def test_a_layer_s_program_reads_its_file_and_gives_its_tensors(tmp_path, monkeypatch, name, parts):
    reference = make(tmp_path, name)
    if parts > 1:
        (tmp_path / "model.safetensors").unlink()
        reference.save_pretrained(tmp_path, max_shard_size="8kB")
    model = open_model(tmp_path)
    trace = layer_trace(model, run(model, IDS).before[1], 1)
    source = program(trace)
    assert str(tmp_path.parent) not in source, "where the server keeps it is nobody's business"
    constants = [line for line in source.splitlines() if line.startswith("MODEL")]
    assert (len(constants) > 1) == (parts > 1)
    monkeypatch.chdir(tmp_path)
    run_anew(trace, rounding=1e-6)


@pytest.mark.parametrize(("stream", "layer", "words"), [
    (torch.zeros(5, 30), 3, "no layer 3: the model has 3"),
    (torch.zeros(5, 29), 0, "5 × 29, but must be tokens × 30"),
    (torch.zeros(257, 30), 0, "257 tokens: 1 to 256"),
])  # fmt: skip
def test_what_cannot_be_traced_is_said(tmp_path, stream, layer, words):
    make(tmp_path, "llama")
    with pytest.raises(ValueError, match=words):
        layer_trace(open_model(tmp_path), stream, layer)


IN_GGUF = ["llama", "llama biases", "llama tied", "llama slowed", "llama linear", "qwen2", "qwen3"]
IN_GGUF += ["gpt2", "gpt2 untied", "gemma2 no biases", "gemma3 pattern", "granite", "olmo2"]
IN_GGUF += ["smollm3"]


@pytest.mark.parametrize("name", IN_GGUF)
def test_a_family_in_a_gguf_file_computes_what_transformers_computes(tmp_path, name):
    reference = make(tmp_path, name)
    file = tmp_path / "model.gguf"
    file.write_bytes(written(*in_gguf(name, reference)))
    model = open_model(file)
    assert model.name == f"A random {name}"
    found = run(model, IDS)
    wanted = reference(torch.tensor([IDS]), output_attentions=True)
    torch.testing.assert_close(found.weights, torch.cat(wanted.attentions), atol=1e-4, rtol=0)
    torch.testing.assert_close(logits(found), wanted.logits[0], atol=1e-4, rtol=1e-4)
    trace = layer_trace(model, found.before[1], 1)
    torch.testing.assert_close(trace["output"].value, found.before[2], atol=1e-4, rtol=1e-4)
    held(trace, 1)


def slowed(by, **says):
    """By the first of two words for how much, unless it is said that they are not."""
    words = {"type": "scaling.type", "factor": "scaling.factor", "older": "scale_linear"}
    rates = tuple(500.0 ** (-pair / 7) / by for pair in range(7))
    says = {f"rope.{words[name]}": each for name, each in says.items()}
    return "llama linear", says, {"rates": (rates,) * 3}


@pytest.mark.parametrize(("name", "says", "means"), [
    slowed(4.0), slowed(4.0, type=...), slowed(1.0, type="none"), slowed(1.0, factor=...),
    slowed(2.0, type=..., factor=..., older=2.0), slowed(4.0, older=2.0),
    ("granite", {"rope.scaling.finetuned": False}, {"rates": (), "rotary_base": None}),
    ("granite", {"rope.scaling.finetuned": True}, {"rotary_pairs": "neighbours"}),
    ("gemma2 no biases", dict.fromkeys(("attn_logit_softcapping", "final_logit_softcapping",
     "attention.sliding_window"), ...), {"score_cap": 50.0, "logit_cap": 30.0,
     "windows": (4096, None, 4096)}),
])  # fmt: skip
def test_what_a_gguf_file_says_or_leaves_out_is_as_llama_cpp_has_it(tmp_path, name, says, means):
    """Granite takes a word that others only print for a switch; Gemma 2 has numbers of its own."""
    fields, tensors = in_gguf(name, make(tmp_path, name))
    fields |= {f"{name.split()[0]}.{each}": value for each, value in says.items()}
    file = tmp_path / "model.gguf"
    file.write_bytes(written({n: each for n, each in fields.items() if each is not ...}, tensors))
    model = open_model(file)
    assert {each: getattr(model.settings, each) for each in means} == means
    found = run(model, IDS)
    trace = layer_trace(model, found.before[1], 1)
    torch.testing.assert_close(trace["output"].value, found.before[2], atol=1e-4, rtol=1e-4)
