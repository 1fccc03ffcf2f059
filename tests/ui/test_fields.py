"""What a field takes and refuses, at its very ends, of every field there is; and what it writes."""

import math
import struct

import pytest

from attention_core.small_models.grammar import LONGEST
from attention_ui.controls.fields import (
    LARGEST_ENTRY,
    MAX_EDITS,
    MAX_TRAIL,
    Edits,
    KnownWords,
    Lines,
    Places,
    Query,
    ScoreRow,
    Trail,
)
from attention_ui.reactive.control import Control, NoRoom, fitted, understood, written
from attention_ui.reactive.fields import Choice, Decimal, Flag, Names, OptionalWhole, Whole
from chosen import EVERY, FIELDS

NO_NUMBERS = ("nan", "-nan", "NaN", "+inf", "inf", "1e999", "-1e999", "x", "", "٣e")
OF_NUMBERS = {
    name: f for name, f in FIELDS.items() if isinstance(f, Whole | Decimal | ScoreRow | Edits)
}


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_what_is_no_number_is_refused_wherever_a_number_can_be_typed(name):
    field = OF_NUMBERS[name]
    like = {Edits: "0.0:{}", ScoreRow: "1,{},2"}.get(type(field), "{}")
    for text in NO_NUMBERS:
        is_nothing = not text and isinstance(field, ScoreRow | OptionalWhole)
        is_hidden = text == "-1e999" and isinstance(field, ScoreRow)  # −∞: a score may be that
        if not (is_nothing or is_hidden):
            with pytest.raises(ValueError, match=r"\w"):
                field.read(like.format(text))


ROUND = (0.1, 1 / 3, -2 / 3, 0.123456789, 3.14159274, 1e-7, -0.00123456785)
"""Numbers of nine digits: as many tell all float32 apart."""


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_a_float32_that_is_written_is_the_same_when_it_is_read(name):
    field = OF_NUMBERS[name]
    for number in ROUND:
        one = struct.unpack("f", struct.pack("f", number))[0]
        if isinstance(field, Edits):
            told = field.read(field.write(((2, 1, one),)))[0][2]
        elif isinstance(field, ScoreRow):
            told = field.read(field.write((one,)))[0]
        elif isinstance(field, Decimal) and not field.options and field.least <= one <= field.most:
            told = field.read(field.write(one))
        else:
            continue
        assert struct.pack("f", told) == struct.pack("f", one)


def many(part: str, count: int, between: str) -> str:
    return between.join(part.format(at) for at in range(count))


LETTERS = str.maketrans("0123456789", "abcdefghij")
WORDS = "the cat sees the dog because it "
LAST = {
    "lines": (Lines(3, 5), lambda n: many("{}", n, "\n"), 3),
    "a line": (Lines(3, 5), lambda n: "x" * n, 5),
    "a query": (Query(20), lambda n: "a=" + "x" * (n - 2), 20),
    "scores": (ScoreRow(9, 4), lambda n: many("{}", n, ","), 4),
    "a score": (ScoreRow(9, 4), str, 9),
    "edits": (Edits(), lambda n: many("0.{}:1", n, ","), MAX_EDITS),
    "an edit": (Edits(), lambda n: f"0.0:{n}", int(LARGEST_ENTRY)),
    "a negative edit": (Edits(), lambda n: f"0.0:-{n}", int(LARGEST_ENTRY)),
    "places": (Places(4), lambda n: many("0.{}", n, ","), 4),
    "a trail": (Trail(), lambda n: many("scores.0.{}", n, ","), MAX_TRAIL),
    "words": (KnownWords(), lambda n: " ".join((WORDS * 20).split()[:n]), LONGEST - 1),
    "a whole number": (Whole(2, 7), str, 7),
    "an optional one": (OptionalWhole(2, 7), str, 7),
    "a number": (Decimal(2, 7), str, 7),
    "names": (Names(), lambda n: many("n{}", n, ",").translate(LETTERS), 200),
}  # fmt: skip
"""A field, a text of so much, and how much it takes at most."""


@pytest.mark.parametrize("what", LAST)
def test_as_much_as_is_said_fits_and_no_more(what):
    field, text_of, most = LAST[what]
    value = field.read(text_of(most))
    assert field.read(field.write(value)) == value
    with pytest.raises(ValueError, match=r"\w"):
        field.read(text_of(most + 1))


