"""What each head does over many sentences, on the page: heads as points in a plane of two measures,
and of the chosen one its strongest pairs of tokens and the names that it has earned.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from weakref import WeakKeyDictionary

import pandas as pd
import streamlit as st

from attention_core.real_model.measures import MEASURES
from attention_core.real_model.model import Model
from attention_core.real_model.survey import Survey, english, of_tiny_language, survey
from attention_core.real_model.survey_file import keep, kept
from attention_core.text.tokenizers import visible

from ...controls import held, parts
from ...controls.control import Values
from ...controls.widget import control
from ...frame.long_run import go_on, long_run
from ...frame.models import TINY
from ...words import percent
from .heads import choose_head
from .lesson import SURVEY_ACROSS, SURVEY_UP
from .plane import plane
from .running import in_turns, in_words
from .seen import Seen

KEY = "fills_survey"
WIDTH = 560
HOLDS = 0.5
"""A head is called by what it gives this much of its weight to, over all sentences."""
NAMES = {
    "previous": ("the token before", "a previous-token head"),
    "induction": ("what followed the same token before", "an induction head"),
    "same": ("earlier places of the same token", "a duplicate-token head"),
    "first": ("the first token", "an attention sink, which rests until it has something to do"),
    "near": (f"the token itself and those {MEASURES['near'].name}", "a local head"),
}
"""By measure: what gets the weight, and what a head is called for it. One that looks at the token
before is local anyway, and so is not called that too; an even spread is no name.
"""
ASKED_WHERE = {"same": " that came again", "induction": " that came again"}
"""Which tokens are asked, where it is not all of them."""
_FOUND = WeakKeyDictionary[Model, tuple[Sequence[str], Survey]]()
"""What has been found for a visitor is there for all, also where no file can be written: with the
sentences that it is of.
"""


@st.fragment
@in_words
def surveyed(values: Values, found: Seen, chosen: tuple[int, int]) -> None:
    """The survey of a model, or the way to it: progress, a plane of heads, and the chosen head."""
    model = found.run.model
    is_tiny = values.model == TINY
    sentences = of_tiny_language() if is_tiny else english()
    those = (
        "texts of the tiny language"
        if is_tiny
        else "short sentences: names said twice, lists, questions, dialogue, numbers, code"
    )
    st.markdown(
        "What a head does on your text is rarely all that it does. So each measure is also taken "
        f"over {len(sentences)} {those}."
    )
    going = long_run(
        "survey_of_model",
        model,
        lambda: _slices(model, sentences, is_kept=not is_tiny),
        quick=is_tiny or _known(model, sentences) is not None,
        cost=f"{len(sentences)} sentences through {model.settings.n_layers} layers each",
    )
    if isinstance(going.found, Survey):
        if going.found.n_read:
            _plane(going.found, chosen)
            st.text(name_of(going.found, found, chosen))
            _pairs(model, sentences, going.found, chosen)
        elif going.share >= 1:
            st.text("This model has no tokens for the words of our sentences: it can read none.")
    go_on(going)


def _known(model: Model, sentences: Sequence[str]) -> Survey | None:
    """A survey that was made before, for anybody."""
    of, found = _FOUND.get(model, ((), None))
    if of == sentences:
        return found
    if found := kept(model, sentences):
        _FOUND[model] = sentences, found
    return found


def _slices(
    model: Model, sentences: Sequence[str], is_kept: bool
) -> Iterator[tuple[float, Survey]]:
    """A survey as steps, kept at its end."""
    if known := _known(model, sentences):
        yield 1.0, known
        return
    for share, found in in_turns(survey(model, sentences)):
        if share >= 1:
            _FOUND[model] = sentences, found
            if is_kept:
                keep(model, sentences, found)
        yield share, found


# --- the plane of heads --------------------------------------------------------------------------


def _plane(found: Survey, chosen: tuple[int, int]) -> None:
    with st.container(horizontal=True, gap="medium"):
        control(SURVEY_ACROSS, width=230)
        control(SURVEY_UP, width=230)
    now = held.values()  # of this moment, where the row runs alone
    made = plane(found, now.survey_across, now.survey_up, chosen)
    with st.container(width=WIDTH, key="chart_of_survey"):
        look = {"width": "stretch", "height": "content", "alt": made.alt, "key": KEY}
        st.vega_lite_chart(
            made.frame, made.spec, on_select=partial(_told, KEY), selection_mode=["head"], **look
        )
    n_asked, n_sentences = found.asked(now.survey_up)
    st.caption(
        "Each point is a head; the chosen one is orange, and a click chooses another. A measure is "
        "the mean over all tokens of all sentences that it can be asked of: upwards, "
        f"{n_asked:,} tokens of {n_sentences} sentences. {MEASURES[now.survey_up].words}"
    )


def _told(key: str) -> None:
    """A head that was clicked on: the cards above show it too."""
    if choose_head(key):
        parts.run_what_reads()


# --- the chosen head -----------------------------------------------------------------------------


def name_of(survey: Survey, found: Seen, chosen: tuple[int, int]) -> str:
    """What a head is called for what holds of it over all sentences, and on how much that stands;
    beside it, how it is on the text that is there.
    """
    shares = {name: survey.mean(name, *chosen) for name in NAMES}
    shares = {name: share for name, share in shares.items() if share == share}  # no NaN
    holds = [name for name, share in shares.items() if share >= HOLDS]
    if "previous" in holds and "near" in holds:
        holds.remove("near")
    head = f"head {chosen[0]}.{chosen[1]}"
    if not holds:
        most = max(shares, key=shares.__getitem__)
        _, n_sentences = survey.asked(most)
        return (
            f"No name for {head}: over {n_sentences} sentences, at most {_below(shares[most])} of "
            f"its weight goes to one kind of token ({NAMES[most][0]}), and a name needs "
            f"{percent(HOLDS)}.{_here(found, most, chosen)}"
        )
    told = []
    for name in holds:
        n_asked, n_sentences = survey.asked(name)
        what, called = NAMES[name]
        told.append(
            f"Over {n_sentences} sentences, {percent(shares[name])} of the weight of {head} goes "
            f"to {what} (the mean of {n_asked:,} tokens{ASKED_WHERE.get(name, '')}): {called}."
            f"{_here(found, name, chosen)}"
        )
    return "\n\n".join(told)


def _below(share: float) -> str:
    """A share that is below the bar, written so that it does not look as if it reached it."""
    return f"just under {percent(HOLDS)}" if percent(share) == percent(HOLDS) else percent(share)


def _here(found: Seen, name: str, chosen: tuple[int, int]) -> str:
    """The same measure on the text that is there, where it can be asked."""
    here = float(MEASURES[name].of(found.run.weights[chosen], found.run.ids))
    return f" On your text: {percent(here)}." if here == here else ""


def _pairs(model: Model, sentences: Sequence[str], survey: Survey, chosen: tuple[int, int]) -> None:
    """The strongest pairs of tokens of a head, as a table of plain text."""
    pairs = survey.pairs(*chosen)
    called = f"{chosen[0]}.{chosen[1]}"
    if not pairs:
        st.markdown(f"Head {called} looks at nothing but the first token and itself.")
        return
    st.markdown(
        f"**Where head {called} looks hardest.** The first token is left out, since heads rest "
        "there when they find nothing, and so is a token that looks at itself. In parentheses: the "
        "token’s place, counted from 0."
    )
    rows = []
    for pair in pairs:
        pieces = model.tokenizer.encode(sentences[pair.sentence]).pieces
        query, key = (f"{visible(pieces[at])} ({at})" for at in (pair.query, pair.key))
        rows.append({"weight": percent(pair.weight), "looks from": query, "at": key,
                     "in": sentences[pair.sentence]})  # fmt: skip
    st.dataframe(pd.DataFrame(rows), hide_index=True, width="stretch")
