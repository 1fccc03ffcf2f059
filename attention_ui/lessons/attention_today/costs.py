"""What attention costs in a model that people know, or of any size: parameters, and the cache."""

from dataclasses import dataclass

from attention_core.costs import KNOWN, AttentionSize, KnownModel, kept_tokens

from ...cards.common_questions import one_of
from ...cards.questions import Pick
from ...charts.amounts import amounts
from ...charts.chart import Chart
from ...picture import palette
from ...reactive.control import Values
from ...words import in_bytes

ASKED = KNOWN["llama3"]
CHOICES = (1 / 16, 1, 16)
"""GiB that can be guessed; one of them is right."""


@dataclass(frozen=True)
class Row:
    """One way to keep keys and values: what it is called, and the bytes it takes."""

    name: str
    size: int
    is_own: bool


def bars(model: KnownModel, n_bytes: int) -> Chart:
    """What the cache of a model takes, as bars."""
    rows = cache_rows(model, n_bytes)
    colours = {f"{model.title} as it is": palette.BAR, "as it could be": palette.GREY}
    own, other = colours
    return amounts(
        [row.name for row in rows],
        [{own if row.is_own else other: row.size} for row in rows],
        [in_bytes(row.size) for row in rows],
        colours,
        f"Memory for keys and values after {model.context:,} tokens",
        written=in_bytes,
    )


def model_of(values: Values) -> KnownModel:
    """The model whose costs are shown."""
    if values.cost_model != "own":
        return KNOWN[values.cost_model]
    size = AttentionSize(
        values.m_layers, values.m_width, values.m_heads, values.m_kv_heads, values.m_d_head
    )
    return KnownModel("Your model", size, values.m_context, values.m_window or None)


def cache_rows(model: KnownModel, n_bytes: int) -> list[Row]:
    """The cache with a key/value head a query head, with the model's, with one, with its window."""
    own, size = model.size.n_kv_heads, model.size

    def row(name: str, n_kv_heads: int, window: int | None = None) -> Row:
        taken = size.with_kv_heads(n_kv_heads).cached(kept_tokens(model.context, window)) * n_bytes
        return Row(name, taken, (n_kv_heads, window) == (own, model.window))

    rows = [row(f"One for each of {size.n_heads} heads", size.n_heads)]
    if 1 < own < size.n_heads:
        rows.append(row(f"{own} key/value heads", own))
    if size.n_heads > 1:
        rows.append(row("One key/value head for all", 1))
    if model.window is not None and model.window < model.context:
        many = "1 head" if own == 1 else f"{own} heads"
        kept = f"keeps the last {model.window:,} of {model.context:,} tokens"
        rows.append(row(f"{many}, and a window that {kept}", own, model.window))
    if not any(each.is_own for each in rows):  # a window as wide as the whole context
        rows = [Row(each.name, each.size, each.size == row("", own).size) for each in rows]
    return rows


def parameter_words(model: KnownModel) -> str:
    """The parameters of the attention of all layers."""
    size = model.size
    plain = size.with_kv_heads(size.n_heads).parameters
    layers = "1 layer" if size.n_layers == 1 else f"{size.n_layers} layers"
    words = (
        f"{model.title}: {layers}, width {size.d_model:,}, {size.n_heads} query heads and "
        f"{size.n_kv_heads} key/value heads of width {size.d_head}. Attention has "
        f"**{in_millions(size.parameters)} parameters**"
    )
    if size.n_kv_heads == size.n_heads:
        return f"{words}."
    return f"{words}; without sharing, {in_millions(plain)}."


def outgrown_words(model: KnownModel) -> str:
    """Whose keys and values are kept, and from when on these outweigh the parameters."""
    n_tokens, window = -(-model.size.parameters // model.size.cached(1)), model.window
    kept = "all tokens so far"
    if window is not None:
        last = "token alone" if window == 1 else f"{window:,} tokens"
        kept = f"the last {last}, its window, and no more of one text"
    texts = "in one text or many" if window is None or window >= n_tokens else "of many texts"
    return (
        f"Every layer keeps the keys and values of {kept}. From {n_tokens:,} tokens on, {texts}, "
        "they outweigh attention’s parameters."
    )


def cache_words(model: KnownModel, n_bytes: int) -> str:
    """The own bar as a product, and what it is instead of."""
    size = model.size
    rows = cache_rows(model, n_bytes)
    own = next(row for row in rows if row.is_own)
    n_tokens = kept_tokens(model.context, model.window)
    words = (
        f"Keys and values (2) × {size.n_layers} layers × {size.n_kv_heads} heads × "
        f"{size.d_head} wide × {n_tokens:,} tokens × {n_bytes} bytes = {in_bytes(own.size)}"
    )
    if own.size < rows[0].size:
        words += f" instead of {in_bytes(rows[0].size)}"
    return f"{words}."


def cache_question() -> Pick:
    """How much memory the cache of a known model takes."""
    found = ASKED.size.cached(ASKED.context) * 2 / 2**30
    return one_of(
        f"{ASKED.title} reads {ASKED.context:,} tokens, and keeps the keys and values of all of "
        "them, 2 bytes a number. How much memory is that, for one text?",
        [in_bytes(each * 2**30) for each in CHOICES],
        CHOICES.index(found),
        f"It is {in_bytes(found * 2**30)}.",
        teaches="Each person who talks to the model has such a cache, so its size decides how many "
        "it can serve at once.",
    )


def in_millions(count: int) -> str:
    """A large count as people say it: 28.3 million."""
    if count < 1_000_000:
        return f"{count:,}"
    if count < 1_000_000_000:
        return f"{count / 1e6:,.1f} million"
    return f"{count / 1e9:,.2f} billion"
