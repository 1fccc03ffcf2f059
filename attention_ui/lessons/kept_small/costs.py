"""How many numbers a model keeps of its tokens, by each way to keep less, in one model's sizes."""

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


def ways(n: int) -> dict[str, int]:
    """The ways to keep less, and how many numbers all layers of the model keep of `n` tokens."""
    size, each = MODEL.size, FACTS["d_latent"] + FACTS["d_rotary"]
    own = size.with_kv_heads(size.n_heads)
    layer = size.cached(1) // size.n_layers
    keep = size.n_layers - size.n_layers * FACTS["shared_layers"] // FACTS["layers"]
    far = size.n_layers // FACTS["every"]
    near, window = size.n_layers - far, FACTS["window"]
    return {
        "Keys and values per head": own.cached(n),
        f"{size.n_kv_heads} shared heads (GQA)": size.cached(n),
        "One latent (MLA)": n * size.n_layers * each,
        "One latent, and an indexer": n * size.n_layers * (each + FACTS["d_index"]),
        f"GQA, 1 layer in {FACTS['every']} global": layer * (far * n + near * min(n, window)),
        f"GQA, {size.n_layers - keep} of {size.n_layers} layers share": layer * keep * n,
    }


def bars(n_tokens: int) -> Chart:
    """What the model keeps for each token, on average over a text so long."""
    made = ways(n_tokens)
    sizes = [BYTES * kept / n_tokens for kept in made.values()]
    kind = "bytes for each token"
    return amounts(
        [*made],
        [{kind: size} for size in sizes],
        [in_bytes(size) for size in sizes],
        {kind: palette.BAR},
        f"What is kept for each of {n_tokens:,} tokens",
        written=in_bytes,
    )


def read_of(n_tokens: int) -> tuple[int, int]:
    """How many numbers one new token reads: with a latent, and with an indexer and its own keys."""
    each, layers = FACTS["d_latent"] + FACTS["d_rotary"], MODEL.size.n_layers
    left = min(n_tokens, FACTS["top_k"])
    return n_tokens * each * layers, (n_tokens * FACTS["d_index"] + left * each) * layers
