"""What goes deeper about writing: the likeliest token each time, the likeliest text that a beam
finds, why such texts repeat themselves, and what a cache saves.
"""

from collections.abc import Iterator, Sequence
from math import exp, prod

from attention_core.real_model.generation import Beam, Written, beam, write
from attention_core.real_model.run import logits

from ...cards import elements as ui
from ...cards.elements import Element
from ...charts.amounts import amounts
from ...controls.control import Values
from ...frame.long_run import Steps, Work, run_so_far
from ...frame.models import TINY
from ...picture import palette
from ...words import percent
from .lesson import encoded_of, model_of, seen, whole
from .running import in_turns
from .seen import Seen
from .write_on import TEN, as_text, put_text, room_of, why_no_more

CERTAIN, BOTH_WAYS = "without_chance", "cache_of_model"
LONG, BEAMS = 20, 3
"""So many tokens are written without chance, by so many beginnings at a time."""

RISES = 0.05
"""By less, nothing is said to have become likelier."""


def _work(v: Values, name: str, n: int, each: list, cost: str, verb: str) -> Work | None:
    """Several texts of `n` tokens behind the visitor's own, one after the other; their results, the
    last of each of those that come token by token.
    """

    def pieces() -> Steps:
        made: list[list] = [[] for _ in each]
        n_steps = n * (model_of(v).settings.n_layers + 1)
        for number, write_it in enumerate(each):
            for at, found in in_turns(enumerate(write_it(), 1)):
                if found is not None:
                    made[number].append(found)
                yield (number + at / n_steps) / (len(each) + 1e-9), None
        yield 1.0, made

    return Work(name, whole(v), pieces, cost, verb, quick=v.model == TINY) if n else None


def writing_without_chance(v: Values) -> Work | None:
    """A text of the likeliest tokens, and those of a beam."""
    (model, ids, _), n = whole(v), min(LONG, room_of(v))
    each = [lambda: write(model, ids, n), lambda: beam(model, ids, n, BEAMS)]
    return _work(v, CERTAIN, n, each, f"{n} tokens twice, with {BEAMS} beginnings the second time",
                 "Write without chance")  # fmt: skip


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
    yield ui.text(why_it_repeats(seen(v), greedy))
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


def repeated(ids: Sequence[int], first: int) -> tuple[int, int, int] | None:
    """The longest run of two tokens or more that came before and ends behind `first`: where it
    stood, where it stands again, and how long it is.
    """
    best = (0, 0, 1)
    for here in range(len(ids)):
        for before in range(here):
            n = 0
            while here + n < len(ids) and ids[before + n] == ids[here + n]:
                n += 1
            if n > best[2] and here + n > first:
                best = (before, here, n)
    return best if best[2] > 1 else None


def why_it_repeats(reading: Seen, written: list[Written]) -> str:
    """How likely what is repeated was when it came first, and when it came again."""
    model, own = reading.run.model, reading.run.ids
    ids = (*own, *(each.token for each in written))
    found = repeated(ids, len(own))
    if found is None:
        return f"In these {len(written)} tokens, no two tokens in a row come twice."
    before, here, n = found

    def chances() -> list[float | None]:
        rows = logits(reading.run).softmax(-1)[:-1]
        return [None, *(float(row[token]) for row, token in zip(rows, own[1:], strict=True))]

    each = [*reading.once("of its own", chances), *(one.chance for one in written)]
    first, again = (
        [one for one in each[at + 1 : at + n] if one is not None] for at in (before, here)
    )
    text = model.tokenizer.decode(ids[here : here + n]).strip()
    was, now = (sum(row) / len(row) for row in (first, again))
    told = (
        f"“{text}” comes twice. After its first token, the model gave the others {percent(was)} on "
        f"average the first time, and {percent(now)} the second"
    )
    if now - was < RISES:
        return f"{told}: here, having been there before hardly made it likelier."
    return (
        f"{told}. Heads that look for what came next the last time (induction) find it, so each "
        "repeat makes the next one likelier, and the likeliest token is always taken. A draw may "
        "fall on another one, and so get out of the circle."
    )


def writing_both_ways(v: Values) -> Work | None:
    """The same tokens with a cache and without one."""
    (model, ids, _), n = whole(v), min(TEN, room_of(v))
    each = [
        lambda has_cache=has_cache: write(model, ids, n, has_cache=has_cache)
        for has_cache in (True, False)
    ]
    return _work(v, BOTH_WAYS, n, each, f"{n} tokens twice", "Write both ways")


def what_a_cache_saves(v: Values) -> Iterator[Element]:
    """Products and seconds, with the cache and without it, as they were counted."""
    yield ui.progress(BOTH_WAYS)
    run = run_so_far(BOTH_WAYS)
    if run is not None and isinstance(run.result, list):
        names, ways = ["With a cache", "Without one"], run.result
        counts = [[each.products for each in way] for way in ways]
        seconds = [[each.seconds for each in way] for way in ways]
        drawn = []
        for title, unit, rows in (("Products", "products", counts), ("Seconds", "s", seconds)):
            pieces = [{"your text": row[0], "the tokens after it": sum(row[1:])} for row in rows]
            said = [_amount(sum(row), unit) for row in rows]
            colours = {"your text": palette.GREY, "the tokens after it": palette.BAR}
            made = amounts(names, pieces, said, colours, title, written=_large)
            drawn.append(ui.chart(f"cache_{unit}", made, 420))
        yield ui.row(*drawn)
        n = len(encoded_of(v).ids)
        is_same = [each.token for each in ways[0]] == [each.token for each in ways[1]]
        yield ui.light(is_same, "Both ways wrote the same tokens.")
        yield ui.text(
            f"Your text of {n} tokens is read once either way. After that a cache has the keys "
            "and values of all tokens so far, so only the new one goes through the layers: "
            f"{_amount(counts[0][-1], 'products')} for the last token, instead of "
            f"{_amount(counts[1][-1], 'products')}. The time shrinks less: a layer’s matrices "
            "have to be fetched for one token just as for many."
        )
    yield ui.link_to("attention_today", "One step with a cache, number by number")


def _one_in(chance: float) -> str:
    """A small chance as people say it."""
    return f"1 in {_large(1 / chance)}" if chance else "nearly 0"


def _amount(number: float, unit: str) -> str:
    """A large number as people say it."""
    return f"{number:.2g} s" if unit == "s" else f"{_large(number)} {unit}"


def _large(number: float) -> str:
    for size, name in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"), (1e3, "thousand")):
        if number >= size:
            return f"{number / size:,.3g} {name}"
    return f"{number:.3g}"
