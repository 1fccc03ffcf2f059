"""The source, the other sentence of cross-attention, on its way to vectors. Knows no torch."""

from dataclasses import replace

from attention_core.examples import EXAMPLES
from attention_core.small_models.grammar import LONGEST, WORDS
from attention_core.text.inputs import TRAINED, Inputs

from .settings import Settings

OWN_TABLE = 1
"""How far the seed of the source's table is from that of the first sentence's: other numbers."""


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
        made = "trained" if EXAMPLES[settings.example].is_trained else "ready-made"
        return f"This example has {made} vectors for the words of both sentences."
    if settings.has_given_vectors:
        return (
            "Some words of the source have no vector in this example, so the source gets random "
            "ones: look at how the weights are made, not for meaning in them."
        )
    return (
        "The source has a table of its own, as another language would: a word that stands in both "
        "sentences has two vectors."
    )
