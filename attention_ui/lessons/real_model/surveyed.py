"""What each head does over many sentences: a plane of two measures, and the chosen one’s names."""

from collections.abc import Iterator, Sequence
from weakref import WeakKeyDictionary

import pandas as pd

from attention_core.real_model.measures import MEASURES
from attention_core.real_model.model import Model
from attention_core.real_model.survey import Survey, english, of_tiny_language, survey
from attention_core.text.tokenizers import visible
from attention_core.utils.head_name import head_name

from ...cards.elements import Element, caption, frame, progress, row, say, text
from ...frame.models import TINY
from ...reactive.control import Values
from ...reactive.long_run import Work, run_so_far
from ...words import capital, percent
from .charts import plane
from .heads import choosing
from .lesson import SURVEY_ACROSS, SURVEY_UP, head_of, model_of, seen
from .running import in_turns
from .seen import Seen

SURVEY = "survey_of_model"
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
_SURVEYS = WeakKeyDictionary[Model, tuple[Sequence[str], Survey]]()
"""What has been found for a visitor is there for all, with the sentences that it is of."""


def _sentences(values: Values) -> Sequence[str]:
    return of_tiny_language() if values.model == TINY else english()


def about_the_survey(values: Values) -> str:
    """What is measured, and over what."""
    those = (
        "texts of the tiny language"
        if values.model == TINY
        else "short sentences: names said twice, lists, questions, dialogue, numbers, code"
    )
    return (
        "What a head does on your text is rarely all that it does. So each measure is also taken "
        f"over {len(_sentences(values))} {those}."
    )


def surveying(values: Values) -> Work:
    """The survey of a model."""
    model, sentences = model_of(values), _sentences(values)
    return Work(
        SURVEY,
        model,
        lambda: _slices(model, sentences),
        cost=f"{len(sentences)} sentences through {model.settings.n_layers} layers each",
        quick=values.model == TINY or _known(model, sentences) is not None,
    )


def surveyed(v: Values) -> Iterator[Element]:
    """A plane of heads and the chosen head, as far as the survey has come."""
    yield progress(SURVEY)
    run, reading = run_so_far(SURVEY), seen(v)
    if isinstance(run.result, Survey):
        if run.result.n_read:
            chosen = head_of(v, reading)
            yield from _plane(v, run.result, chosen)
            yield text(name_of(run.result, reading, chosen))
            yield from _pairs(reading.run.model, _sentences(v), run.result, chosen)
        elif run.share >= 1:
            yield text("This model has no tokens for the words of our sentences: it can read none.")


def _known(model: Model, sentences: Sequence[str]) -> Survey | None:
    of, known = _SURVEYS.get(model, ((), None))
    return known if of == sentences else None


def _slices(model: Model, sentences: Sequence[str]) -> Iterator[tuple[float, Survey]]:
    """A survey as steps, kept at its end."""
    if known := _known(model, sentences):
        yield 1.0, known
        return
    for share, result in in_turns(survey(model, sentences)):
        if share >= 1:
            _SURVEYS[model] = sentences, result
        yield share, result


# --- the plane of heads --------------------------------------------------------------------------


def _plane(v: Values, survey: Survey, chosen: tuple[int, int]) -> Iterator[Element]:
    yield row(SURVEY_ACROSS.at(width=230), SURVEY_UP.at(width=230))
    yield choosing("survey", plane(survey, v.survey_across, v.survey_up, chosen), WIDTH)
    n_asked, n_sentences = survey.asked(v.survey_up)
    yield caption(
        "Each point is a head; the chosen one is orange, and a click chooses another. A measure is "
        "the mean over all tokens of all sentences that it can be asked of: upwards, "
        f"{n_asked:,} tokens of {n_sentences} sentences. {MEASURES[v.survey_up].words}"
    )


# --- the chosen head -----------------------------------------------------------------------------


def name_of(survey: Survey, reading: Seen, chosen: tuple[int, int]) -> str:
    """What a head is called over all sentences, on how much that stands, and how it is here."""
    shares = {name: survey.mean(name, *chosen) for name in NAMES}
    shares = {name: share for name, share in shares.items() if share == share}  # no NaN
    holds = [name for name, share in shares.items() if share >= HOLDS]
    if "previous" in holds and "near" in holds:
        holds.remove("near")
    head = head_name(chosen[1], chosen[0])
    if not holds:
        most = max(shares, key=shares.__getitem__)
        share = percent(shares[most])  # below the bar, and not to look as if it reached it
        share = f"just under {share}" if share == percent(HOLDS) else share
        _, n_sentences = survey.asked(most)
        return (
            f"No name for {head}: over {n_sentences} sentences, at most {share} of "
            f"its weight goes to one kind of token ({NAMES[most][0]}), and a name needs "
            f"{percent(HOLDS)}.{_here(reading, most, chosen)}"
        )
    told = []
    for name in holds:
        n_asked, n_sentences = survey.asked(name)
        what, called = NAMES[name]
        told.append(
            f"Over {n_sentences} sentences, {percent(shares[name])} of the weight of {head} goes "
            f"to {what} (the mean of {n_asked:,} tokens{ASKED_WHERE.get(name, '')}): {called}."
            f"{_here(reading, name, chosen)}"
        )
    return "\n\n".join(told)


def _here(reading: Seen, name: str, chosen: tuple[int, int]) -> str:
    here = float(MEASURES[name].of(reading.run.weights[chosen], reading.run.ids))
    return f" On your text: {percent(here)}." if here == here else ""


def _pairs(
    model: Model, sentences: Sequence[str], survey: Survey, chosen: tuple[int, int]
) -> Iterator[Element]:
    """The strongest pairs of tokens of a head, as a table of plain text."""
    pairs = survey.pairs(*chosen)
    called = head_name(chosen[1], chosen[0])
    if not pairs:
        yield say(f"{capital(called)} looks at nothing but the first token and itself.")
        return
    yield say(
        f"**Where {called} looks hardest.** The first token is left out, since heads rest "
        "there when they find nothing, and so is a token that looks at itself. In parentheses: the "
        "token’s place, counted from 0."
    )
    rows = []
    for pair in pairs:
        pieces = model.tokenizer.encode(sentences[pair.sentence]).pieces
        query, key = (f"{visible(pieces[at])} ({at})" for at in (pair.query, pair.key))
        rows.append({"weight": percent(pair.weight), "looks from": query, "at": key,
                     "in": sentences[pair.sentence]})  # fmt: skip
    yield frame(pd.DataFrame(rows), width="stretch")
