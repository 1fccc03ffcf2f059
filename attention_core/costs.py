"""What attention costs: parameters, the memory of a cache, products. Plain arithmetic."""

from dataclasses import dataclass, replace

from .recipes import check_least, shared_by


@dataclass(frozen=True)
class AttentionSize:
    """The sizes of attention in all layers. Raises ValueError for what is below 1, or uneven."""

    n_layers: int
    d_model: int
    n_heads: int
    n_kv_heads: int
    d_head: int
    d_value: int | None = None
    """The width of a head's values; None for that of its keys."""
    d_output: int | None = None
    """The width of the output; None for d_model."""
    bias: bool = False
    gated: bool = False
    """Whether each number of a context vector has a gate."""

    def __post_init__(self) -> None:
        check_least(self, 1, "n_layers", "d_model", "n_heads", "n_kv_heads", "d_head")
        shared_by(self.n_heads, self.n_kv_heads)

    @property
    def widths(self) -> tuple[int, int, int]:
        """The columns of W_query, W_key and W_value."""
        kv = self.n_kv_heads
        return self.n_heads * self.d_head, kv * self.d_head, kv * (self.d_value or self.d_head)

    @property
    def _widths_of_output(self) -> tuple[int, int]:
        """The columns of W_output, and its rows."""
        return self.d_output or self.d_model, self.n_heads * (self.d_value or self.d_head)

    def with_kv_heads(self, n_kv_heads: int) -> "AttentionSize":
        """The same with another number of heads of keys and values."""
        return replace(self, n_kv_heads=n_kv_heads)

    @property
    def parameters(self) -> int:
        """The numbers that training may change: four matrices a layer, and their biases."""
        d_output, joined = self._widths_of_output
        matrices = self.d_model * (sum(self.widths) + joined * self.gated) + joined * d_output
        biases = (sum(self.widths) + d_output) * self.bias
        return self.n_layers * (matrices + biases)

    def cached(self, n_tokens: int) -> int:
        """How many numbers a cache of keys and values holds for so many tokens."""
        return self.n_layers * sum(self.widths[1:]) * n_tokens

    def weights(self, n_tokens: int) -> int:
        """How many weights all heads have for so many tokens: training keeps them to go back."""
        return self.n_layers * self.n_heads * n_tokens**2

    def products_of_step(self, place: int, has_cache: bool) -> int:
        """How many pairs of numbers are multiplied so that the token at `place`, from 0, gets its
        output: with a cache for that token alone, without one for all tokens so far.
        """
        d_output, joined = self._widths_of_output
        n_tokens = place + 1
        n_new = 1 if has_cache else n_tokens
        gates = (self.d_model + 1) * joined * self.gated
        projected = n_new * (self.d_model * sum(self.widths) + gates + joined * d_output)
        pairs = n_new * n_tokens * (self.n_heads * self.d_head + joined)
        return self.n_layers * (projected + pairs)


def kept_tokens(n_tokens: int, window: int | None = None, sinks: int = 0) -> int:
    """Of how many tokens a cache keeps keys and values: with a window only of those in sight."""
    return n_tokens if window is None else min(n_tokens, window + sinks)


@dataclass(frozen=True)
class KnownModel:
    """A model that people know: its size, and how far it looks."""

    title: str
    size: AttentionSize
    context: int
    window: int | None = None


KNOWN = {
    "gpt2": KnownModel("GPT-2 small", AttentionSize(12, 768, 12, 12, 64, bias=True), 1_024),
    "llama3": KnownModel("Llama 3 8B", AttentionSize(32, 4_096, 32, 8, 128), 8_192),
    "mistral": KnownModel("Mistral 7B v0.1", AttentionSize(32, 4_096, 32, 8, 128), 8_192, 4_096),
}
"""Sources: Radford et al. 2019, Language Models are Unsupervised Multitask Learners; Llama Team
2024, The Llama 3 Herd of Models, table 3; Jiang et al. 2023, Mistral 7B, table 1."""
