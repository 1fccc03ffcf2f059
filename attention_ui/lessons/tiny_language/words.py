"""What the lesson on the tiny language says of its numbers, and what its question asks."""

from collections.abc import Sequence

from attention_core.rounding import to_within
from attention_core.small_models.figures import TEXTS, Head, shipped_figures
from attention_core.small_models.grammar import WORDS
from attention_core.small_models.heads import BAR, FAR, KINDS
from attention_core.small_models.tracing import Part
from attention_core.trace import Trace
from attention_core.utils.head_name import head_id, head_name

from ...cards.common_questions import ALIKE
from ...cards.questions import Pick, Verdict
from ...frame.ends import closes
from ...reactive.control import Values
from ...words import listed, number, percent
from . import lesson
from .lesson import head_called

NEVER_SAID = "The grammar never says these words in this order"
SHOWN = 5
"""Words of a beginning that a sentence quotes."""
PARTS = "parts"
"""What the question covers; no step of the trace."""


def how_good() -> str:
    """Its loss beside what could be known."""
    figures = shipped_figures()
    return (
        "How surprised is it by texts it never saw? Its loss, the mean of −log of the chance it "
        f"gave to the word that came, is {figures.loss:.3f}. The grammar leaves so much to chance "
        f"that even knowing all of it gives {figures.entropy:.3f}; knowing only which word follows "
        f"which gives {figures.bigram:.3f}."
    )


def ending(words: Sequence[str]) -> str:
    """The last words of a beginning, START before it, quoted."""
    _, *said = words
    cut = "… " if len(said) > SHOWN else ""
    return f"“{cut}{' '.join(said[-SHOWN:])}”"


def judged(values: Values) -> tuple[bool, str]:
    """Whether the network, with the head off that is off, still says what the grammar may say."""
    words, off = lesson.words_of(values), values.tiny_off
    allowed = lesson.allowed_next(words)
    found = lesson.chances(words, off)
    likeliest = WORDS[max(range(len(WORDS)), key=found.__getitem__)]
    if allowed is None:
        return (
            False,
            f"{NEVER_SAID}, so no next word is right after {ending(words)}. The network says "
            f"“{likeliest}”.",
        )
    right = lesson.chance_of_right(words, off)
    some = [f"“{word}”" for word in allowed][:6]
    some += ["others"] * (len(allowed) > len(some))
    may = f"After {ending(words)} the grammar goes on with {listed(some)}"
    if off == "none":
        return right > 0.5, f"{may}. The network puts {percent(right)} of the chance there."
    said = (
        f"{may}. With all heads the network puts {percent(lesson.chance_of_right(words))} there, "
        f"without this one {percent(right)}"
    )
    if right > 0.5:
        return True, f"{said}: it still gets it mostly right."
    if likeliest in allowed:
        return False, f"{said}: most of the chance lies on words that cannot follow."
    return False, f"{said}, and says “{likeliest}”: the sentence goes wrong."


# --- the two steps of the pronoun -----------------------------------------------------------------


def the_two_steps(values: Values) -> str:
    """What the two heads do together, told of the beginning that stands there."""
    after = lesson.words_of(values)[-2:]
    begins = "“The cat sees the dog because it …” means the cat; with “but it”, the dog. "
    if after == ("but", "it"):
        return (
            f"{begins}The first step looks for a “because” before “it”. There is none here, so it "
            "writes nothing of the kind into the vector of “it”, and in the next layer the query "
            "of “it” asks for the second animal."
        )
    return (
        f"{begins}The first step writes into the vector of “it” that a “because” was there. So in "
        "the next layer, the query of “it” can ask for the first animal."
    )


def step_words(trace: Trace, head: Head, number_of: str) -> str:
    """Where a head looks from the last word of the beginning."""
    words = trace.labels("query")
    weights = lesson.weights_of(trace, head).values[-1]
    key = int(weights.argmax())
    whom = "itself" if key == len(words) - 1 else f"“{words[key]}”"
    return (
        f"**{number_of}.** In {head_called(head)}, the last word, “{words[-1]}”, looks at {whom}: "
        f"{percent(weights[key].item())} of its weight."
    )


def of_the_pronoun(values: Values) -> str:
    """What the two steps do in this beginning, and what becomes of it without the first."""
    words = lesson.words_of(values)
    first, _ = lesson.two_steps(values)
    if words[-1] != "it":
        return "This beginning does not end with “it”: try *because it* or *but it*."
    if words[-2] != "because":
        return (
            "Without a “because” just before it, the first step finds nothing to carry, and the "
            "second looks at the other animal."
        )
    if lesson.allowed_next(words) is None:
        return f"{NEVER_SAID}."
    whole, without = (
        percent(lesson.chance_of_right(words, off)) for off in ("none", head_id(*first))
    )
    return (
        f"The first step is needed: switch {head_name(first[1], first[0])} off, and the chance of "
        f"a right verb falls from {whole} to {without}. Nothing then tells the second step that a "
        "“because” was there."
    )


# --- heads ----------------------------------------------------------------------------------------


