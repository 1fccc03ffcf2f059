"""The tiny language's network as a model's folder: a GPT-2 whose norms and biases do nothing."""

import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..files import tensor_file
from ..operations.layers import EPSILON
from ..small_models.grammar import START, WORDS
from ..small_models.shipped import weights
from ..small_models.tiny_language import SIZE

TINY = Path(__file__).with_name("tiny_language")
"""The folder that comes with the package."""
CONFIG = {
    "model_type": "gpt2",
    "architectures": ["GPT2LMHeadModel"],
    "vocab_size": SIZE.n_tokens,
    "n_positions": SIZE.n_positions,
    "n_embd": SIZE.d_model,
    "n_layer": SIZE.n_layers,
    "n_head": SIZE.n_heads,
    "n_inner": 0,
    "layer_norm_epsilon": EPSILON,
    "tie_word_embeddings": False,
}
MARKS = '"“”().<>'
WORD_OR_MARK = rf"[{MARKS}]|[^\s{MARKS}]+"


def tensors() -> dict[str, Tensor]:
    """The network's weights by the names that GPT-2 has for them."""
    own, d_model = weights(), SIZE.d_model
    ones, zeros = torch.ones(d_model), torch.zeros(d_model)
    found = {
        "transformer.wte.weight": own["W_token"],
        "transformer.wpe.weight": own["W_position"],
        "transformer.ln_f.weight": ones,
        "transformer.ln_f.bias": zeros,
        "lm_head.weight": own["W_unembed"].T,
    }
    for layer in range(SIZE.n_layers):
        # (head, d_model, d_head): the columns of all heads side by side
        joined = [
            own[name][layer].transpose(0, 1).flatten(1) for name in ("W_query", "W_key", "W_value")
        ]
        beginning = f"transformer.h.{layer}."
        found |= {
            f"{beginning}ln_1.weight": ones,
            f"{beginning}ln_1.bias": zeros,
            f"{beginning}attn.c_attn.weight": torch.cat(joined, dim=1),
            f"{beginning}attn.c_attn.bias": torch.zeros(3 * d_model),
            f"{beginning}attn.c_proj.weight": own["W_output"][layer].flatten(0, 1),
            f"{beginning}attn.c_proj.bias": zeros,
        }
    return {name: each.contiguous().clone() for name, each in found.items()}


def tokenizer() -> dict[str, Any]:
    """What cuts a text into the language's words, as a `tokenizer.json` has it."""
    start = {"SpecialToken": {"id": START, "type_id": 0}}
    return {
        "version": "1.0",
        "added_tokens": [
            {
                "id": WORDS.index(START),
                "content": START,
                "special": True,
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
            }
        ],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Lowercase"},
                # a straight quotation mark opens behind a space, and closes anywhere else
                {"type": "Replace", "pattern": {"Regex": r'(?<=^|\s)"'}, "content": "“"},
                {"type": "Replace", "pattern": {"String": '"'}, "content": "”"},
            ],
        },
        "pre_tokenizer": {
            "type": "Split",
            "pattern": {"Regex": WORD_OR_MARK},
            "behavior": "Removed",
            "invert": True,
        },
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [start, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [start, {"Sequence": {"id": "A", "type_id": 0}}],
            "special_tokens": {
                START: {"id": START, "ids": [WORDS.index(START)], "tokens": [START]}
            },
        },
        "decoder": None,
        # No word stands for the unknown: the library then refuses what it does not know.
        "model": {
            "type": "WordLevel",
            "vocab": {word: place for place, word in enumerate(WORDS)},
            "unk_token": "",
        },
    }


def write(folder: Path = TINY) -> None:
    """Write the model's folder."""
    folder.mkdir(exist_ok=True)
    tensor_file.write(folder / "model.safetensors", tensors(), {"format": "pt"})
    for name, content in (("config.json", CONFIG), ("tokenizer.json", tokenizer())):
        text = json.dumps(content, indent=1, ensure_ascii=False)
        (folder / name).write_text(text + "\n", encoding="utf-8")
