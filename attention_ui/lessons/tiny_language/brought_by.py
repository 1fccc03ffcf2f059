"""Which part of the network brought what to the logit of a word."""

from collections.abc import Sequence

from attention_core.small_models.grammar import WORDS
from attention_core.small_models.tracing import Part, contributions

from ...cards.questions import Pick, Verdict
from ...charts.brought import brought
from ...page.show import show_within
from ...settings.choices import head_briefly
from ...settings.settings import Settings
from ...words import number
from .beginning import build

WIDTH = 760
PARTS = "parts"
"""What the question covers; no step of the trace."""


def word_of(settings: Settings) -> str:
    """The word that is asked about."""
    if settings.next_word != "likeliest":
        return settings.next_word
    return WORDS[int(build(settings)["logits"].value[-1].argmax())]


def parts_of(settings: Settings) -> tuple[Part, ...]:
    """What each part brought to it."""
    return contributions(build(settings), WORDS.index(word_of(settings)))


def logit_of(settings: Settings) -> float:
    """Its logit."""
    return float(build(settings)["logits"].value[-1, WORDS.index(word_of(settings))])


def show_parts(settings: Settings) -> None:
    """The parts as bars that add up to the logit."""
    parts, word = parts_of(settings), word_of(settings)
    total = f"logit of “{word}”"
    amounts = [part.amount for part in parts]
    show_within(
        brought(_names(settings), amounts, total, f"What each part brought to the {total}."), WIDTH
    )


def most_question(settings: Settings) -> Pick:
    """Which part brings most; the sentence has only words of the vocabulary."""
    parts, names = parts_of(settings), _names(settings)
    most = largest(parts)
    right = parts.index(most)
    truth = f"It is {names[right]}, with {number(most.amount, 2)}."

    def judge(guess: list[int]) -> Verdict:
        if guess[0] == right:
            return Verdict(True, f"Right. {truth}")
        return Verdict(False, f"{truth} Yours brings {number(parts[guess[0]].amount, 2)}.")

    return Pick(
        words=f"Which part will bring most to the logit of “{word_of(settings)}”?",
        choices=names,
        judge=judge,
        truth=lambda: truth,
        teaches="What the last word brings by itself knows nothing of the words before it. What "
        "they decide has to come through the heads.",
    )


def _names(settings: Settings) -> list[str]:
    """What each part is called, in the order of the bars."""
    last = settings.beginning.split()[-1]
    return [_called(part, last) for part in parts_of(settings)]


def _called(part: Part, last: str) -> str:
    if part.head is not None:
        return head_briefly(part.head)
    return f"the word “{last}” itself" if part.name == "token" else "its place in the text"


def adds_up(settings: Settings) -> tuple[bool, str]:
    """Whether the parts are the logit together."""
    total, logit = sum(part.amount for part in parts_of(settings)), logit_of(settings)
    off = abs(total - logit)
    return off < 1e-4, (
        f"The bars add up to {total:.4f}; the logit is {logit:.4f}: off by {off:.1g}."
    ).replace("-0", "−0").replace("to -", "to −").replace("is -", "is −")


def largest(parts: Sequence[Part]) -> Part:
    """The part that brought most."""
    return max(parts, key=lambda part: part.amount)
