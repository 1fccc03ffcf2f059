"""A model's attention layer from a file: as an independent computation has it, or refused."""

import contextlib
import itertools
import json
import math
import re
import struct
from random import Random

import pytest
import torch

from attention_core import from_checkpoint, program
from attention_core.mechanism import checkpoint
from attention_core.operations import Stored
from checks import same, taken_apart_and_run_anew, turned

N_TOKENS, N_HEADS, D_HEAD = 5, 6, 4
D_IN = N_HEADS * D_HEAD
KINDS = {torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.int64: "I64"}


def random(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)) / 3


def write(path, tensors):
    """A safetensors file, by the format's own words."""
    header, numbers = {"__metadata__": {"format": "pt"}}, b""
    for name, tensor in tensors.items():
        raw = tensor.contiguous().flatten().view(torch.uint8).numpy().tobytes()
        places = [len(numbers), len(numbers) + len(raw)]
        shape, kind = list(tensor.shape), KINDS[tensor.dtype]
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": places}
        numbers += raw
    written = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(written)) + written + numbers)
    return path


def gpt2(prefix="", layers=(0, 1)):
    """Layers by the names of GPT-2, with what such files hold beside them."""
    tensors = {f"{prefix}wte.weight": random(3, D_IN)}
    for layer in layers:
        of = f"{prefix}h.{layer}.attn."
        tensors |= {
            f"{prefix}h.{layer}.ln_1.weight": random(D_IN),
            f"{of}bias": torch.ones(1, 1, 8, 8),
            f"{of}c_attn.weight": random(D_IN, 3 * D_IN, seed=10 * layer + 1),
            f"{of}c_attn.bias": random(3 * D_IN, seed=10 * layer + 2),
            f"{of}c_proj.weight": random(D_IN, D_IN, seed=10 * layer + 3),
            f"{of}c_proj.bias": random(D_IN, seed=10 * layer + 4),
        }
    return tensors


def configured(path, **settings):
    """Write the config.json of a Llama with these settings beside a file, or another model's."""
    plain = {"model_type": "llama", "num_attention_heads": N_HEADS, "num_key_value_heads": 2}
    (path.parent / "config.json").write_text(json.dumps(plain | settings))
    return path


def llama(n_kv=2, layers=(0, 1), biases=False, d_in=13):
    """Layers by the names of Llama, as wide as no head."""
    tensors = {"model.embed_tokens.weight": random(3, d_in)}
    widths = {"q": N_HEADS, "k": n_kv, "v": n_kv}
    for layer in layers:
        of = f"model.layers.{layer}.self_attn."
        for at, (role, n_heads) in enumerate(widths.items()):
            tensors[f"{of}{role}_proj.weight"] = random(n_heads * D_HEAD, d_in, seed=layer + at)
            if biases:
                tensors[f"{of}{role}_proj.bias"] = random(n_heads * D_HEAD, seed=layer + at + 7)
        tensors[f"{of}o_proj.weight"] = random(d_in, N_HEADS * D_HEAD, seed=layer + 5)
    return tensors


def by_gpt2(tensors, layer, vectors):
    """As nanoGPT has it: one product, split, heads in the middle."""
    of = f"h.{layer}.attn."
    weight, bias = (tensors[f"{of}c_attn.{kind}"].float() for kind in ("weight", "bias"))
    queries, keys, values = (
        each.view(*vectors.shape[:-1], N_HEADS, D_HEAD).transpose(-3, -2)
        for each in torch.nn.functional.linear(vectors, weight.T, bias).split(D_IN, dim=-1)
    )
    made = torch.nn.functional.scaled_dot_product_attention(queries, keys, values, is_causal=True)
    joined = made.transpose(-3, -2).reshape(vectors.shape)
    return joined @ tensors[f"{of}c_proj.weight"].float() + tensors[f"{of}c_proj.bias"].float()


