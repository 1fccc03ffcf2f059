"""A beginning, what the network says comes next, and what it says without one of its heads."""

from functools import lru_cache

import streamlit as st

from attention_core.small_models import shipped
from attention_core.small_models.figures import shipped_figures
from attention_core.small_models.grammar import START, WORDS, next_words
from attention_core.small_models.tracing import pass_through
from attention_core.trace import Trace

from ...charts.bars import bars
from ...page.show import show
from ...settings import session
from ...settings.choices import TINY_HEADS
from ...settings.control import control, control_row
from ...settings.settings import Settings
from ...words import listed, percent

READY = {
    "because it …": ("the tired cat sees the dog because it", "pronoun to noun"),
    "but it …": ("the tired cat sees the dog but it", "pronoun to noun"),
    "a name again …": (
        "anna brook finds the ball . ben hill paints the kite . anna",
        "name again",
    ),
    "a bracket …": ("clara wood ( the old horse neighs in the forest", "opening mark"),
    "a quotation …": ("emma lake says “ the frog hops in the river", "opening mark"),
}
"""Beginnings to choose, what each tries, and the kind of head to watch there."""
DRAWN = 8
"""The likeliest words are drawn."""


def head_of(written: str) -> tuple[int, int] | None:
    """A head as a setting names it; None for none."""
    if written == "none":
        return None
    layer, head = written.split(".")
    return int(layer), int(head)


def words_of(settings: Settings) -> tuple[str, ...]:
    """The beginning as the network reads it, with its start before it."""
    return (START, *settings.beginning.split())


@lru_cache(maxsize=8)
def told(words: tuple[str, ...], off: str = "none") -> Trace:
    """The network's way through some words, kept: several parts of the page show it."""
    return pass_through(shipped.weights(), WORDS, words, head_of(off))


def build(settings: Settings) -> Trace:
    """The lesson's trace."""
    return told(words_of(settings))


def choose() -> None:
    """The beginning, typed or chosen, and the head that is switched off."""
    with control_row():
        control("beginning", width=430)
        control("tiny_off", elsewhere=True, width=300)
    now = session.current()
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
        st.caption("Or try", width="content")
        kept = {*now.hide, *now.lock}
        for label, (beginning, kind) in READY.items():
            head = ".".join(map(str, shipped_figures().best(kind)))
            chosen = {"beginning": beginning, "tiny_head": head}
            st.button(
                label,
                key=f"ready_{label}",
                type="tertiary",
                on_click=session.overwrite,
                kwargs={name: value for name, value in chosen.items() if name not in kept},
                disabled="beginning" in kept,
            )


def all_words() -> str:
    """The vocabulary, as a paragraph."""
    return " · ".join(word for word in WORDS if word != START)


def next_word(settings: Settings) -> None:
    """Bars of the likeliest next words: beside the grammar's own chances, or without the head
    beside all of them.
    """
    words, off = words_of(settings), settings.tiny_off
    whole = _chances(words)
    if off != "none":
        rows = {
            "all heads": whole,
            f"without {TINY_HEADS[off].partition(' (')[0]}": _chances(words, off),
        }
    else:
        allowed = allowed_next(words)
        rows = {"the network": whole}
        if allowed is not None:
            rows = {"the grammar": [allowed.get(word, 0.0) for word in WORDS], **rows}
    most = [max(each) for each in zip(*rows.values(), strict=True)]
    drawn = sorted(range(len(WORDS)), key=lambda at: -most[at])[:DRAWN]
    picked = {name: [each[at] for at in drawn] for name, each in rows.items()}
    names = tuple(WORDS[at] for at in drawn)
    show(bars(names, picked, f"Chances of the next word, {' and '.join(rows)}."))


def _chances(words: tuple[str, ...], off: str = "none") -> list[float]:
    return told(words, off)["probabilities"].value[-1].tolist()


def allowed_next(words: tuple[str, ...]) -> dict[str, float] | None:
    """What the grammar may say after these words; None where it never says them."""
    try:
        return next_words(words)
    except ValueError:
        return None


def judged(settings: Settings) -> tuple[bool, str]:
    """Whether the network, with the head off that is off, still says what the grammar may say."""
    words, off = words_of(settings), settings.tiny_off
    allowed = allowed_next(words)
    chances = _chances(words, off)
    likeliest = WORDS[max(range(len(WORDS)), key=chances.__getitem__)]
    if allowed is None:
        return False, (
            "The grammar never says these words in this order, so there is no right next word. The "
            f"network says “{likeliest}”."
        )
    right = min(1.0, sum(chances[WORDS.index(word)] for word in allowed))
    some = [f"“{word}”" for word in allowed][:6]
    may = f"The grammar goes on with {listed([*some, 'others'] if allowed.keys() - some else some)}"
    if off == "none":
        return right > 0.5, f"{may}. The network puts {percent(right)} of the chance there."
    whole = min(1.0, sum(_chances(words)[WORDS.index(word)] for word in allowed))
    said = f"{may}. With all heads the network puts {percent(whole)} there, without this one "
    if right > 0.5:
        return True, f"{said}{percent(right)}: here it can do without that head."
    if likeliest in allowed:
        return (
            False,
            f"{said}{percent(right)}: most of the chance lies on words that cannot follow.",
        )
    return False, f"{said}{percent(right)}, and says “{likeliest}”: the sentence goes wrong."
