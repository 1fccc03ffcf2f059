"""How many numbers a model keeps of its tokens, by each way to keep less, in one model's sizes."""

from collections.abc import Callable
from typing import NamedTuple

from attention_core.costs import KNOWN

from ...charts.amounts import amounts
from ...charts.chart import Chart
from ...picture import palette
from ...words import in_bytes

MODEL = KNOWN["llama3"]
BYTES = 2
FACTS = {
    "d_latent": 512, "d_rotary": 64, "d_index": 128, "top_k": 2_048,
    "layers": 35, "shared_layers": 15, "every": 6, "window": 1_024,
}  # fmt: skip
"""Sources: DeepSeek-AI 2024, DeepSeek-V3, section 4.2 (the latent and its rotary columns);
DeepSeek-AI 2025, DeepSeek-V3.2, section 2.1, and its config.json (the indexer); Google 2025, Gemma
3n E4B, config.json (layers, and how many share); Gemma Team 2025, Gemma 3, section 2 (every sixth
layer is global, the others see 1,024 tokens). Read in November 2026."""


class Way(NamedTuple):
    """A way to keep less, and how many numbers all layers keep of so many tokens."""

    name: str
    kept: Callable[[int], int]


def ways() -> list[Way]:
    """The ways, in the order of the lesson, each in the model's sizes."""
    size, each = MODEL.size, FACTS["d_latent"] + FACTS["d_rotary"]
    own = size.with_kv_heads(size.n_heads)
    layer = size.cached(1) // size.n_layers
    keep = size.n_layers - size.n_layers * FACTS["shared_layers"] // FACTS["layers"]
    far = size.n_layers // FACTS["every"]
    near, window = size.n_layers - far, FACTS["window"]
    return [
        Way("Keys and values per head", own.cached),
        Way(f"{size.n_kv_heads} shared heads (GQA)", size.cached),
        Way("One latent (MLA)", lambda n: n * size.n_layers * each),
        Way("One latent, and an indexer", lambda n: n * size.n_layers * (each + FACTS["d_index"])),
        Way(f"GQA, 1 layer in {FACTS['every']} global",
            lambda n: layer * (far * n + near * min(n, window))),
        Way(f"GQA, {size.n_layers - keep} of {size.n_layers} layers share",
            lambda n: layer * keep * n),
    ]  # fmt: skip


def bars(n_tokens: int) -> Chart:
    """What the model keeps for each token, on average over a text so long."""
    made = ways()
    sizes = [BYTES * way.kept(n_tokens) / n_tokens for way in made]
    kind = "bytes for each token"
    return amounts(
        [way.name for way in made],
        [{kind: size} for size in sizes],
        [in_bytes(size) for size in sizes],
        {kind: palette.BAR},
        f"What is kept for each of {n_tokens:,} tokens",
        written=in_bytes,
    )


def read_of(n_tokens: int) -> tuple[int, int]:
    """How many numbers of the cache one new token reads: with a latent, and with an indexer too,
    which reads its own keys, and the latents of those it leaves.
    """
    each, layers = FACTS["d_latent"] + FACTS["d_rotary"], MODEL.size.n_layers
    left = min(n_tokens, FACTS["top_k"])
    return n_tokens * each * layers, (n_tokens * FACTS["d_index"] + left * each) * layers