def by_llama(tensors, layer, vectors, n_kv, base, mask=None):
    of = f"model.layers.{layer}.self_attn."

    def projected(role, n_heads):
        bias = tensors.get(f"{of}{role}_proj.bias")
        made = torch.nn.functional.linear(vectors, tensors[f"{of}{role}_proj.weight"].float(), bias)
        return made.unflatten(-1, (n_heads, D_HEAD)).transpose(-3, -2)

    made = torch.nn.functional.scaled_dot_product_attention(
        turned(projected("q", N_HEADS), base)[None],
        turned(projected("k", n_kv), base)[None],
        projected("v", n_kv)[None],
        is_causal=mask is None,
        attn_mask=mask,
        enable_gqa=True,
    )[0]
    joined = made.transpose(-3, -2).flatten(-2)
    return joined @ tensors[f"{of}o_proj.weight"].float().T


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("prefix", ["", "transformer."])
def test_gpt2_s_names_give_gpt2_s_attention(tmp_path, dtype, prefix):
    tensors = {name: each.to(dtype) for name, each in gpt2(prefix).items()}
    path = write(tmp_path / "model.safetensors", tensors)
    plain = {name.removeprefix(prefix): each for name, each in tensors.items()}
    for front, layer in itertools.product([(), (2,)], [0, 1]):
        vectors = 3 * random(*front, N_TOKENS, D_IN, seed=8)
        trace = from_checkpoint(path, layer, vectors, n_heads=N_HEADS)
        same(trace["output"].value, by_gpt2(plain, layer, vectors))
    assert trace["W_key"].value.equal(tensors[f"{prefix}h.1.attn.c_attn.weight"][:, 24:48].float())


@pytest.mark.parametrize(("n_kv", "biases"), [(1, False), (2, True), (6, False)])
def test_llama_s_names_give_llama_s_attention(tmp_path, n_kv, biases):
    tensors = llama(n_kv, biases=biases)
    half = len(tensors) // 2
    for part, names in enumerate((list(tensors)[:half], list(tensors)[half:])):
        write(tmp_path / f"model-{part}.safetensors", {name: tensors[name] for name in names})
    config = {"model_type": "llama", "num_attention_heads": N_HEADS, "rope_theta": 50.0}
    config |= {"num_key_value_heads": n_kv, "rope_scaling": None}
    (tmp_path / "config.json").write_text(json.dumps(config))
    vectors = 3 * random(N_TOKENS, 13, seed=8)
    trace = from_checkpoint(tmp_path, 1, vectors, tokens=list("abcde"))
    same(trace["output"].value, by_llama(tensors, 1, vectors, n_kv, 50.0))
    assert trace.labels("key") == tuple("abcde")


def test_a_sliding_window_and_newer_settings_are_kept(tmp_path):
    path, vectors = write(tmp_path / "some.safetensors", llama()), random(N_TOKENS, 13, seed=8)
    config = {"model_type": "mistral", "num_attention_heads": N_HEADS, "num_key_value_heads": 2}
    config |= {"rope_parameters": {"rope_type": "default", "rope_theta": 70.0}, "sliding_window": 2}
    mask = torch.ones(N_TOKENS, N_TOKENS, dtype=torch.bool).tril().triu(-1)
    for kinds, seen in ((None, mask), (["full_attention"] * 2, None)):
        (tmp_path / "config.json").write_text(json.dumps(config | {"layer_types": kinds}))
        want = by_llama(llama(), 0, vectors, 2, 70.0, seen)
        same(from_checkpoint(path, 0, vectors)["output"].value, want)


def slowed(rates, factor, low, high, places):
    """As Meta's reference code has it: by wavelengths."""
    made = []
    for rate in rates.tolist():
        wavelength = 2 * math.pi / rate
        if wavelength < places / high:
            made.append(rate)
        elif wavelength > places / low:
            made.append(rate / factor)
        else:
            smooth = (places / wavelength - low) / (high - low)
            made.append((1 - smooth) * rate / factor + smooth * rate)
    return torch.tensor(made)


