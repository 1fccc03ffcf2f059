"""What settings may be, in words and numbers: tables of choices, and the largest values."""

from attention_core.costs import KNOWN
from attention_core.mechanism.tiling import Tile
from attention_core.mistakes.named import Named
from attention_core.recipes import ROLES
from attention_core.small_models.figures import Head, shipped_figures
from attention_core.small_models.grammar import WORDS

MAX_WIDTH = 64
MAX_SEED = 2**32 - 1
MAX_HEAD_WIDTH = 32
MAX_JOINED = 96
"""The columns of all heads together: wider matrices are slow to draw."""
WAYS_TO_HIDE = {
    "minus_infinity": "−∞ before softmax",
    "zero_filled": "0 before softmax",
    "zeroed": "0 after softmax",
    "renormalised": "0 after, then divided by the sum",
}
SIMILARITIES = {"dot": "Dot product", "cosine": "Cosine"}
DIVISORS = {"none": "Nothing", "sqrt_d": "√d"}
LEARNED = {"sentence": "This sentence", "example": "The example's sentence"}
ROW_FROM = {"example": "The example", "hand": "By hand"}
PRECISIONS = {"float32": "float32", "float16": "float16", "bfloat16": "bfloat16"}
MAX_SCORES = 16
MAX_SCORE = 1_000.0
ENTRIES = {"normal": "Normal", "uniform": "Uniform around 0", "uniform_0_1": "Uniform from 0 to 1"}
LOOKS = {
    "histogram": "q·k, many times",
    "width": "Variance against d",
    "attention": "What softmax makes of it",
}
NORMS = {"before": "Before each part", "after": "After each part"}
BLOCKS = {"encoder": "Encoder", "decoder": "Decoder"}
ACTIVATIONS = {"relu": "ReLU", "gelu": "GELU"}
MIXES = {"given": "As given", "identity": "Identity"}
CUTS = {"split": "Split, then transpose", "reshape": "Reshape alone"}
ZEROED = {role: f"W_{role}" for role in ROLES}
AXES = {"log": "Logarithmic", "linear": "Linear"}
VECTOR_WIDTHS = (*range(1, 9), 12, 16, 24, 32, 48, 64, 100, 128, 256, 512, 768, 1_024, 2_048, 4_096)
TRIAL_COUNTS = (10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
AUTO = "*auto* shares d_model evenly among the heads."
TABLE_ROWS = (7, 9, 100, 1_000, 5_000, 10_000, 20_000, 50_257, 100_000, 200_000)
TABLE_WIDTHS = (2, 3, 16, 32, 64, 128, 256, 512, 768, 1_024, 2_048, 4_096)
STEPS = (10, 100, 200, 500, 1_000, 2_000, 5_000)
RATES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 100.0, 1_000.0)
TRAINED_WIDTHS = (1, 2, 4, 8, 16, 32, 64)
NEXT_WORDS = {"likeliest": "The likeliest one", **dict(zip(WORDS[1:], WORDS[1:], strict=True))}


def head_called(head: Head) -> str:
    """A head of the tiny language's network, by the name that was measured for it."""
    names = shipped_figures().names(head)
    return f"layer {head[0]} head {head[1]} ({', '.join(names) if names else 'no name fits'})"


def head_briefly(head: Head) -> str:
    """The same, short enough for a chart: `1.2 opening mark and 2 more`."""
    first, *more = shipped_figures().names(head) or ("no name",)
    return f"{_written(head)} {first}" + (f" and {len(more)} more" if more else "")


def _written(head: Head) -> str:
    return ".".join(map(str, head))


TINY_HEADS = {_written(head): head_called(head) for head in shipped_figures().heads}
"""The heads of the tiny language's network."""
FIRST_WATCHED = "1.1"
"""Of the heads that go from pronoun to noun, the one that brings most to the first beginning's next
word: a test works it out.
"""
OPENED = {
    "queries": "queries",
    "keys": "keys",
    "values": "values",
    "scores": "scores",
    "weights": "weights",
    "context_vectors": "context_vectors",
    "output": "output",
}
LEVELS = {"one": "One red light", "several": "Several", "none": "No red light"}
"""How many lights of an unseen mistake are red."""
TENSORS = {
    "token_ids": "Ids",
    "embeddings": "Embeddings",
    "head_queries": "Queries, keys and values",
    "mask": "Mask",
    "head_weights": "Weights",
    "head_context_vectors": "Context vectors",
    "output": "Output of the heads",
    "normed": "After layer norm",
    "layer_output": "Output of the layer",
}
VERDICTS = {
    "all": "Everything",
    "print": "As printed",
    "slack": "Within the slack",
    "older": "By an older version",
    "never": "Cannot be computed",
    "differs": "Differs",
}
"""What may have come of a published result, by its name in `attention_core.published.report`."""
RESULT_KINDS = {
    "all": "Everything",
    "tensor": "Tensors",
    "scalar": "Single numbers",
    "ints": "Whole numbers",
    "shape": "Shapes",
    "bool": "True or False",
    "text": "Texts",
    "derived": "Relations between numbers",
}
MAX_BLOCKS = 8
"""Into so many blocks at most the queries, and the keys, are cut: each tile takes a dozen steps."""
TOKEN_COUNTS = (64, 256, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536, 131_072)
FAST_MEMORIES = (16, 32, 48, 64, 96, 128, 160, 192, 224, 256)
MAX_TASKS = 12
SECTIONS = {
    "contents": "Contents, previous and next",
    "glossary": "Glossary",
    "pin": "Pin and compare",
    "share": "Share",
    "answers": "What you can now answer",
    "take_away": "Take it with you",
}
"""What a teacher's link can leave out beside controls."""
PLACES = {"none": "None", "rotary": "Rotary", "alibi": "ALiBi"}
"""How attention itself may tell where tokens stand."""
CAPS = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
COST_MODELS = {name: each.title for name, each in KNOWN.items()} | {"own": "Sizes of your own"}
BYTES = {"4": "4 (float32)", "2": "2 (bfloat16)", "1": "1 (8 bits)"}
MODEL_LAYERS = (1, 2, 4, 6, 8, 12, 16, 24, 28, 32, 40, 48, 64, 80, 96, 128)
MODEL_WIDTHS = (64, 128, 256, 512, 768, 1_024, 1_600, 2_048, 3_072, 4_096, 5_120, 8_192, 16_384)
MODEL_HEADS = (1, 2, 4, 8, 12, 16, 24, 32, 40, 48, 64, 96, 128)
MODEL_HEAD_WIDTHS = (16, 32, 64, 80, 96, 128, 256)
CONTEXTS = (256, 512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536, 131_072, 1_048_576)
WINDOWS = (0, *CONTEXTS[:-1])


def mistake_called(mistake: Named) -> str:
    """A mistake in the list of the lab."""
    return f"{mistake.title} (no light sees it)" if mistake.unseen else mistake.title


def tile_called(tile: Tile) -> str:
    """A tile by its places: `queries 0 to 2, keys 3 to 5`."""
    sides = (("quer", "y", "ies", tile.queries), ("key", "", "s", tile.keys))
    return ", ".join(
        f"{stem}{one} {places[0]}"
        if len(places) == 1
        else f"{stem}{many} {places[0]} to {places[-1]}"
        for stem, one, many, places in sides
    )