def does(values: Values) -> str:
    """What the head that is watched does, in words."""
    head = lesson.head_of(values.tiny_head)
    figures = shipped_figures()
    names = figures.names(head)
    scores = figures.scores_of(head)
    if not names:
        near = max(scores, key=scores.__getitem__)
        return (
            "No name fits this head: of all that was measured, it comes nearest to the column "
            f"“{near}”, with {scores[near]:.2f} of its weight there."
        )
    said = {kind.name: kind.does for kind in KINDS}
    told = "; ".join(f"{said[name]} ({scores[name]:.2f} of its weight there)" for name in names)
    return f"Measured on {TEXTS} texts, this head {told}."


def meanings_of_names() -> str:
    """What a head does that has a name, in words, for each name that was given."""
    figures = shipped_figures()
    given = {name for head in figures.heads for name in figures.names(head)}
    return "; ".join(f"**{kind.name}** {kind.does}" for kind in KINDS if kind.name in given) + "."


def rule() -> str:
    """How names are given."""
    figures = shipped_figures()
    none = sum(not figures.names(head) for head in figures.heads)
    return (
        f"A head gets the name of a column if it puts at least {BAR:.0%} of its weight there, and "
        f"at least {FAR:.0%} of its weight more than before training. No name is given by hand: "
        f"{none} of the {len(figures.heads)} heads have no name but their number. To make its "
        "heads easy to read, training counted weight that is spread over many words as a small "
        "part of the loss. Without that, heads got names as well, which fit them less clearly."
    )


# --- who brought what -----------------------------------------------------------------------------


def most_question(values: Values) -> Pick:
    """Which part brings most; the sentence has only words of the vocabulary."""
    parts, names = lesson.parts_of(values), names_of_parts(values)
    most = largest(parts)
    right = parts.index(most)
    truth = f"It is {names[right]}, with {number(most.amount, 2)}."

    def judge(guess: list[int]) -> Verdict:
        if most.amount - parts[guess[0]].amount < ALIKE:
            return Verdict(True, f"Right. {truth}")
        return Verdict(False, f"{truth} Yours brings {number(parts[guess[0]].amount, 2)}.")

    return Pick(
        words=f"Which part will bring most to the logit of “{lesson.word_of(values)}”?",
        choices=names,
        judge=judge,
        truth=lambda: truth,
        teaches="What the last word brings by itself knows nothing of the words before it. What "
        "they decide has to come through the heads.",
    )


def names_of_parts(values: Values) -> list[str]:
    """What each part is called, in the order of the bars."""
    last = values.beginning.split()[-1]
    return [_called(part, last) for part in lesson.parts_of(values)]


def _called(part: Part, last: str) -> str:
    if part.head is not None:
        return head_called(part.head)
    return f"the word “{last}” itself" if part.name == "token" else "its place in the text"


def adds_up(values: Values) -> tuple[bool, str]:
    """Whether the parts are the logit together."""
    total, logit = sum(part.amount for part in lesson.parts_of(values)), lesson.logit_of(values)
    off = abs(total - logit)
    return off < 1e-4, (
        f"The bars add up to {number(total, 2)}: that is the logit, {to_within(off)}."
    )


def largest(parts: Sequence[Part]) -> Part:
    """The part that brought most."""
    return max(parts, key=lambda part: part.amount)


# --- what can now be answered ---------------------------------------------------------------------


@closes("How does the network know what “it” stands for?", "two_steps")
def finds_it() -> str:
    """By all heads measured for it: another beginning changes which share the second step."""
    figures = shipped_figures()
    first = figures.best("because")
    sharing = [head for head in figures.heads if lesson.PRONOUN in figures.names(head)]
    called = listed([head_name(place, layer) for layer, place in sharing])
    shares = sorted(figures.scores_of(head)[lesson.PRONOUN] for head in sharing)
    return (
        f"In two steps. In {head_called(first)}, “it” looks back at “because”, on average with "
        f"{percent(figures.scores_of(first)['because'])} of its weight. What it finds there is "
        "written into the vector of “it”, so in the next layer its query can ask for the animal "
        "that it stands for: the first after “because”, the second after “but”. "
        f"{len(sharing)} heads share that second step, "
        f"{called}, with {percent(shares[0])} to "
        f"{percent(shares[-1])} of their weight."
    )


@closes("Which part decides the next word?", "brought", PARTS)
def decides(values: Values) -> str:
    """By the largest bar."""
    most = largest(lesson.parts_of(values))
    who = head_called(most.head) if most.head else f"the {most.name} of the last word"
    return (
        f"All together: each adds its part to the logit. For “{lesson.word_of(values)}” "
        f"{who} brings most, {number(most.amount, 2)} of {number(lesson.logit_of(values), 2)}."
    )


@closes("How does one find out what a head does?", "heads")
def found_out() -> str:
    """By its scores, and by switching it off."""
    return (
        "By measuring where its weight goes on many sentences, and comparing that with the same "
        "head before training; then by switching it off and seeing which sentences go wrong. A "
        "head that looks somewhere need not be of use there."
    )
