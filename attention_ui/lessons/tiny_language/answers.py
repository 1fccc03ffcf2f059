"""What the lesson on the tiny language leaves its reader able to answer."""

from attention_core.small_models.figures import TEXTS, shipped_figures

from ...page.closing import Answer
from ...page.view import View
from ...settings.choices import head_called
from ...words import number, percent
from .brought_by import PARTS, largest, logit_of, parts_of, word_of


def answers(view: View) -> list[Answer]:
    """On what a head does, on what it brings, and on how good the network is."""
    return [
        Answer("How does the network know what “it” stands for?", finds_it(), "watch"),
        Answer("Which part decides the next word?", decides(view), "brought", (PARTS,)),
        Answer("How does one find out what a head does?", found_out(), "heads"),
    ]


def finds_it() -> str:
    """By the heads that were measured for it."""
    figures = shipped_figures()
    first, second = figures.best("because"), figures.best("pronoun to noun")
    return (
        "In two steps. "
        f"In {head_called(first)}, “it” looks back at “because” with "
        f"{percent(figures.scores_of(first)['because'])} of its weight. In "
        f"{head_called(second)}, it looks at the animal that it stands for with "
        f"{percent(figures.scores_of(second)['pronoun to noun'])}: the first after “because”, the "
        f"second after “but”. {who_else()}"
    )


def who_else() -> str:
    """How many heads share the second step, and which head without a name is needed most."""
    figures = shipped_figures()
    sharing = [head for head in figures.heads if "pronoun to noun" in figures.names(head)]
    unnamed = [head for head in figures.heads if not figures.names(head)]
    words = f"That second step is shared: {len(sharing)} heads have its name."
    if not unnamed:
        return words
    without = figures.after_it_without["because"]
    needed = min(unnamed, key=lambda head: without[head[0]][head[1]])
    return (
        f"{words} A head without a name can matter too: switch off layer {needed[0]} head "
        f"{needed[1]}, and the chance of a right verb after “because it” falls from "
        f"{percent(figures.after_it['because'])} to {percent(without[needed[0]][needed[1]])}, on "
        f"average over {TEXTS} texts."
    )


def decides(view: View) -> str:
    """By the largest bar."""
    settings = view.settings
    most = largest(parts_of(settings))
    who = head_called(most.head) if most.head else f"the {most.name} of the last word"
    return (
        f"All together: each adds its part to the logit. For “{word_of(settings)}” "
        f"{who} brings most, {number(most.amount, 2)} of {number(logit_of(settings), 2)}."
    )


def found_out() -> str:
    """By its scores, and by switching it off."""
    return (
        "By measuring where its weight goes on many sentences, and comparing that with the same "
        "head before training; then by switching it off and seeing which sentences go wrong. A "
        "head that looks somewhere need not be of use there."
    )