def test_slowed_rotary_positions_are_those_of_llama_3(tmp_path):
    """Of a head that is 32 wide: some pairs are left, some slowed, some in between."""
    width, of = 32, "model.layers.0.self_attn."
    tensors = {
        f"{of}{each}_proj.weight": random(2 * width, 64, seed=at) for at, each in enumerate("qkvo")
    }
    path = write(tmp_path / "some.safetensors", tensors)
    config = {"model_type": "llama", "num_attention_heads": 2, "rope_theta": 500.0}
    (tmp_path / "config.json").write_text(json.dumps(config | {"rope_scaling": SLOW}))
    trace = from_checkpoint(path, 0, random(N_TOKENS, 64, seed=8))
    rates = 1 / 500.0 ** (torch.arange(0, width, 2) / width)
    want = slowed(rates, 8.0, 1.0, 4.0, 64)
    same(trace["query_angles"].value, torch.outer(torch.arange(N_TOKENS), want))
    shares = (want / rates).tolist()
    assert 1.0 in shares
    assert 0.125 in [round(share, 5) for share in shares]
    assert any(0.2 < share < 0.9 for share in shares)
    angles = trace["key_angles"]
    assert angles.arithmetic((3, 5)).value == pytest.approx(angles.value[3, 5].item())
    names = {"__name__": "program"}
    exec(program(trace), names)
    assert names["output"].equal(trace["output"].value)


@pytest.mark.parametrize("made", [gpt2, llama])
def test_every_step_can_be_taken_apart_and_runs_anew(tmp_path, made):
    path = write(tmp_path / "some.safetensors", made())
    vectors = random(3, D_IN if made is gpt2 else 13, seed=8)
    if made is llama:
        configured(path)
    trace = from_checkpoint(path, 1, vectors, n_heads=N_HEADS)
    taken_apart_and_run_anew(trace, every=37)


def test_of_a_file_only_one_layer_is_read(tmp_path):
    path = write(tmp_path / "some.safetensors", gpt2(layers=range(3)))
    trace = from_checkpoint(path, 1, random(2, D_IN), n_heads=N_HEADS)
    read = [step.operation for step in trace.values() if isinstance(step.operation, Stored)]
    assert {each.name for each in read} == {
        f"h.1.attn.{name}.{kind}" for name in ("c_attn", "c_proj") for kind in ("weight", "bias")
    }


@pytest.mark.parametrize(
    ("settings", "is_seen"),
    [
        ({"model_type": "qwen2", "sliding_window": 2}, None),
        ({"model_type": "qwen2", "sliding_window": 2, "use_sliding_window": True}, None),
        (
            {"model_type": "qwen2", "sliding_window": 2, "use_sliding_window": True}
            | {"max_window_layers": 0},
            2,
        ),
        ({"model_type": "mistral", "sliding_window": 2}, 2),
        ({"model_type": "mistral", "sliding_window": None}, None),
        ({"model_type": "mistral", "sliding_window": 2, "layer_types": ["full_attention"]}, None),
        ({"model_type": "mistral"}, None),
    ],
    ids=str,
)
def test_a_window_is_used_where_the_model_s_own_code_uses_it(tmp_path, settings, is_seen):
    """What a config.json does not say is as in transformers: Qwen2 has a window only if asked."""
    path, vectors = write(tmp_path / "some.safetensors", llama()), random(N_TOKENS, 13, seed=8)
    configured(path, **settings)
    mask = torch.ones(N_TOKENS, N_TOKENS, dtype=torch.bool).tril()
    mask = mask if is_seen is None else mask.triu(1 - is_seen)
    want = by_llama(llama(), 0, vectors, 2, 10000.0, mask)
    same(from_checkpoint(path, 0, vectors)["output"].value, want)


# --- refusals -------------------------------------------------------------------------------------


def without(tensors, name):
    return {each: tensor for each, tensor in tensors.items() if each != name}