def test_cells_are_kept_in_their_order_each_once_and_the_last_that_was_typed():
    edits = Edits()
    assert edits.read("3.1:2,0.2:1,3.1:5") == ((0, 2, 1.0), (3, 1, 5.0))
    assert Places(9).read("3.1,0.2,3.1") == ((0, 2), (3, 1))
    assert Names().read("b,a,b") == ("b", "a")
    for field in (edits, Places(9), Trail()):
        assert (field.read("none"), field.write(())) == ((), "none")


@pytest.mark.parametrize(("number", "near"), [
    (1.5, "1 and 2"), (3, "2 and 4"), (7, "4 and 8"), (8.5, "8 and 16"),
])  # fmt: skip
def test_where_a_slider_does_not_stop_the_stops_beside_are_said(number, near):
    with pytest.raises(ValueError, match=f"the nearest are {near}$"):
        Decimal.among(1, 2, 4, 8, 16).read(str(number))


def test_a_number_that_is_as_good_as_0_is_0():
    field = Decimal(-1, 1)
    assert [field.read(text) for text in ("1e-31", "-1e-31", "1e-29", "−1")] == [0, 0, 1e-29, -1]
    assert math.copysign(1, field.read("-1e-31")) == 1


def test_a_hidden_score_is_read_in_every_way_that_it_is_written():
    row = ScoreRow(100, 9)
    assert row.read("1, -inf −∞ -1e0,−2.5") == (1, -math.inf, -math.inf, -1, -2.5)
    assert row.remark("1,5 2,5").startswith("A comma stands between two scores, so these are 4")
    assert [row.remark(text) for text in ("1,5", "1.5 2.5", "1,2,3")] == [None] * 3


# --- a control from its field ---------------------------------------------------------------------
def test_a_control_is_drawn_as_its_field_is_and_a_slider_ends_where_its_field_does():
    """A list drops down where more choices would not stand beside each other."""
    kinds = {
        "segmented_control": Choice(dict.fromkeys("abcd", "")), "toggle": Flag(),
        "selectbox": Choice(dict.fromkeys("abcde", "")), "slider": Whole(1, 9),
        "select_slider": Whole.among(1, 2, 4), "text_input": ScoreRow(9, 9),
    }  # fmt: skip
    for widget, field in kinds.items():
        assert Control("a", field).drawn_as == widget
    for each in EVERY:
        if each.drawn_as == "slider" and hasattr(each.field, "least"):
            ends = [each.bounds[name] for name in ("min_value", "max_value")]
            assert ends == [each.field.least, each.field.most], each.name
            kind = float if isinstance(each.field, Decimal) else int
            assert {*map(type, ends)} == {kind}, each.name


@pytest.mark.parametrize(("most", "words"), [(3, "0, 1, 2"), (5, "0, 1, 2, 3, 4"), (6, "0 to 5")])
def test_what_there_is_no_room_for_is_told_by_what_there_is(most, words):
    one = Control("b", Whole(0, 9), "B", 0, options=lambda _: {n: str(n) for n in range(most)})
    _, wrong = understood({"b": "9"}, (one,))
    assert isinstance(wrong["b"], NoRoom)
    assert str(wrong["b"]) == f"here it can be {words}"


def capped(value, values):
    return (value, "") if value <= values.most else (values.most, f"at most {values.most}")


SIZES = (
    Control("most", Whole(0, 9), "Most", 9),
    Control("size", Whole(0, 8), "Size", 4, fits=capped),
)


@pytest.mark.parametrize(("texts", "has", "asked", "address"), [
    ({}, 4, {}, {}), ({"size": "6"}, 6, {}, {"size": "6"}), ({"size": "4"}, 4, {}, {}),
    ({"most": "3"}, 3, {"size": ("4", "at most 3")}, {"most": "3", "size": "3"}),
    ({"most": "3", "size": "6"}, 3, {"size": ("6", "at most 3")}, {"most": "3", "size": "3"}),
    ({"most": "5", "size": "9"}, 4, {}, {"most": "5", "size": "9"}),
    ({"most": "3", "size": "9"}, 3, {"size": ("4", "at most 3")}, {"most": "3", "size": "9"}),
    ({"most": "3", "size": "2"}, 2, {}, {"most": "3", "size": "2"}),
])  # fmt: skip
def test_what_others_leave_no_room_for_is_said_as_asked_and_as_used(texts, has, asked, address):
    """What cannot be read at all counts as its start."""
    values, _ = understood(texts, SIZES)
    assert values.size == has
    assert fitted(texts, SIZES) == asked
    assert written(texts, SIZES) == address
