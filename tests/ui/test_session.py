"""What a visitor chooses, of every control there is: taken, kept, said by the address, undone."""

from urllib.parse import urlencode

import pytest

from alone import Visitor, other_texts
from attention_ui.cards.changing import OfCell, read_by_picture
from attention_ui.controls import session, shared
from attention_ui.controls.fields import Edits
from attention_ui.controls.shared import AROUND
from attention_ui.frame.lesson_modules import controls_of
from attention_ui.lessons.real_model import recorded
from attention_ui.reactive import settings
from attention_ui.reactive.control import MAX_LINK, Control, understood
from attention_ui.reactive.fields import Flag, Whole
from visiting import LESSONS

OF_LESSON = {}
"""Each control that a page draws, by name, with the first lesson that has it."""
for _lesson in LESSONS:
    for _each in controls_of(_lesson):
        if _each.label:
            OF_LESSON.setdefault(_each.name, (_lesson, _each))
del OF_LESSON["model"]  # only our own is here: there is no other to choose
for _each in recorded.CONTROLS:
    del OF_LESSON[_each.name]  # no recording is here (test_recording_page.py has some)
EXAMPLE = {"example": "wild_cat"}


def control(name: str) -> Control:
    return OF_LESSON[name][1]


def another(visitor: Visitor, one: Control) -> str:
    """A text that the control can have here, for another value than it has."""
    now = visitor.state.values
    for text in other_texts(one, now):
        values, wrong = understood({**visitor.state.chosen, one.name: text}, visitor.state.controls)
        if not wrong and values[one.name] != now[one.name]:
            return text
    raise AssertionError(f"no other value of {one.name} is known: add one to other_texts")


def opened(name: str, **link: str) -> Visitor:
    """A visitor on a lesson that has the control."""
    return Visitor(OF_LESSON[name][0], **EXAMPLE, **link)


def uses(visitor: Visitor, name: str, text: str) -> bool:
    """What a widget's callback does with what the browser sends."""
    with visitor.acts():
        one = control(name)
        return settings.used(name, text if one.name == "example" else one.field.read(text))


@pytest.mark.parametrize("name", OF_LESSON)
def test_what_is_chosen_counts_is_in_the_address_and_goes_back(name):
    one, visitor = control(name), opened(name)
    before, text = dict(visitor.state.values), another(visitor, control(name))
    assert uses(visitor, name, text)
    assert visitor.state.was_touched
    after = visitor.state.values
    assert after[name] == one.field.read(text)
    assert visitor.address[name] == one.field.write(after[name])
    other = Visitor().opens(OF_LESSON[name][0], dict(visitor.address))
    assert other.state.values == after, "who opens the link sees the same"
    assert other.state.notices == []
    with visitor.acts():
        assert settings.is_changed() != (one.stays or name == "example")
        settings.reset()
        assert not settings.is_changed()
    back = visitor.state.values
    stays = {each.name for each in visitor.state.controls if each.stays}
    if name != "example":
        assert dict(back) == before | {each: after[each] for each in stays}


@pytest.mark.parametrize("name", OF_LESSON)
@pytest.mark.parametrize("how", ["lock", "hide"])
def test_what_a_link_fixes_nobody_moves(how, name):
    """Neither the control itself, nor another example, nor the way back to the start."""
    one, plain = control(name), opened(name)
    chosen = {name: another(plain, one)}
    visitor = opened(name, **{how: name}, **{n: t for n, t in chosen.items() if n != "example"})
    fixed, link = visitor.state.values[name], another(visitor, one)
    with visitor.acts():
        assert name in settings.fixed()
        if how == "lock":
            assert not settings.used(name, one.field.read(link))
            assert visitor.state.drafts == {}, "nothing was typed"
        told = settings.try_to_choose({name: link})
        assert told == f"the link that you opened fixes “{one.label}”."
        assert visitor.state.values[name] == fixed
        settings.reset()
        assert visitor.state.values[name] == fixed


@pytest.mark.parametrize("lesson", LESSONS)
def test_on_another_page_all_stays_but_what_was_of_the_page_alone(lesson):
    """Each control of this page and of the next one, which has it too, or is given it back."""
    visitor = Visitor(lesson, **EXAMPLE)
    for one in controls_of(lesson):
        if one.label and one.name != "example" and one not in AROUND:
            uses_if_it_fits(visitor, one)
    chosen = dict(visitor.state.chosen)
    there = LESSONS[(LESSONS.index(lesson) + 1) % len(LESSONS)]
    visitor.opens(there, {})
    of_page = {each.name for each in controls_of(there) if each.of_page}
    assert {**visitor.state.chosen} == {n: t for n, t in chosen.items() if n not in of_page}
    fits = visitor.state.chosen.keys() - visitor.state.unfit
    assert visitor.address.keys() == fits
    assert visitor.state.drafts == {}


