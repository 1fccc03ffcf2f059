"""One sentence that looks at another: controls, trace and question."""

from dataclasses import replace

from attention_core.operations import MatMul, ScaleBy, Softmax
from attention_core.text.embedding import embed
from attention_core.text.source import numbers_of
from attention_core.trace import Trace

from ...cards.common_questions import which_key
from ...cards.questions import Pick
from ...controls.fields import MAX_TOKENS, Sentence
from ...controls.shared import MAKES_VECTORS, TEMPERATURE, inputs_of, source_inputs_of
from ...reactive.control import Control, Values


def _fits(sentence: str, values: Values) -> str | None:
    """What stops it from being the other sentence, in words."""
    count = len(replace(inputs_of(values), sentence=sentence).tokens)
    fits = 1 <= count <= MAX_TOKENS
    return None if fits else f"this text has {count:,} tokens; it needs 1 to {MAX_TOKENS}"


OTHER = Control("other", Sentence(), "Other sentence", "Le chien attaque le chat", "text_input",
                check=_fits, undoes=("cell",))  # fmt: skip
CONTROLS = (*MAKES_VECTORS, OTHER, TEMPERATURE)


def compare(values: Values) -> Trace:
    """The trace up to the scores (query, other)."""
    trace = embed(inputs_of(values))
    other = source_inputs_of(values.but(source=values.other))
    trace.label("other", other.tokens)
    others = trace.step("other_embeddings", numbers_of(other), axes=("other", "d_in"))
    compared = MatMul(transpose=True)
    trace.step("scores", compared, trace["embeddings"], others, axes=("query", "other"))
    return trace


def weigh(compared: Trace, temperature: float) -> Trace:
    """The same, with the weights (query, other) at a temperature."""
    trace, axes = compared.branch(), ("query", "other")
    tempered = trace.step("tempered_scores", ScaleBy(1 / temperature), trace["scores"], axes=axes)
    trace.step("weights", Softmax(), tempered, axes=axes)
    return trace


def trace_of(values: Values) -> Trace:
    """The lesson's trace."""
    return weigh(compare(values), values.temperature)


def most_looked_at(trace: Trace) -> Pick:
    """Which token of the other sentence gets most of the first query's weight."""
    return which_key(
        "Which token of the other sentence does your first token look at most?",
        trace.labels("other"),
        trace["weights"].value[0],
        teaches="The largest score gets the largest weight.",
        at={"query": (0,)},
    )