Q, OUT = "model.layers.0.self_attn.q_proj.weight", "model.layers.0.self_attn.o_proj.weight"
NORM = "model.layers.0.self_attn.q_norm.weight"
C, C_BIAS, OUT_BIAS = "h.0.attn.c_attn.weight", "h.0.attn.c_attn.bias", "h.0.attn.c_proj.bias"
SLOW = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
SLOW |= {"original_max_position_embeddings": 64}
YARN, BY_LAYER = {"rope_type": "yarn"}, "scale_attn_by_inverse_layer_idx"
HEADS, KV = {"n_heads": N_HEADS}, {"n_heads": N_HEADS, "n_kv_heads": 2}
REFUSED = [
    ("some.safetensors has no attention layer by the", {"a": random(2)}, {}, HEADS),
    ("there is no layer 7 in some.safetensors: ", gpt2(), {}, HEADS | {"layer": 7}),
    ("there is no layer -1 in some.safetensors", llama(), {}, KV | {"layer": -1}),
    (f"{C} is missing in some.safetensors", without(gpt2(), C), {}, HEADS),
    (f"{OUT_BIAS} is missing in some.safetensors", without(gpt2(), OUT_BIAS), {}, HEADS),
    (f"{Q} is missing in some.safetensors", without(llama(), Q), {}, KV),
    (f"{OUT} is missing in some.safetensors", without(llama(), OUT), {}, KV),
    (f"{C} is 13 × 72, but the vectors before", gpt2() | {C: random(13, 72)}, {}, HEADS),
    (f"{C} is 72 × 24, but the vectors before", gpt2() | {C: random(72, 24)}, {}, HEADS),
    (f"{C} has 70 columns, which are no th", gpt2() | {C: random(24, 70)}, {}, HEADS),
    ("axis 'd_qkv' is 70 long in 'qkv_bias' but 72", gpt2() | {C_BIAS: random(70)}, {}, HEADS),
    (f"{Q} is 24 × 11, but the vectors before it are 13 wide: it", llama(d_in=11), {}, KV),
    (f"{OUT} is 13 × 7, but the vectors before", llama() | {OUT: random(13, 7)}, {}, KV),
    (f"{Q} is 24: it needs 2 axes, not 1", llama() | {Q: random(24)}, {}, KV),
    (f"{C} has numbers of kind I64", gpt2() | {C: torch.ones(24, 72).long()}, {}, HEADS),
    ("24 columns of queries cannot be shared evenly among 5", gpt2(), {}, {"n_heads": 5}),
    ("how many heads there are stands in no tensor: give `n_heads`", gpt2(), {}, {}),
    ("8 columns of keys cannot be shared evenly among 6", llama(), {}, HEADS),
    (f"{NORM} in some.safetensors is nothing that a", llama() | {NORM: random(4)}, {}, KV),
    ('model_type in config.json is "gemma2", but must', llama(), {"model_type": "gemma2"}, KV),
    *(
        (said, llama(), {"rope_scaling": scaling}, KV)
        for said, scaling in (
            ('rope_type in rope_scaling of config.json is "yarn", but must be', YARN),
            ("config.json has no low_freq_factor for its rotary", without(SLOW, "low_freq_factor")),
            (
                "rotary positions slowed by (8.0, 4.0, 4.0, 64): cho",
                SLOW | {"low_freq_factor": 4.0},
            ),
        )
    ),
    (f"{BY_LAYER} in config.json is true, but must be false", gpt2(), {BY_LAYER: True}, HEADS),
    ("GPT-2 has no rotary positions: leave", gpt2(), {}, HEADS | {"rotary_base": 9.0}),
    ("GPT-2 has as many key heads as query", gpt2(), {}, HEADS | {"n_kv_heads": 2}),
    ("config.json beside some.safetensors holds no settings by name", gpt2(), [1], HEADS),
    ("there is no option 'heads': there are scale", gpt2(), {}, HEADS | {"heads": 2}),
]


@pytest.mark.parametrize(("said", "tensors", "config", "options"), REFUSED)
def test_what_does_not_fit_is_refused_in_words(tmp_path, said, tensors, config, options):
    path = write(tmp_path / "some.safetensors", tensors)
    if config == [1]:
        (tmp_path / "config.json").write_text("[1]")
    elif config or any("model." in each for each in tensors):
        plain = {"num_key_value_heads": None} | ({"model_type": "gpt2"} if C in tensors else {})
        configured(path, **(plain | config))
    width = 13 if any("model." in each for each in tensors) else D_IN
    options = {"layer": 0} | options
    with pytest.raises(ValueError, match=f"^{re.escape(said)}"):
        from_checkpoint(path, hidden_states=random(N_TOKENS, width), **options)