def uses_if_it_fits(visitor: Visitor, one: Control) -> None:
    for text in other_texts(one, visitor.state.values):
        with visitor.acts():
            if settings.try_to_choose({one.name: text}) is None:
                return


UNDONE = [(name, each) for name, (lesson, one) in OF_LESSON.items() for each in one.undoes
          if each in {c.name for c in controls_of(lesson)}]  # fmt: skip
"""A control, and one whose value it takes back."""
CELL = {"cell": "scores.0.0", "shown_terms": "1"}


@pytest.mark.parametrize(("name", "undone"), UNDONE)
def test_what_belongs_to_the_old_value_goes_and_what_is_chosen_along_with_it_stays(name, undone):
    typed = "0.0:5" if isinstance(of(name, undone).field, Edits) else CELL.get(undone)
    typed = typed or another(opened(name), of(name, undone))
    visitor = opened(name, **{undone: typed})
    assert undone in visitor.state.chosen, visitor.state.notices
    text = another_than(visitor, control(name), undone)
    both = opened(name, **{undone: typed})
    assert uses(visitor, name, text), visitor.state.problems
    assert undone not in visitor.state.chosen
    told = "The table has changed, so the numbers you changed in it were removed."
    assert visitor.state.notices == ([told] if undone.endswith("edits") else [])
    with both.acts():
        assert settings.try_to_choose({name: text, undone: typed}) is None
    assert both.state.chosen[undone] == typed


def of(name: str, other: str) -> Control:
    return next(each for each in controls_of(OF_LESSON[name][0]) if each.name == other)


def another_than(visitor: Visitor, one: Control, undone: str) -> str:
    """Another value of a control, which fits beside what it takes back."""
    for text in other_texts(one, visitor.state.values):
        values, wrong = understood({**visitor.state.chosen, one.name: text}, visitor.state.controls)
        if not wrong and values[one.name] != visitor.state.values[one.name]:
            return text
    pytest.fail(f"{one.name} has no other value beside {undone}")


# --- what cannot be used --------------------------------------------------------------------------
def uses_raw(visitor: Visitor, name: str, raw: object) -> bool:
    with visitor.acts():
        return settings.used(name, raw)


def test_what_cannot_be_used_stays_typed_and_counts_with_what_makes_it_fit():
    """`A zebra` has no ids where the list is another text's, and no row is kept for such words."""
    visitor = Visitor("tokenize_and_embed", **EXAMPLE, learned="example", reserved="0")
    before = visitor.state.values
    assert not uses_raw(visitor, "sentence", "A zebra")
    assert visitor.state.was_touched
    assert uses_raw(visitor, "reserved", 2)
    assert (visitor.state.values.sentence, visitor.state.drafts) == ("A zebra", {})
    assert uses_raw(visitor, "sentence", before.sentence)
    assert uses_raw(visitor, "reserved", 0)
    for name, raw in (("sentence", "A zebra"), ("seed", "x")):
        assert not uses_raw(visitor, name, raw)
    assert visitor.state.values == before
    with visitor.here():
        for name in visitor.state.drafts:
            assert settings.problem(name).startswith(f"{control(name).label}: ")
    assert uses_raw(visitor, "d_in", 5)
    assert visitor.state.values.d_in == 5
    assert visitor.state.drafts == {"sentence": "A zebra", "seed": "x"}, "which fit with nothing"
    assert uses_raw(visitor, "seed", "7")
    assert visitor.state.drafts == {"sentence": "A zebra"}
    assert uses_raw(visitor, "example", "life_is_short")
    assert visitor.state.drafts == {}, "another example begins anew"


@pytest.mark.parametrize("leave", ["forget", "elsewhere", "link", "reset"])
def test_what_was_typed_is_gone_with_what_it_was_typed_into(leave):
    visitor = Visitor("tokenize_and_embed", **EXAMPLE)
    assert not uses_raw(visitor, "seed", "x")
    with visitor.acts():
        if leave == "forget":
            settings.forget("seed")
        if leave == "reset":
            settings.reset()
    if leave == "elsewhere":
        visitor.opens("causal_mask", {})
    if leave == "link":
        visitor.state.was_touched = False
        visitor.opens("tokenize_and_embed", {**EXAMPLE, "d_in": "5"})
    assert visitor.state.drafts == {}
    with visitor.here():
        assert settings.problem("seed") is None


