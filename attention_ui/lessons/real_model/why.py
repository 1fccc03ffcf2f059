"""Why a head looks there: what of the run the card is about, and what taking the part away says."""

from collections.abc import Iterator, Sequence
from functools import partial

from attention_core.real_model.score_parts import score_parts
from attention_core.real_model.score_trace import score_trace

from ...cards import why_there
from ...cards.elements import Element, text
from ...cards.why_there import Why, called
from ...frame.ends import closes
from ...frame.models import TINY, said
from ...reactive.control import Values
from ...reactive.long_run import Steps, Work
from ...words import percent
from .lesson import asked_of, encoded_of, head_of, key_of, predicts, query_of, seen, whole
from .running import kept, passes
from .seen import Seen

AWAY = "part_of_score_away"


def why_of(v: Values) -> Why | str:
    """What the card is about; or in words why there is nothing to take apart."""
    reading = seen(v)
    asked = (*head_of(v, reading), query_of(v), key_of(v, reading))
    try:
        parts = reading.once(("why", *asked), lambda: score_parts(reading.run, *asked))
    except ValueError as error:
        return f"There is nothing to take apart here: {error}."
    if parts.is_alone:
        return (
            f"There is nothing to explain here: token {asked[2]} sees no token but this one, and "
            "gives it all its weight whatever the score."
        )
    return Why(parts, reading.run.weights, encoded_of(v).pieces)


def without(why: Why) -> tuple[str, ...]:
    """What is taken away to see if the head looks there because of it: the part that is why, and
    heads of its layer for comparison, as `MODEL_OFF` has them; nothing where it cannot be.
    """
    part, _ = why.best
    if why.lead <= 0 or part.kind not in ("head", "feed-forward"):
        return ()
    return why_there.off_name(part), *why_there.beside(why, part, why.parts.by_key())


def taking_away(v: Values) -> Work | None:
    """A run without the part that is why, and one without each of those for comparison."""
    why = why_of(v)
    if isinstance(why, str) or not (names := without(why)):
        return None
    each = [(*whole(v)[:2], name) for name in names]

    def pieces() -> Steps:
        runs: list[Seen] = []
        for about in each:
            for share, found in passes(about):
                runs += [found] if found else []
                yield (len(runs) + share * (found is None)) / len(each), tuple(runs)

    known = v.model == TINY or all(map(kept, each))
    away = called(names[0])
    cost = f"{len(each)} runs: one without {away}, and {len(each) - 1} for comparison"
    return Work(AWAY, tuple(each), pieces, cost, f"Take {away} away", quick=known)


def taken_away(v: Values, why: Why, runs: Sequence[Seen]) -> str:
    """What is left without the part that is why, and without others; whether both ways agree."""
    weights = [each.run.weights for each in runs]
    told = why_there.left_without(why, without(why), weights)
    if predicts(v):
        asked, _ = asked_of(v, seen(v))
        now, then, *more = (float(each.chances[asked]) for each in (seen(v), *runs))
        answer = said(seen(v).run.model, asked)
        told += (
            f" The answer “{answer}” has {percent(then)} then, in place of {percent(now)}; without "
            f"the others {why_there.span(more)}."
        )
    left, *rest = map(why.weight_in, weights)
    return f"{told} {why_there.verdict(why.weight, left, rest, why.best[1] / why.lead)}"


@closes("Can one know why a head looks at this token and not at another?", "why")
def why_does_it_look_there() -> str:
    """What the numbers of the card say, and what they do not."""
    return (
        "In part. A score is a sum, so one can know how much of it each earlier part brought. But "
        "a sum is not a cause: later parts may make up for one that is taken away, so believe it "
        "only once you have switched that part off."
    )


def numbers(v: Values) -> Iterator[Element]:
    """The pairs of the largest parts as products."""
    why = why_of(v)
    if isinstance(why, str):
        yield text(why)
        return
    yield from why_there.in_numbers(why, partial(score_trace, seen(v).run))