def test_a_file_that_is_not_there_or_broken_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*some\.safetensors"):
        from_checkpoint(tmp_path / "some.safetensors", 0, random(2, 3))
    with pytest.raises(FileNotFoundError, match="there is no safetensors file in"):
        from_checkpoint(tmp_path, 0, random(2, 3))
    path = write(tmp_path / "some.safetensors", gpt2())
    (tmp_path / "config.json").write_text("{never")
    with pytest.raises(ValueError, match=r"^config\.json beside some\.safetensors cannot be read"):
        from_checkpoint(path, 0, random(2, D_IN))
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match=r"^some\.safetensors is cut off"):
        from_checkpoint(path, 0, random(2, D_IN))


def test_llama_s_names_without_a_config_are_refused(tmp_path):
    """Gemma 2 caps its scores and Mixtral has another base, by the same names."""
    path = write(tmp_path / "some.safetensors", llama())
    for given in (path, tmp_path):
        with pytest.raises(ValueError, match=r"^there is no config\.json beside .* model_type"):
            from_checkpoint(given, 0, random(2, 13), **KV, rotary_base=10000.0)
    gemma = configured(path, model_type="gemma2")
    with pytest.raises(ValueError, match="gemma2"):
        from_checkpoint(gemma, 0, random(2, 13), **KV)


SLIDING = {"model_type": "qwen2", "use_sliding_window": True, "sliding_window": 2}
DEEP = "[" * 100_000
# What a setting of a Llama must not be: as a value, or as JSON where Python writes none such.
WRONG = {
    "model_type": ["gemma2", None, 3, ["llama"], {}, "x" * 800_000, "gpt2"],
    "num_attention_heads": [0, -1, 6.5, "6", True, [6], 10**400, None],
    "num_key_value_heads": [0, -1, 2.5, "2", True, {}, 10**400, 4],
    "head_dim": [0, "4", 5],
    "rope_theta": ["10000", True, 0, -1, 1e-308, [1], {}, int("9" * 401)],
    "rope_scaling": [3, "plain", [1], {"factor": 2.0}, {"type": "linear"}, {"rope_type": []}]
    + [{"type": "default", "x" * 10**5: 1}, {"full_attention": {}}]
    + [SLOW | {name: value} for name in SLOW for value in ("x", [1], True, 0, 10**401, {})],
    "rope_parameters": [{"rope_type": "default", "rope_theta": each} for each in ("1", True, 0)],
    "partial_rotary_factor": [0.5, True, "1"],
    "sliding_window": [2],
    "use_sliding_window": ["no", 1, [True]],
    "max_window_layers": ["1", -1, 1.5, [1]],
    "layer_types": [["sliding_attention"], ["global"], "full_attention", 3, [[]], [], {}],
    "scale_attn_weights": ["x", False, 0, 1],
    "scale_attn_by_inverse_layer_idx": [True, "no", 0],
}
CONFIGS = [{name: value} for name, values in WRONG.items() for value in values]
CONFIGS += [SLIDING | {name: value} for name in ("sliding_window",) for value in ("2", 0, True, [])]
CONFIGS += [SLIDING | {"layer_types": ["full_attention"] * n, "layer": n} for n in (0, 1)]
CONFIGS += [b"{never", b"[1]", b"\xff\xfe", b"", b'{"rope_theta": 1e400}', DEEP.encode()]
CONFIGS += [b'{"model_type": "llama", "rope_theta": NaN}', b'{"a": ' + b"9" * 5000 + b"}"]
CONFIGS += [b'{"rope_scaling": ' + DEEP.encode(), b" " * 2**21]


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: repr(config)[:60])
def test_a_config_that_cannot_be_is_refused_in_short_words(tmp_path, config):
    path, layer = write(tmp_path / "some.safetensors", llama()), 0
    if isinstance(config, bytes):
        (tmp_path / "config.json").write_bytes(config)
    else:
        layer = config.get("layer", 0)
        configured(path, **{name: each for name, each in config.items() if name != "layer"})
    with pytest.raises(ValueError) as error:  # noqa: PT011 every message is looked at
        from_checkpoint(path, layer, random(N_TOKENS, 13))
    assert re.search(r"config\.json|shared evenly|how many heads|no layer", str(error.value))
    assert len(str(error.value)) < 300


