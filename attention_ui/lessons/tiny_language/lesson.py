"""A tiny language: its controls, and the network's way through some words."""

from functools import lru_cache

from attention_core.real_model.score_in_small import small_score_trace
from attention_core.small_models import shipped
from attention_core.small_models.figures import Head, shipped_figures
from attention_core.small_models.grammar import LONGEST, START, WORDS, next_words
from attention_core.small_models.recording import shipped_recording
from attention_core.small_models.tracing import Part, contributions, pass_through
from attention_core.trace import Trace
from attention_core.utils.head_name import head_id, head_name

from ...cards.why_there import Why, why_in_small
from ...controls.fields import KnownWords
from ...controls.shared import EXAMPLE
from ...picture.equation_parts import Parts, equation_of
from ...picture.matrix import Matrix
from ...reactive.control import Control, Values
from ...reactive.fields import Choice, Whole

STEPS = tuple(moment.step for moment in shipped_recording())
PRONOUN, LAST = "pronoun to noun", "last"
NEXT_WORDS = {"likeliest": "The likeliest one", **dict(zip(WORDS[1:], WORDS[1:], strict=True))}


def head_called(head: Head) -> str:
    """A head by the name that was measured for it: `head 1.2 (opening mark and 2 more)`."""
    first, *more = shipped_figures().names(head) or ("no name fits",)
    told = first + (f" and {len(more)} more" if more else "")
    return f"{head_name(head[1], head[0])} ({told})"


TINY_HEADS = {head_id(*head): head_called(head) for head in shipped_figures().heads}
"""The heads of the tiny language's network."""
FIRST_WATCHED = "1.1"
"""The pronoun-to-noun head that brings most to the first beginning: a test works it out."""


def _places(values: Values) -> dict[str, str]:
    return {f"{at}": f"{at}: {word}" for at, word in enumerate(words_of(values))}


BEGINNING = Control(
    "beginning",
    KnownWords(),
    "Your beginning",
    "the tired cat sees the dog because it",
    undoes=("tiny_from",),
)
TINY_HEAD = Control("tiny_head", Choice(TINY_HEADS), "Head to watch", FIRST_WATCHED)
TINY_FROM = Control(
    "tiny_from",
    Choice({LAST: "the last word", **{f"{at}": f"{at}" for at in range(LONGEST)}}),
    "Where it looks from",
    LAST,
    options=lambda v: {LAST: "the last word", **_places(v)},
    check=lambda at, v: None if at in {LAST, *_places(v)} else f"there is no word {at}",
)
TINY_OFF = Control("tiny_off", Choice({"none": "none", **TINY_HEADS}), "Head to switch off", "none")
NEXT_WORD = Control("next_word", Choice(NEXT_WORDS), "Next word", "likeliest")
TINY_STEP = Control("tiny_step", Whole.among(*STEPS), "Training step", STEPS[-1], of_page=True)
CONTROLS = (EXAMPLE, BEGINNING, TINY_HEAD, TINY_FROM, TINY_OFF, NEXT_WORD, TINY_STEP)
READY = {
    "because it …": ("the tired cat sees the dog because it", PRONOUN),
    "but it …": ("the tired cat sees the dog but it", PRONOUN),
    "a name again …": ("anna brook finds the ball . ben hill paints the kite . anna", "name again"),
    "a bracket …": ("clara wood ( the old horse neighs in the forest", "opening mark"),
    "a quotation …": ("emma lake says “ the frog hops in the river", "opening mark"),
}
"""Beginnings to choose, and the kind of head to watch there."""


def head_of(written: str) -> Head | None:
    """A head as a control names it; None for none."""
    if written == "none":
        return None
    layer, head = written.split(".")
    return int(layer), int(head)


def words_of(values: Values) -> tuple[str, ...]:
    """The beginning as the network reads it, with its start before it."""
    return (START, *values.beginning.split())


@lru_cache(maxsize=64)
def told(words: tuple[str, ...], off: str = "none") -> Trace:
    """The network's way through some words, kept: several cards show it."""
    return pass_through(shipped.weights(), WORDS, words, head_of(off))


def trace_of(values: Values) -> Trace:
    """The lesson's trace."""
    return told(words_of(values))


def chances(words: tuple[str, ...], off: str = "none") -> list[float]:
    """What comes next, word by word of the vocabulary."""
    return told(words, off)["probabilities"].value[-1].tolist()


def allowed_next(words: tuple[str, ...]) -> dict[str, float] | None:
    """What the grammar may say after these words; None where it never says them."""
    try:
        return next_words(words)
    except ValueError:
        return None


def chance_of_right(words: tuple[str, ...], off: str = "none") -> float:
    """The chance of all that the grammar may say next, with a head switched off or none."""
    found = chances(words, off)
    return min(1.0, sum(found[WORDS.index(word)] for word in allowed_next(words) or {}))


def word_of(values: Values) -> str:
    """The word that is asked about."""
    if values.next_word != "likeliest":
        return values.next_word
    return WORDS[int(trace_of(values)["logits"].value[-1].argmax())]


def parts_of(values: Values) -> tuple[Part, ...]:
    """What each part brought to it."""
    return contributions(trace_of(values), WORDS.index(word_of(values)))


def logit_of(values: Values) -> float:
    """Its logit."""
    return float(trace_of(values)["logits"].value[-1, WORDS.index(word_of(values))])


def without_each(values: Values) -> list[float | None]:
    """For each part, the chance of the word with that head switched off; None for no head."""
    place, words = WORDS.index(word_of(values)), words_of(values)
    return [
        None if part.head is None else chances(words, head_id(*part.head))[place]
        for part in parts_of(values)
    ]


def worth_watching(beginning: str, kind: str) -> str:
    """Of the heads with the name of a kind, the one that brings most to the likeliest word."""
    trace = told((START, *beginning.split()))
    parts = contributions(trace, int(trace["logits"].value[-1].argmax()))
    amounts = {part.head: part.amount for part in parts}
    figures = shipped_figures()
    called = [head for head in figures.heads if kind in figures.names(head)]
    return head_id(*max(called, key=amounts.__getitem__))


def weights_of(trace: Trace, head: Head) -> Matrix:
    """The weights of a head."""
    return Matrix(trace[f"layer_{head[0]}_weights"], lead=(head[1],))


def why(trace: Trace, head: Head) -> Parts:
    """The scores of a head, as the products of queries and keys that they are."""
    scores = trace[f"layer_{head[0]}_scores"]
    queries, keys = scores.inputs
    drawn = [Matrix(each, lead=(head[1],)) for each in (queries, scores)]
    drawn.append(Matrix(keys, lead=(head[1],), transposed=True))
    return equation_of(scores, drawn=drawn)


def two_steps(values: Values) -> tuple[Head, Head]:
    """The head that looks from “it” back at “because”, and the one that finds the animal."""
    kind = shipped_figures().best("because")
    return kind, head_of(worth_watching(values.beginning, PRONOUN))


def why_there(values: Values, trace: Trace | None = None) -> Why:
    """Of the head that is watched: what made it look where it looks most."""
    trace = trace_of(values) if trace is None else trace
    return why_in_small(trace, *head_of(values.tiny_head), query_of(values))


def query_of(values: Values) -> int:
    """The place of the word that it looks from."""
    last = len(words_of(values)) - 1
    return last if values.tiny_from == LAST else int(values.tiny_from)


def score_trace(values: Values, *at: int) -> Trace:
    """A score of these words (layer, head, query, key) as a trace."""
    return small_score_trace(shipped.weights(), WORDS, words_of(values), *at)
