"""The other sentence of a trace that has two: the source that cross-attention looks at."""

from ..operations import Add, Draw, Given, Lookup, Sinusoid
from ..trace import Step, Trace
from .embedding import embed
from .inputs import DRAWN, TRAINED, Inputs
from .vocabulary import PADDING, Vocabulary


def add_source(
    trace: Trace, source: Inputs, n_padding: int = 0, name: str = "other_embeddings"
) -> Step:
    """Add the source's vectors (other, d_in) to a trace under a name, those of padding last. Steps:
    `other_table` (other_vocabulary, d_in) and `other_ids` (other), and with positions
    `other_token_embeddings` and `other_position_embeddings` (other, d_in). Trained vectors come as
    they are, since the layer below them read another sentence. Padding has a row of zeros where
    vectors are given, as `padding_idx` makes it in torch's `nn.Embedding`, and else a drawn one.
    """
    trace.label("other", (*source.labels, *[PADDING] * n_padding))
    axes, shared = ("other", "d_in"), source.has_given_vectors()
    nothing = (0.0,) * source.d_in
    if source.vocabulary == TRAINED:
        numbers = (*numbers_of(source).numbers, *[nothing] * n_padding)
        return trace.step(name, Given(numbers), axes=axes)
    vocabulary = Vocabulary.distinct(source.tokens, (PADDING,))
    names = (text + DRAWN * (shared and source.is_drawn(text)) for text, _ in vocabulary.entries)
    trace.label("other_vocabulary", (*names, PADDING))
    table: Draw | Given = Draw("normal", (vocabulary.n_rows, source.d_in), seed=source.seed)
    if shared:
        table = Given((*(source.vector_of(token) for token, _ in vocabulary.entries), nothing))
    place = dict(vocabulary.reserved)[PADDING]
    ids = (*vocabulary.ids(source.tokens), *[place] * n_padding)
    rows = trace.step("other_table", table, axes=("other_vocabulary", "d_in"))
    picked = trace.step("other_ids", Given(ids), axes=("other",))
    looked_up = "other_token_embeddings" if source.positions else name
    vectors = trace.step(looked_up, Lookup(), rows, picked, axes=axes)
    if source.positions:
        added = trace.step("other_position_embeddings", Sinusoid(len(ids), source.d_in), axes=axes)
        vectors = trace.step(name, Add(), vectors, added, axes=axes)
    return vectors


def numbers_of(inputs: Inputs) -> Given:
    """The embeddings of a sentence as numbers, without the steps that made them."""
    return Given.of(embed(inputs)["embeddings"].value)
