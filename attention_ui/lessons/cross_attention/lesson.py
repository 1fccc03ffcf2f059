"""Cross-attention: queries of one sentence, keys and values of another. Its controls and trace."""

from attention_core.largest_effect import telling_query
from attention_core.mechanism.attention import attention
from attention_core.mechanism.builder import project as project_with
from attention_core.mechanism.trainable import draw_matrices
from attention_core.operations import LengthMask
from attention_core.recipes import PLURAL, ROLES
from attention_core.text.embedding import embed
from attention_core.text.inputs import TRAINED
from attention_core.text.source import add_source, numbers_of
from attention_core.text.vocabulary import PADDING as FILLED
from attention_core.trace import Trace

from ...controls import shared
from ...reactive.control import Control, Values
from ...reactive.fields import Whole

PADDING = Control("padding", Whole(0, 3), "Places of padding", 2)
CONTROLS = (*shared.MAKES_VECTORS, *shared.PROJECTED, shared.SOURCE, shared.TEMPERATURE, PADDING)


def trace_of(values: Values) -> Trace:
    """The lesson's trace: the source as it is."""
    return look_across(values)


def first_query(values: Values) -> int:
    """The query whose weights are shown first: the one with the largest effect."""
    drawn = shared.as_drawn(values)
    return telling_query(weigh(roles(drawn), drawn, 1.0)["weights"].value)


def look_across(values: Values, n_padding: int = 0) -> Trace:
    """The trace of cross-attention, with padding behind the source: `roles`, `attention`."""
    return weigh(roles(values, n_padding), values, values.temperature)


def weigh(made: Trace, values: Values, temperature: float) -> Trace:
    """The roles, and attention from them at a temperature."""
    trace = made.branch()
    vectors = (trace[PLURAL[role]] for role in ROLES)
    scale, mask = shared.projections_of(values).scale, trace.get("mask")
    attention(trace, *vectors, scale=scale, mask=mask, temperature=temperature)
    return trace


def roles(values: Values, n_padding: int = 0) -> Trace:
    """Who asks and who answers: the trace up to queries, keys and values. Steps: those of `embed`;
    `W_query` and so on as in `project`; `other_table` (other_vocabulary, d_in), `other_ids` (other)
    and `other_embeddings` (other, d_in); `queries` (query, d_query), `keys` (key, d_query) and
    `values` (key, d_value) of the source, and `mask` (one_query, key) where there is padding.
    """
    source = shared.source_inputs_of(values)
    names = (*source.labels, *[FILLED] * n_padding)
    trace = _first_sentence(values, names)
    # Drawn before the source's table, so that they are those of the lesson on queries and keys.
    matrices = draw_matrices(trace, shared.projections_of(values))
    others = add_source(trace, source, n_padding)
    sources = {"query": trace["embeddings"], "key": others, "value": others}
    project_with(trace, sources, dict(zip(ROLES, matrices, strict=True)).get)
    if n_padding:
        visible = LengthMask((len(source.tokens),), len(names), ones=0)
        trace.step("mask", visible, axes=("one_query", "key"))
    return trace


def _first_sentence(values: Values, keys: tuple[str, ...]) -> Trace:
    """The trace from the ids of the sentence that asks to its embeddings."""
    inputs = shared.inputs_of(values)
    if not (inputs.vocabulary == TRAINED and inputs.has_given_vectors()):
        return embed(inputs, keys=keys)
    # The trained vectors come from a layer below, in which this sentence has keys of its own.
    trace = Trace(token=inputs.tokens, query=inputs.tokens, key=keys)
    trace.step("embeddings", numbers_of(inputs), axes=("token", "d_in"))
    return trace
