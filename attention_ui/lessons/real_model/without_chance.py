"""Writing without chance: the likeliest token, a beam, why both repeat; what a cache saves."""

from collections.abc import Callable, Iterator
from math import exp, prod
from operator import attrgetter

from attention_core.real_model.generation import Beam, Written, beam, write

from ...cards import elements as ui
from ...cards.elements import Element
from ...charts.amounts import amounts
from ...frame.ends import closes
from ...frame.models import TINY
from ...picture import palette
from ...reactive.control import Values
from ...reactive.long_run import Steps, Work, run_so_far
from .lesson import model_of, predicts, whole
from .running import in_turns
from .write_on import TEN, as_text, put_text, room_of, why_no_more

CERTAIN, BOTH_WAYS = "without_chance", "cache_of_model"
LONG, BEAMS = 20, 3
"""So many tokens are written without chance, by so many beginnings at a time."""


def writing_without_chance(v: Values) -> Work | None:
    """A text of the likeliest tokens, then those of a beam: of each, what it gave by and by."""
    (model, ids, _), n = whole(v), min(LONG, room_of(v))
    each = [lambda: write(model, ids, n), lambda: beam(model, ids, n, BEAMS)]
    how = f"twice, with {BEAMS} beginnings the second time"
    return _writing(v, CERTAIN, n, each, how, "Write without chance")


def writing_both_ways(v: Values) -> Work | None:
    """The same tokens with a cache and without one."""
    (model, ids, _), n = whole(v), min(TEN, room_of(v))
    each = [lambda: write(model, ids, n), lambda: write(model, ids, n, has_cache=False)]
    return _writing(v, BOTH_WAYS, n, each, "with a cache, then without", "Write both ways")


def _writing(
    v: Values, name: str, n: int, each: list[Callable[[], Steps]], how: str, verb: str
) -> Work | None:
    def pieces() -> Steps:
        made: list[list] = [[] for _ in each]
        n_steps = n * (model_of(v).settings.n_layers + 1)
        for number, write_it in enumerate(each):
            for at, found in in_turns(enumerate(write_it(), 1)):
                if found is not None:
                    made[number].append(found)
                yield (number + at / n_steps) / (len(each) + 1e-9), None
        yield 1.0, made

    return (
        Work(name, whole(v), pieces, f"{n} tokens {how}", verb, quick=v.model == TINY)
        if n
        else None
    )


def what_a_cache_saves() -> Iterator[Element]:
    """Products and seconds, with the cache and without it, as they were counted."""
    yield ui.progress(BOTH_WAYS)
    run = run_so_far(BOTH_WAYS)
    if run is not None and isinstance(run.result, list):
        colours = {"your text": palette.GREY, "the tokens after it": palette.BAR}
        drawn = []
        for unit, of in (("products", attrgetter("products")), ("seconds", attrgetter("seconds"))):
            rows = [[of(each) for each in way] for way in run.result]
            pieces = [dict(zip(colours, (row[0], sum(row[1:])), strict=True)) for row in rows]
            said = [f"{_large(sum(row))} {unit}" for row in rows]
            names = ["With a cache", "Without one"]
            made = amounts(names, pieces, said, colours, unit.capitalize(), written=_large)
            drawn.append(ui.chart(f"cache_{unit}", made, 420))
        yield ui.row(*drawn)
        last = [f"{_large(way[-1].products)} products" for way in run.result]
        yield ui.text(
            "Your text is read once either way. After that a cache has the keys and values of all "
            f"tokens so far, so only the new one goes through the layers: {last[0]} for the last "
            f"token, instead of {last[1]}. The time shrinks less, of a short text hardly: a "
            "layer’s matrices have to be fetched for one token just as for many."
        )
    yield ui.link_to("attention_today", "One step with a cache, number by number")


def without_chance(v: Values) -> Iterator[Element]:
    """The two texts, and why they repeat themselves."""
    if not room_of(v):
        yield ui.text(why_no_more(v))
        return
    yield ui.progress(CERTAIN)
    run = run_so_far(CERTAIN)
    if run is None or not isinstance(run.result, list):
        return
    greedy: list[Written] = run.result[0]
    beams: list[Beam] = run.result[1][-1]
    model, decode = model_of(v), model_of(v).tokenizer.decode
    yield ui.say("**Greedy**: the likeliest token, each time.")
    yield ui.Shown(put_text, ("greedy", as_text(model, tuple(greedy))))
    chance, n = prod(each.chance for each in greedy), len(greedy)
    ended = " The last one ends the text." * (greedy[-1].token in model.ends)
    yield ui.text(f"All {n} have a chance of {_one_in(chance)}: each one’s, multiplied.{ended}")
    yield ui.say(
        f"**A beam of {BEAMS}**: after each token, the {BEAMS} beginnings stay that are likeliest "
        "as a whole. So a token that is not the likeliest may still lead to a likelier text."
    )
    for one in beams:
        yield ui.text(f"{_one_in(exp(one.log_chance))}: {decode(one.ids).strip()}")
    best = exp(beams[0].log_chance)
    yield ui.text(
        "The first is the greedy text."
        if beams[0].ids == tuple(each.token for each in greedy)
        else f"The first is {best / chance:.3g} times as likely as the greedy text."
    )


@closes("Why does a text of the likeliest tokens repeat itself?", "certain")
def why_did_it_repeat_itself(v: Values) -> str | None:
    """Nothing of a model that says no next token."""
    if not predicts(v):
        return None
    return (
        "Nothing is drawn, so the same words lead to the same next ones. And what has been said "
        "becomes likelier: heads that find where a token stood before copy what came next there "
        "(induction). A draw may fall on another token, and so leave the circle."
    )


def _one_in(chance: float) -> str:
    """A small chance as people say it."""
    return f"1 in {_large(1 / chance)}" if chance else "nearly 0"


def _large(number: float) -> str:
    for size, name in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"), (1e3, "thousand")):
        if number >= size:
            return f"{number / size:,.3g} {name}"
    return f"{number:.3g}"
