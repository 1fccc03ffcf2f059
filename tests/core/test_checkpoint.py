"""A layer of a model's file on vectors of one's own: as `transformers` has it, or refused."""

import contextlib
import json
import math
from random import Random

import pytest
import torch
from safetensors.torch import load_file, save_file

from attention_core import from_checkpoint, program
from attention_core.operations import Stored
from attention_core.real_model.checkpoint import described
from checks import same, taken_apart_and_run_anew
from model_folders import EACH_KIND, SLOWED, make

IDS = torch.tensor([[3, 17, 5, 5, 41, 29, 52, 0], [8, 11, 5, 3, 3, 0, 7, 7]])
NAMES = ["llama biases", "llama slowed", "llama one key head", "mistral", "qwen2 window"]
NAMES += ["qwen3 window", "gemma2 tight caps", "gemma3", "gpt2", "gpt2 bare", "bert", "bert masked"]
NAMES += ["phi3", "gpt_neox", *sorted({*EACH_KIND} - {*NAMES})]


def taken(folder, name):
    """What attention in layer 1 of a new model is given, its weights, and what it makes."""
    reference = make(folder, name)
    names = described(json.loads((folder / "config.json").read_text())).names.of_layer
    found = {}
    for role in ("query", "output"):
        path = names[f"W_{role}"].name.format(1).removesuffix(".weight")
        modules = dict(reference.named_modules())
        module = modules.get(path) or modules[path.partition(".")[2]]
        module.register_forward_hook(
            lambda _, given, made, role=role: found.update({role: (given[0], made)})
        )
    with torch.no_grad():
        weights = reference(IDS, output_attentions=True).attentions[1]
    return found["query"][0], weights, found["output"][1].view(*IDS.shape, -1)


@pytest.mark.parametrize("name", NAMES)
def test_a_layer_s_attention_is_that_of_transformers(tmp_path, monkeypatch, name):
    vectors, weights, output = taken(tmp_path, name)
    both = from_checkpoint(tmp_path, 1, vectors)
    same(both["output"].value, output)
    one = from_checkpoint(tmp_path / "model.safetensors", 1, vectors[0], tokens=list("abcdefgh"))
    same(one["head_weights"].value, weights[0])
    assert one.labels("key") == tuple("abcdefgh")
    monkeypatch.chdir(tmp_path)  # its program names the file alone
    taken_apart_and_run_anew(one, every=97)


@pytest.mark.parametrize("name", EACH_KIND)
def test_a_base_that_is_given_is_used_or_refused(tmp_path, name):
    vectors, *_ = taken(tmp_path, name)
    if name.split()[0] in ("gpt2", "bert", "gemma3", "olmo3"):
        with pytest.raises(ValueError, match="has no rotary_base to choose"):
            from_checkpoint(tmp_path, 1, vectors[0], rotary_base=77.0)
        return
    made = [from_checkpoint(tmp_path, 1, vectors[0], rotary_base=base) for base in (None, 77.0)]
    plain, other = (each["output"].value for each in made)
    assert torch.equal(plain, other) != ("turned_queries" in made[0])


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    folders = {name: tmp_path_factory.mktemp(name) for name in ("llama", "gpt2")}
    return {name: (folder, *taken(folder, name)) for name, folder in folders.items()}


@pytest.fixture
def changed(kept, tmp_path):
    """The file of a model of which some tensors, and settings, are changed; ... for none."""

    def of(name, tensors, settings, dtype=torch.float32):
        folder, vectors, _, output = kept[name]
        has = {each: numbers.to(dtype) for each, numbers in load_file(_file(folder)).items()}
        has = {each: numbers for each, numbers in (has | tensors).items() if numbers is not ...}
        save_file(has, _file(tmp_path))
        if settings is not ...:
            values = json.loads((folder / "config.json").read_text()) | settings
            values = {each: value for each, value in values.items() if value is not ...}
            (tmp_path / "config.json").write_text(json.dumps(values))
        return _file(tmp_path), vectors[0], output[0]

    return of


def _file(folder):
    return folder / "model.safetensors"


def test_of_gpt2_the_matrices_of_a_layer_and_the_number_of_heads_are_enough(changed):
    others = dict.fromkeys(("transformer.wte.weight", "transformer.h.0.attn.c_attn.weight"), ...)
    path, vectors, output = changed("gpt2", others, ...)
    trace = from_checkpoint(path, 1, vectors, n_heads=5)
    same(trace["output"].value, output)
    read = {step.operation.name for step in trace.values() if isinstance(step.operation, Stored)}
    assert read == {
        f"transformer.h.1.attn.c_{to}.{kind}"
        for to in ("attn", "proj")
        for kind in ("weight", "bias")
    }


