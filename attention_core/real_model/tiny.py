"""The tiny language's network as a model's folder: a GPT-2 whose norms and biases do nothing."""

from pathlib import Path

import torch
from torch import Tensor

from ..files import tensor_file
from ..small_models.shipped import weights
from ..small_models.tiny_language import SIZE

TINY = Path(__file__).with_name("tiny_language")
"""The folder that comes with the package."""


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


def write(folder: Path = TINY) -> None:
    """Write the weights of the model's folder; its config.json and tokenizer.json stay."""
    tensor_file.write(folder / "model.safetensors", tensors(), {"format": "pt"})