@pytest.mark.parametrize(
    "options",
    [
        {"layer": [0]},
        {"layer": 0.0},
        {"layer": "0"},
        {"n_heads": 0},
        {"n_heads": True},
        {"n_heads": "6"},
        {"n_kv_heads": 0},
        {"n_kv_heads": [2]},
        {"rotary_base": 0.0},
        {"rotary_base": 1e-308},
        {"rotary_base": 10**400},
        {"rotary_base": "9"},
        {"scale": 10**400},
    ],
    ids=lambda options: repr(options)[:40],
)
def test_what_is_given_wrongly_is_not_taken_as_not_given(tmp_path, options):
    path = configured(write(tmp_path / "some.safetensors", llama()))
    (name,) = options
    with pytest.raises(ValueError, match=rf"^{name} is .*must be"):
        from_checkpoint(path, **({"layer": 0, "hidden_states": random(2, 13)} | options))


def test_matrices_that_cannot_be_are_refused(tmp_path, monkeypatch):
    """Of another number of axes, empty, not finite, or larger than memory may be."""
    nan = random(24, 13)
    nan[3, 5] = math.nan
    cases = {
        "a single number": torch.tensor(2.0),
        "24 × 0": torch.ones(24, 0),
        "nan at [3, 5]": nan,
    }
    for said, matrix in cases.items():
        path = configured(write(tmp_path / "some.safetensors", llama() | {Q: matrix}))
        with pytest.raises(ValueError, match=f"^{re.escape(Q)} .*{re.escape(said)}"):
            from_checkpoint(path, 0, random(2, 13))
    path = configured(write(tmp_path / "some.safetensors", llama()))
    monkeypatch.setattr(checkpoint, "LARGEST", 24 * 13 - 1)
    with pytest.raises(
        ValueError, match=rf"^{re.escape(Q)} is 24 × 13: from one number to 311 can"
    ):
        from_checkpoint(path, 0, random(2, 13))


def test_a_name_in_two_files_and_a_folder_or_a_loop_in_place_of_a_file_are_refused(tmp_path):
    path = configured(write(tmp_path / "some.safetensors", llama()))
    write(tmp_path / "other.safetensors", {Q: random(24, 13)})
    with pytest.raises(
        ValueError, match=r"^model.* stands in two files, other\.safetensors and som"
    ):
        from_checkpoint(tmp_path, 0, random(2, 13))
    (tmp_path / "other.safetensors").unlink()
    (tmp_path / "other.safetensors").mkdir()
    with pytest.raises(ValueError, match=r"^other\.safetensors is no file"):
        from_checkpoint(tmp_path, 0, random(2, 13))
    config = tmp_path / "config.json"
    for make, said in (
        (config.mkdir, "is no file"),
        (lambda: config.symlink_to(config), "cannot be read: Too many levels"),
        (lambda: config.symlink_to("nothing"), "cannot be read: No such file"),
    ):
        config.rmdir() if config.is_dir() else config.unlink()
        make()
        with pytest.raises(ValueError, match=rf"^config\.json {said}"):
            from_checkpoint(path, 0, random(2, 13))


def test_no_mutation_of_a_file_or_of_its_config_raises_anything_but_words(tmp_path):
    """Bytes flipped, cut out, put in and doubled, 150 of each: computed or refused."""
    path = configured(write(tmp_path / "some.safetensors", llama()))
    config, draws = tmp_path / "config.json", Random(3)
    config.write_text(json.dumps(json.loads(config.read_text()) | {"rope_scaling": SLOW}))
    for file, most in ((path, 900), (config, 10**6)):
        content = file.read_bytes()
        for _ in range(150):
            changed = bytearray(content)
            at = draws.randrange(min(most, len(content)))
            length = draws.choice([0, 1, 1, 2, 8, 100])
            new = draws.choice(
                [b"", draws.randbytes(1), b"0", b"[", b"null", b"-1", b'"', b"9" * 90]
            )
            changed[at : at + length] = new or changed[at : at + length] * 2
            file.write_bytes(changed)
            with contextlib.suppress(ValueError):  # anything else fails
                from_checkpoint(path, 0, random(2, 13))
        file.write_bytes(content)