def test_what_is_given_counts_before_what_the_config_says(changed):
    settings = {"num_attention_heads": 3, "num_key_value_heads": 3}
    settings["rope_parameters"] = {"rope_theta": 9.0, "rope_type": "default"}
    path, vectors, output = changed("llama", {}, settings)
    given = {"n_heads": 6, "n_kv_heads": 2, "rotary_base": 10000.0}
    same(from_checkpoint(path, 1, vectors, **given)["output"].value, output)
    seen = from_checkpoint(path, 1, vectors, **given, causal=False)["head_weights"].value
    assert (seen > 0).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_numbers_in_16_bits_are_computed_in_32(changed, dtype):
    path, vectors, output = changed("gpt2", {}, {}, dtype)
    trace = from_checkpoint(path, 1, vectors)
    torch.testing.assert_close(trace["output"].value, output, atol=0.1, rtol=0.1)
    names = {"__name__": "a program"}
    with contextlib.chdir(path.parent):
        exec(program(trace), names)
    assert torch.equal(names["output"], trace["output"].value)


Q, NORM = "model.layers.1.self_attn.q_proj.weight", "model.layers.1.self_attn.q_norm.weight"
NAN = torch.ones(84, 30)
NAN[3, 5] = math.nan
REFUSED = [
    ("llama", {}, {}, {"layer": 7}, "there is no layer 7: the model has 3"),
    ("llama", {}, {}, {"layer": -1}, "there is no layer -1"),
    *(("llama", {}, {}, {"layer": each}, "must be a whole number") for each in ([0], 0.5, "0")),
    ("llama", {Q: ...}, {}, {}, f"has no tensor {Q}"),
    ("llama", {Q: torch.ones(84, 31)}, {}, {}, "is 84 × 31, but by its settings it must be 84"),
    ("llama", {Q: torch.tensor(2.0)}, {}, {}, "is one number, but by its settings"),
    ("llama", {Q: torch.ones(84, 30).long()}, {}, {}, f"{Q} in model.safetensors has numbers of"),
    ("llama", {Q: NAN}, {}, {}, f"{Q} has nan at [3, 5]: all of its numbers must be finite"),
    ("llama", {NORM: torch.ones(14)}, {}, {}, f"{NORM}, which is not known here"),
    ("llama", {}, ..., {"n_heads": 6}, "there is no config.json beside model.safetensors"),
    ("llama", {}, {"model_type": "mixtral"}, {}, 'model_type in config.json is "mixtral"'),
    ("llama", {}, {}, {"hidden_states": torch.ones(2, 3)}, "hidden_states are 3 wide"),
    ("llama", {}, {}, {"n_heads": 5}, "5 query heads, which cannot be shared evenly among 2"),
    *(("llama", {}, {}, {"n_heads": each}, "n_heads in the call is") for each in (0, True, "6")),
    *(("llama", {}, {}, {"n_kv_heads": each}, "n_kv_heads in the call") for each in (0, [2])),
    *(("llama", {}, {}, {"rotary_base": each}, "rotary_base in") for each in (0.0, "9", 10**400)),
    ("llama", {}, {}, {"heads": 2}, "there is no option 'heads': there are scale"),
    ("llama", {}, {}, {"scale": "wide"}, "scale"),
    ("gpt2", {}, ..., {}, "how many heads there are stands in no tensor: give `n_heads`"),
    ("gpt2", {}, {}, {"n_kv_heads": 1}, "a model of the kind gpt2 has no n_kv_heads to choose"),
    ("gpt2", {}, {}, {"rotary_base": 9.0}, "a model of the kind gpt2 has no rotary_base"),
]


@pytest.mark.parametrize(("name", "tensors", "settings", "given", "words"), REFUSED)
def test_what_does_not_fit_is_refused_in_words(changed, name, tensors, settings, given, words):
    path, vectors, _ = changed(name, tensors, settings)
    with pytest.raises(ValueError) as refused:  # noqa: PT011 every message is looked at
        from_checkpoint(path, **{"layer": 1, "hidden_states": vectors} | given)
    assert words in str(refused.value)
    assert len(str(refused.value)) < 400


def test_files_that_are_none_are_named(changed, tmp_path):
    path, vectors, _ = changed("llama", {}, {})
    for other in (tmp_path / "no.safetensors", tmp_path / ("x" * 5000)):
        with pytest.raises(ValueError, match="cannot be read: ") as refused:
            from_checkpoint(other, 1, vectors)
        assert len(str(refused.value)) < 400
    (tmp_path / "other.safetensors").mkdir()
    path.rename(tmp_path / "one.safetensors")
    with pytest.raises(ValueError, match=r"^other\.safetensors is no file"):
        from_checkpoint(tmp_path, 1, vectors)


def test_no_mutation_of_a_file_or_of_its_config_raises_anything_but_words(changed):
    """Bytes flipped, cut out, put in and doubled, 150 of each: computed or refused."""
    path, vectors, _ = changed("llama", {}, {"rope_parameters": SLOWED})
    draws = Random(3)
    for file, most in ((path, 900), (path.parent / "config.json", 10**6)):
        content = file.read_bytes()
        for _ in range(150):
            broken = bytearray(content)
            at = draws.randrange(min(most, len(content)))
            length = draws.choice([0, 1, 1, 2, 8, 100])
            new = draws.choice(
                [b"", draws.randbytes(1), b"0", b"[", b"null", b"-1", b'"', b"9" * 90]
            )
            broken[at : at + length] = new or broken[at : at + length] * 2
            file.write_bytes(broken)
            with contextlib.suppress(ValueError):  # anything else fails
                from_checkpoint(path, 1, vectors)
        file.write_bytes(content)
