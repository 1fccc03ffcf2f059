"""A question as a page's script asks and judges it: each verdict that there can be, told before;
or how far off a row of weights is, which the script works out as `row_question.py` does.
"""

from collections.abc import Iterator
from itertools import combinations, islice
from typing import Any

from ..cards.question import _as_buttons
from ..cards.questions import NONE, Pick, Question, Shape
from ..cards.row_question import CLOSE, GUESS, Row
from ..charts.bars import bars, width_of
from . import pictures
from .markdown import inline
from .told import Told

MOST_VERDICTS = 2_048
"""Of a question with several answers: fewer at a time come first. All of eleven choices."""


def question(told: Told, asked: Question, fingerprint: int) -> dict[str, Any]:
    """All that is needed to ask it, to judge a guess and to show the answer."""
    made: dict[str, Any] = {
        "words": inline(asked.words),
        "asked": asked.asked,
        "answer": inline(asked.answer()),
        "teaches": inline(asked.teaches),
        "missing": inline(asked.missing),
        "again": asked.until_right,
        "fingerprint": f"{fingerprint & 0xFFFFFFFFFFFF:x}",
    }
    match asked:
        case Row():
            return made | _row(told, asked)
        case Shape():
            return made | {"kind": "shape", **_shape(asked)}
        case Pick():
            return made | _pick(asked)
    return made | {"kind": "none"}


def _pick(asked: Pick) -> dict[str, Any]:
    kind = "several" if asked.many else "list" if not _as_buttons(asked) else "buttons"
    kind = "lines" if asked.in_full else kind
    verdicts: dict[str, int] = {}
    said: dict[tuple[bool, str], int] = {}
    for guess in islice(_guesses(asked), MOST_VERDICTS):
        one = asked.judged([*guess])
        place = said.setdefault((one.right, inline(one.words)), len(said))
        verdicts[",".join(map(str, guess))] = place
    return {
        "kind": kind,
        "choices": [*asked.choices, *([NONE] if asked.many else [])],
        "verdicts": verdicts,
        "said": [[right, words] for right, words in said],
    }


def _guesses(asked: Pick) -> Iterator[tuple[int, ...]]:
    places = range(len(asked.choices))
    if not asked.many:
        yield from ((at,) for at in places)
        return
    for size in range(len(places) + 1):
        yield from combinations(places, size)


def _shape(asked: Shape) -> dict[str, Any]:
    return {"sides": [*asked.sides], "truth": [[*each] for each in asked.truth]}


def _row(told: Told, asked: Row) -> dict[str, Any]:
    even = tuple([1 / len(asked.names)] * len(asked.names))
    both, alone = asked.drawn(even), bars(asked.names, {GUESS: even})
    return {
        "kind": "row",
        "both": pictures.chart(told, both, both.spec),
        "alone": pictures.chart(told, alone, alone.spec),
        "width": width_of(len(asked.names)),
        "labels": asked.labels,
        "names": asked.names,
        "truth": [float(each) for each in asked.truth],
        "close": CLOSE,
    }
