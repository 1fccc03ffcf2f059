"""Cross-attention as a trace: queries of one sentence, keys and values of another."""

from dataclasses import replace

from attention_core.examples import EXAMPLES
from attention_core.mechanism.attention import attention
from attention_core.mechanism.trainable import draw_matrices
from attention_core.operations import (
    Add,
    Affine,
    Draw,
    Given,
    Lookup,
    LookWithinLengths,
    MatMul,
    Sinusoid,
)
from attention_core.recipes import PLURAL, ROLES
from attention_core.small_models.grammar import LONGEST, WORDS
from attention_core.text.embedding import embed
from attention_core.text.inputs import TRAINED, Inputs
from attention_core.text.vocabulary import PADDING, Vocabulary
from attention_core.trace import Step, Trace

from ...settings.settings import Settings

OWN_TABLE = 1
"""How far the seed of the source's table is from that of the first sentence's: other numbers."""


def build(settings: Settings) -> Trace:
    """The lesson's trace: the source as it is."""
    return look_across(settings)


def padded(settings: Settings) -> Trace:
    """The same with the source filled up with places of padding, hidden by a mask."""
    return look_across(settings, settings.padding)


def look_across(settings: Settings, n_padding: int = 0) -> Trace:
    """The trace of cross-attention, with places of padding behind the source's tokens.

    Steps: those of `embed`; `W_query` and so on as in `project`; `other_table`
    (other_vocabulary, d_in), `other_ids` (other) and `other_embeddings` (other, d_in); `queries`
    (query, d_out), `keys` (key, d_out) and `values` (key, d_v) of the source, and those of
    `attention`, with `mask` (one_query, key) where there is padding.
    """
    source = source_inputs(settings)
    names = (*source.tokens, *[PADDING] * n_padding)
    trace = _first_sentence(settings, names)
    recipe = settings.projections
    # Drawn before the source's table, so that they are those of the lesson on queries and keys.
    matrices = draw_matrices(trace, recipe)
    others = _other(trace, source, n_padding)
    made = []
    for role, (matrix, bias) in zip(ROLES, matrices, strict=True):
        axes = ("query" if role == "query" else "key", recipe.axis(role))
        given = (trace["embeddings"] if role == "query" else others, matrix)
        if bias is None:
            made.append(trace.step(PLURAL[role], MatMul(), *given, axes=axes))
        else:
            made.append(trace.step(PLURAL[role], Affine(), *given, bias, axes=axes))
    mask = None
    if n_padding:
        visible = LookWithinLengths((len(source.tokens),), len(names), ones=0)
        mask = trace.step("mask", visible, axes=("one_query", "key"))
    attention(trace, *made, recipe.scale, mask)
    return trace


def source_inputs(settings: Settings) -> Inputs:
    """The source on its way to vectors: cut by the same tokenizer, with a vocabulary of its own. It
    shares the first sentence's given or trained vectors where they cover all of its words.
    """
    own = {"sentence": settings.source, "learned_from": None, "edits": (), "skipped_draws": 0}
    inputs = replace(settings.inputs, **own)
    if inputs.vocabulary == TRAINED:
        known = set(inputs.tokens) <= set(WORDS) and len(inputs.tokens) <= LONGEST
        if known and settings.has_given_vectors:
            return inputs
    inputs = replace(inputs, vocabulary="distinct", reserved=0)
    if settings.has_given_vectors and inputs.has_given_vectors():
        return inputs
    seed = (settings.seed + OWN_TABLE) % 2**32
    return replace(inputs, vectors=(), components=(), seed=seed)


def is_shared(settings: Settings) -> bool:
    """Whether a word has one and the same vector in both sentences."""
    return source_inputs(settings).has_given_vectors()


def table_words(settings: Settings) -> str:
    """Where the source's vectors come from."""
    if is_shared(settings):
        made = "were trained" if EXAMPLES[settings.example].is_trained else "were given"
        return f"Its vectors {made} with this example, as those of your sentence were."
    words = "Its vectors are drawn from a table of its own, as those of another language would be"
    if settings.has_given_vectors:
        return f"{words}: some of its words have no vector in this example."
    return f"{words}: a word that stands in both sentences has two vectors."


def _first_sentence(settings: Settings, keys: tuple[str, ...]) -> Trace:
    """The trace from the ids of the sentence that asks to its embeddings."""
    inputs = settings.inputs
    if not (inputs.vocabulary == TRAINED and inputs.has_given_vectors()):
        return embed(inputs, keys=keys)
    # The trained vectors come from a layer below, in which this sentence has keys of its own.
    trace = Trace(token=inputs.tokens, query=inputs.tokens, key=keys)
    trace.step("embeddings", _numbers_of(inputs), axes=("token", "d_in"))
    return trace


def _numbers_of(inputs: Inputs) -> Given:
    return Given(tuple(map(tuple, embed(inputs)["embeddings"].value.tolist())))


def _other(trace: Trace, source: Inputs, n_padding: int) -> Step:
    """Record the source's vectors (other, d_in), those of padding last."""
    trace.label("other", (*source.tokens, *[PADDING] * n_padding))
    axes, shared = ("other", "d_in"), source.has_given_vectors()
    nothing = (0.0,) * source.d_in
    if source.vocabulary == TRAINED:
        rows = (*_numbers_of(source).numbers, *[nothing] * n_padding)
        return trace.step("other_embeddings", Given(rows), axes=axes)
    vocabulary = Vocabulary.distinct(source.tokens, (PADDING,))
    trace.label("other_vocabulary", vocabulary.rows())
    table: Draw | Given = Draw("normal", (vocabulary.n_rows, source.d_in), seed=source.seed)
    if shared:  # padding has a row of zeros, as `padding_idx` makes it in torch's `nn.Embedding`
        given = dict(source.vectors)
        table = Given((*(given[token] for token, _ in vocabulary.entries), nothing))
    place = dict(vocabulary.reserved)[PADDING]
    ids = (*vocabulary.ids(source.tokens), *[place] * n_padding)
    rows = trace.step("other_table", table, axes=("other_vocabulary", "d_in"))
    picked = trace.step("other_ids", Given(ids), axes=("other",))
    name = "other_token_embeddings" if source.positions else "other_embeddings"
    vectors = trace.step(name, Lookup(), rows, picked, axes=axes)
    if source.positions:
        places = Sinusoid(len(ids), source.d_in)
        added = trace.step("other_position_embeddings", places, axes=axes)
        vectors = trace.step("other_embeddings", Add(), vectors, added, axes=axes)
    return vectors
