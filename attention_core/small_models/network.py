"""A small causal transformer to be trained, in plain torch; a test holds it against its trace."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import layer_norm


@dataclass(frozen=True)
class Size:
    """How large a network is. Its heads are `d_model / n_heads` wide."""

    n_tokens: int
    """Words of its vocabulary."""
    n_positions: int
    """The longest sequence that it can read."""
    d_model: int = 48
    n_heads: int = 4
    n_layers: int = 2


class Network(nn.Module):
    """Tokens and positions make a stream; each layer reads it, normed, and adds what its heads
    found; the last, normed, is compared with a vector of each word. No biases, no feed-forward.

    Every matrix multiplies from the right: `W_query` (layer, head, d_model, d_head), likewise
    `W_key` and `W_value`; `W_output` (layer, head, d_head, d_model); `W_unembed` (d_model, word).

    Source: Vaswani et al. 2017, section 3; Elhage et al. 2021, A Mathematical Framework for
    Transformer Circuits (attention only, heads that write to one stream).
    """

    def __init__(self, size: Size, seed: int) -> None:
        super().__init__()
        self.size = size
        d_head = size.d_model // size.n_heads
        generator = torch.Generator().manual_seed(seed)

        def drawn(*shape: int, spread: float) -> nn.Parameter:
            return nn.Parameter(torch.randn(shape, generator=generator) * spread)

        stacked = (size.n_layers, size.n_heads, size.d_model, d_head)
        spread = 1 / math.sqrt(size.d_model)
        self.W_token = drawn(size.n_tokens, size.d_model, spread=1 / 2)
        self.W_position = drawn(size.n_positions, size.d_model, spread=1 / 2)
        self.W_query = drawn(*stacked, spread=spread)
        self.W_key = drawn(*stacked, spread=spread)
        self.W_value = drawn(*stacked, spread=spread)
        self.W_output = drawn(size.n_layers, size.n_heads, d_head, size.d_model, spread=spread / 2)
        self.W_unembed = drawn(size.d_model, size.n_tokens, spread=spread)

    def forward(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Of ids (sequence, token): the logits of each next word (sequence, token, word), and the
        weights of all heads (layer, sequence, head, query, key).
        """
        length = ids.shape[-1]
        hidden = torch.ones(length, length, dtype=torch.bool).triu(1)
        stream = self.W_token[ids] + self.W_position[:length]
        found = []
        for layer in range(self.size.n_layers):
            read = layer_norm(stream, stream.shape[-1:]).unsqueeze(-3)
            queries, keys, values = (
                read @ W[layer] for W in (self.W_query, self.W_key, self.W_value)
            )
            scores = queries @ keys.mT / math.sqrt(queries.shape[-1])
            weights = scores.masked_fill(hidden, -torch.inf).softmax(-1)
            stream = stream + (weights @ values @ self.W_output[layer]).sum(-3)
            found.append(weights)
        return layer_norm(stream, stream.shape[-1:]) @ self.W_unembed, torch.stack(found)