def test_what_no_browser_sends_changes_nothing():
    visitor = Visitor("tokenize_and_embed", **EXAMPLE)
    before = dict(visitor.state.chosen)
    for name, raw in (("d_in", None), ("tokenizer", None), ("no_such", "1")):
        assert not uses_raw(visitor, name, raw)
        assert (visitor.state.chosen, visitor.state.drafts) == (before, {})


def test_what_would_be_too_long_for_a_link_is_refused_at_the_very_character():
    """The text is as long as fits, and then by one letter longer."""
    for more, fits in ((0, True), (1, False)):
        visitor = Visitor("tokenize_and_embed", **EXAMPLE, tokenizer="blanks")
        beside = len(urlencode({**visitor.state.chosen, "sentence": ""}))
        rest = MAX_LINK - beside + more
        # A euro takes nine characters in a link, and the text itself may have 5,000.
        text = "€" * (rest // 9) + "x" * (rest % 9)
        with visitor.acts():
            told = settings.try_to_choose({"sentence": text})
        assert (told is None) == fits
        assert (len(urlencode(visitor.address)) == MAX_LINK) == fits
        assert fits or f"would have {MAX_LINK + 1:,} characters, and {MAX_LINK:,} fit" in told
        assert (visitor.state.values.sentence == text) == fits


# --- the address ----------------------------------------------------------------------------------
def test_an_address_is_taken_up_where_the_browser_has_changed_it_and_no_control_has():
    visitor = Visitor("tokenize_and_embed", **EXAMPLE, d_in="5")
    before = dict(visitor.address)
    assert uses_raw(visitor, "d_in", 7)
    visitor.opens("tokenize_and_embed", before)  # the browser tells the address of a moment ago
    assert visitor.state.values.d_in == 7
    assert visitor.address["d_in"] == "7", "which is put right"
    visitor.opens("tokenize_and_embed", before)  # Back
    assert visitor.state.values.d_in == 5


def test_a_link_of_ours_that_is_older_than_a_change_takes_nothing_back_and_another_counts():
    visitor = Visitor("tokenize_and_embed", **EXAMPLE, d_in="5")
    with visitor.here():
        first = dict(settings.link_query("contents"))
    assert uses_raw(visitor, "d_in", 7)
    with visitor.here():
        second = dict(settings.link_query("contents"))
    assert (first["d_in"], second["d_in"]) == ("5", "7")
    for of_ours, lesson in (
        (first, "causal_mask"),
        (second, "tokenize_and_embed"),
        ({}, "causal_mask"),
    ):
        visitor.opens(lesson, of_ours)
        assert visitor.state.values.d_in == 7
    visitor.opens("tokenize_and_embed", {**EXAMPLE, "d_in": "9"})
    assert visitor.state.values.d_in == 9, "a teacher's link"


def test_what_is_not_known_or_cannot_be_used_is_said_and_nothing_more_than_a_little_of_it():
    names = {f"name_{at}": "1" for at in range(settings.MAX_UNKNOWN + 2)}
    visitor = Visitor("tokenize_and_embed", **EXAMPLE, **names, seed="x" * 400, d_in="5")
    assert visitor.address == {**EXAMPLE, "d_in": "5"}
    unknown, wrong = sorted(visitor.state.notices, key=lambda told: "seed" in told)
    assert [f"name_{at}" in unknown for at in range(6)] == [True] * settings.MAX_UNKNOWN + [
        False
    ] * 2
    assert unknown.endswith("and 2 more.")
    assert "x" * settings.MOST_QUOTED + "…" in wrong
    assert "x" * (settings.MOST_QUOTED + 1) not in wrong
    visitor.opens("tokenize_and_embed")
    assert len(visitor.state.notices) == 2, "said while the page stands"
    visitor.opens("causal_mask", {})
    assert visitor.state.notices == []


def test_what_a_page_knows_no_more_of_is_kept_for_others_and_is_in_no_link():
    """A query of a longer text: here the text is shorter, so it cannot be used now."""
    visitor = Visitor("simplified_attention", **EXAMPLE, query="9")
    assert uses_raw(visitor, "sentence", "a b c")
    assert visitor.state.unfit == {"query"}
    assert "query" in visitor.state.chosen
    with visitor.here():
        assert "query" not in {**settings.chosen(), **session.shared(), **visitor.address}
        assert "query" not in settings.link_query("contents")
    assert uses_raw(visitor, "sentence", "a b c d e f g h i j k")
    assert visitor.state.values.query == 9
    assert visitor.address["query"] == "9"


def test_what_another_page_has_left_no_room_for_is_kept_and_is_in_no_link():
    assert "query" not in {each.name for each in controls_of("tokenize_and_embed")}
    visitor = Visitor("simplified_attention", **EXAMPLE, query="9").opens("tokenize_and_embed", {})
    assert uses_raw(visitor, "sentence", "a b c")
    visitor.opens("simplified_attention", {})
    assert (visitor.state.unfit, visitor.state.chosen["query"]) == ({"query"}, "9")
    assert visitor.address == {**EXAMPLE, "sentence": "a b c"}
    assert visitor.state.notices == []


def test_of_what_is_chosen_a_link_for_others_leaves_out_what_is_done_and_a_pin_what_stands_around():
    link = {**EXAMPLE, "d_in": "5", "done": "causal_mask", "predict": "off", "hide": "seed"}
    visitor = Visitor("simplified_attention", **link, cell="scores.0.0", section="scores")
    with visitor.here():
        assert session.shared() == {n: t for n, t in settings.chosen().items() if n != "done"}
        assert session.pin_text() == "example=wild_cat&d_in=5"
        carried = settings.link_query("contents")
    assert carried == link, "not the cell that is open on this page"


def test_another_example_or_an_unusable_one_keeps_what_is_fixed_alone():
    link = {"lock": "seed,d_in", "hide": "tokenizer", "seed": "7", "tokenizer": "blanks"}
    visitor = Visitor("tokenize_and_embed", **EXAMPLE, **link, reserved="1")
    visitor.state.fixed = {"seed": "7", "d_in": "3", "tokenizer": "blanks"}
    assert uses_raw(visitor, "example", "life_is_short")
    values = visitor.state.values
    assert (values.seed, values.d_in, values.tokenizer) == (7, 3, "blanks")
    assert "reserved" not in visitor.state.chosen
    assert Visitor("tokenize_and_embed", example="no_such").state.chosen["example"] == shared.FIRST


# --- what others take along -----------------------------------------------------------------------
LARGEST = Control(
    "largest", Whole(0, 9), "Largest", 2, fits=lambda value, values: (
        (value, "") if value <= values.most else (values.most, f"at most {values.most}")
    )
)  # fmt: skip
SIZES = (Control("most", Whole(0, 9), "Most", 9), LARGEST, Control("flag", Flag(), "Flag", False))


def test_what_others_leave_no_room_for_is_asked_for_again_and_each_is_told_why():
    visitor = of_sizes()
    for most, has, why in ((9, 8, ""), (5, 5, "at most 5"), (3, 3, "at most 3"), (9, 8, "")):
        assert uses_raw(visitor, "largest", 8) if most == 9 and not has else True
        assert uses_raw(visitor, "most", most)
        assert visitor.state.values.largest == has
        with visitor.here():
            assert settings.fitted_because.now("largest") == why
        assert visitor.address.get("largest") == str(has)


def of_sizes(**link: str) -> Visitor:
    visitor = Visitor()
    visitor.address.from_dict({"example": "wild_cat", "largest": "8", **link})
    with visitor.here():
        settings.arrive("sizes", (*SIZES, *controls_of("simplified_attention")))
    return visitor


def test_no_choice_is_offered_that_would_take_along_what_is_fixed():
    choices = {most: str(most) for most in range(10)}
    for link, least in (({}, 0), ({"lock": "largest"}, 8), ({"hide": "largest"}, 8)):
        visitor = of_sizes(**link)
        with visitor.acts():
            assert [*settings.offered(SIZES[0], choices)] == [*range(least, 10)]
            told = settings.try_to_choose({"most": "5"})
        assert (told is None) == (not link)
        assert visitor.state.values.largest == (8 if link else 5)


def test_a_picture_reads_of_what_it_carries_where_that_stands():
    """Of a number of a matrix the number, and of any other control its value."""
    with Visitor("queries_keys_values", example="wild_cat", q_edits="0.1:5").here() as state:
        controls = {each.name: each for each in state.controls}
        for place, stands in (((0, 1), 5), ((1, 0), None)):
            name = ".".join(["q_edits", *map(str, place)])
            cell = OfCell(name, controls["q_edits"].field, edits="q_edits", place=place)
            source, of = read_by_picture(cell)
            assert source.now(of) == stands
        source, of = read_by_picture(controls["seed"])
        assert source.now(of) == state.values.unread("seed")
