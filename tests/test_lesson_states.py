"""Each state of a card that a file tells is what a page that opens at these settings has there."""

import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

import pytest

from attention_ui.cards.review import declared
from attention_ui.frame.contents import LESSONS
from attention_ui.site.baking import Baked, Move, key_of
from attention_ui.site.lesson_file import lesson_file
from attention_ui.site.reader import Reader
from attention_ui.site.told import Told
from attention_ui.site.writer import Writer
from conftest import ROOT
from lesson_states import page_at, seen, tables_of, told_in
from sampling import marked

NAMES = [each.name for each in LESSONS]
MEASURED = {"cache"}
"""Cards that take the time of something, which is another each time."""
FEW, SOME = ("build_a_head", "divide_by_sqrt_d"), ("causal_mask", "kept_small")
"""Lessons of which every state is compared quickly, and slowly; of others in `make fuzz` alone."""
SLOWLY = pytest.mark.slow("60 s: lessons with many states")
EVERY = [
    pytest.param(each, marks=() if each in FEW else SLOWLY if each in SOME else pytest.mark.long)
    for each in NAMES
]


def same(mine: list[Any], theirs: list[Any], where: Any) -> None:
    """Fails with what differs: words, or columns of a picture."""
    assert len(mine) == len(theirs), where
    assert mine[0] == theirs[0], where
    for one, other in zip(mine[1:], theirs[1:], strict=True):
        differ = {name for name in {*one, *other} if one.get(name) != other.get(name)}
        for name in differ:
            pairs = enumerate(zip_longest(one.get(name, ()), other.get(name, ())))
            differ_at = [(at, each) for at, each in pairs if not alike(name, *each)]
            assert differ_at == [], (where, name)


def alike(name: str, mine: Any, theirs: Any) -> bool:
    """Whether a cell says the same. In a picture whose control has moved, as in the app, a number
    has the decimals that there was room for before.
    """
    if mine == theirs or name != "text":
        return bool(mine == theirs)
    numbers = [str(each).replace("−", "-") for each in (mine, theirs)]
    if not all(re.fullmatch(r"-?\d+(\.\d+)?", each) for each in numbers):
        return False
    decimals = len(numbers[0].partition(".")[2])
    return decimals > 0 and abs(float(numbers[0]) - float(numbers[1])) <= 0.51 * 10**-decimals


@pytest.mark.parametrize("name", EVERY)
def test_every_state_is_that_of_a_page_which_opens_there(name):
    made = lesson_file(ROOT / "pages" / f"{name}.py", {}, most_seconds=0.0)
    told = told_in(made.page())
    moves: dict[Move, list[str]] = {}
    for piece in (each for each in made.baked.pieces if each.card):
        for key in piece.states:
            move, _, asked = key.partition("?")
            if not asked:
                moves.setdefault(move_of(move), []).append(piece.name)
    assert len(moves) > 5 or name not in (*FEW, *SOME)
    for move, names in moves.items():
        there, cards = page_at(name, dict(move))
        for each in [each for each in names if each not in MEASURED]:
            place = told["pieces"][each]["states"][key_of(move, ())]
            mine, theirs = seen(told, place, dict(move)), seen(there, cards[each], dict(move))
            same(mine, theirs, (each, move))


def move_of(key: str) -> Move:
    """Controls and their texts, out of the name of a state."""
    each = (one.partition("=") for one in key.split("&"))
    return tuple((name, text) for name, _, text in each if name)


def three_of(baked: Baked) -> Iterator[tuple[str, str]]:
    """Three controls of a lesson that stand in its cards, at their last values."""
    placed = [one for one in baked._placed() if len(baked._texts(one)) > 1]
    for one in (placed[at] for at in sorted({0, len(placed) // 2, len(placed) - 1})):
        base = one.field.write(baked.reader.base[one.name])
        yield one.name, next(each for each in reversed(baked._texts(one)) if each != base)


@pytest.mark.parametrize(
    "name", marked(NAMES, ("simplified_attention",), pytest.mark.slow("90 s: every lesson"))
)
def test_at_three_settings_every_card_is_that_of_a_page_which_opens_there(name):
    """Also a card that has not read what a control changes, and so is not written again."""
    reader, told = Reader(declared(ROOT / "pages" / f"{name}.py"), {}, most_seconds=0.0), Told()
    with reader.here():
        baked = Baked(reader, Writer(reader, told), 0, moves=False).bake()
        settings = [*three_of(baked)]
    for move in settings:
        there, cards = page_at(name, dict([move]))
        for piece in [each for each in baked.pieces if each.card and each.name not in MEASURED]:
            with reader.here():
                is_read = baked._may_reach(piece.name, (move,))
                written = piece.write((move,) if is_read else (), frozenset())
            mine, theirs = (
                seen(each, one, dict([move]))
                for each, one in ((tables_of(told), written), (there, cards[piece.name]))
            )
            same(mine, theirs, (piece.name, move, is_read))
