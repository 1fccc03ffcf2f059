"""What runs at a move and what waits, of parts that read sources: without a page."""

import random

import pytest

from alone import Visitor
from attention_ui.controls import parts
from attention_ui.controls.parts import AROUND, WATCHER, run_what_reads

SOURCES = [*"abcdefg"]
SHOWN = ("tried", "a")


@pytest.fixture
def visitor():
    made = Visitor()
    with made.here():
        yield made


@pytest.fixture
def world(visitor, monkeypatch):  # noqa: ARG001
    """What the sources are worth, by their names, on a visit."""
    worth = dict.fromkeys(SOURCES, 0)
    monkeypatch.setitem(parts._WORTH, "tried", worth.__getitem__)
    return worth


def draws(tree, name, waits=True):
    """Draw a part: what it reads, and the parts in it."""
    reads, within = tree[name]
    with parts.of_page().draws(name, waits):
        for each in reads:
            parts.read("tried", each)
        for each in within:
            draws(tree, each, waits)


def whole_page(tree, *top, waits=True, **begun):
    here = {"is_same": True, "has_browser": True, "all_at_once": False, **begun}
    parts.begin_page(**here)
    for each in top:
        draws(tree, each, waits)
    parts.end_page()


def above(tree, name):
    """The parts that a part stands in."""
    return {each for each in tree if each != name and name in below(tree, each)}


def below(tree, name):
    found = {*tree[name][1]}
    return found.union(*(below(tree, each) for each in found))


def forest(chance):
    """Some parts, in each other and beside each other, of which each reads some sources."""
    tree, top = {}, []
    for at in range(9):
        tree[f"p{at}"] = chance.sample(SOURCES, chance.randrange(4)), []
        at_top = not at or chance.random() < 0.5
        (top if at_top else tree[f"p{chance.randrange(at)}"][1]).append(f"p{at}")
    return tree, top


@pytest.mark.parametrize("seed", range(20))
def test_what_read_something_that_has_changed_is_stale_and_waits_where_nobody_is_near(seed, world):
    chance = random.Random(seed)
    tree, top = forest(chance)
    whole_page(tree, *top)
    here = parts.of_page()
    assert here.stale() == here.waiting() == []
    for name in moved_to(chance, world):
        world[name] += 1
        changed = {each for each, (reads, _) in tree.items() if name in reads}
        stale = {each for each in changed if not above(tree, each) & changed}
        assert {*here.stale()} == stale
        assert here.stale() == [each for each in here.drawn if each in stale], "from the top"
        near = frozenset(chance.sample([*tree], 4))
        for said, at_once, waits in (
            (None, False, set()), (near, True, set()), (near, False, stale - near),
        ):  # fmt: skip
            here.near, here.all_at_once = said, at_once
            assert {*here.waiting()} == waits
        for each in here.stale():
            draws(tree, each)
        assert here.stale() == []
        assert {each: one.above for each, one in here.drawn.items()} == {AROUND: AROUND} | {
            each: next((one for one in tree if each in tree[one][1]), AROUND) for each in tree
        }


def moved_to(chance, world):
    return chance.sample([*world], 4)


def test_a_part_that_may_not_wait_runs_wherever_one_is(world):
    whole_page({"p": (["a"], [])}, "p", waits=False)
    parts.of_page().near = frozenset()
    world["a"] = 1
    assert (parts.of_page().stale(), parts.of_page().waiting()) == (["p"], [])


@pytest.mark.usefixtures("world")
def test_a_part_that_was_cut_short_is_drawn_again():
    parts.begin_page(True, True, False)
    with pytest.raises(KeyError), parts.of_page().draws("p", True):
        parts.read("tried", "no such source")
    parts.end_page()
    assert parts.of_page().stale() == ["p"]
    assert parts.of_page().open == [AROUND]


def test_parts_that_a_part_no_longer_has_are_forgotten(world):
    tree = {"p": (["a"], ["q"]), "q": (["b"], ["r"]), "r": (["c"], [])}
    whole_page(tree, "p")
    world["a"] = world["c"] = 1
    draws({"p": (["a"], [])}, "p")
    assert {*parts.of_page().drawn} == {AROUND, "p"}
    assert parts.of_page().stale() == []


# --- what is noted --------------------------------------------------------------------------------
@pytest.mark.usefixtures("world")
def test_what_is_read_within_counts_around_it_but_for_what_is_unnoted():
    parts.begin_page(True, True, False)
    with parts.of_page().draws("p", True):
        with parts.reading() as inner:
            parts.read("tried", "a")
            parts.read_all([("tried", "b")])
        with parts.unnoted() as unnoted:
            parts.read("tried", "c")
        with pytest.raises(KeyError), parts.reading():
            parts.read_all([("tried", "d"), ("tried", "no such source")])
        assert parts.is_drawing()
    parts.end_page()
    assert not parts.is_drawing()
    assert {*inner} == {("tried", "a"), ("tried", "b")}
    assert {*unnoted} == {("tried", "c")}
    assert {*parts.of_page().drawn["p"].reads} == {("tried", each) for each in "abd"}
    assert parts.read("tried", "e") == 0, "outside of a page too"


def test_within_a_part_a_source_is_worth_what_it_was_when_it_was_first_read(world):
    """Else it would be drawn of two worlds, and not be stale."""
    parts.begin_page(True, True, False)
    with parts.of_page().draws("p", True):
        assert parts.read("tried", "a") == 0
        world["a"] = 1
        assert parts.read("tried", "a") == 0
        parts.note(SHOWN, 1)
        parts.read_all([SHOWN])
    parts.end_page()
    assert parts.of_page().drawn["p"].reads == {SHOWN: 0}
    assert parts.of_page().stale() == ["p"]


def test_what_the_browser_shows_already_is_not_drawn_again_and_what_it_cannot_show_is(world):
    whole_page({"p": (["a", "b"], []), "q": (["a"], [])}, "p", "q")
    world["a"] = 1
    parts.settle("p", SHOWN)
    assert parts.of_page().stale() == ["q"]
    world["b"] = 1
    assert parts.of_page().stale() == ["p", "q"], "what else it read counts"
    world["b"] = 0
    parts.settle("q", ("tried", "c"), is_shown=False)
    parts.settle("no such part", SHOWN, is_shown=False)
    draws({"q": (["a"], [])}, "q")
    assert parts.of_page().stale() == []
    parts.settle("q", SHOWN, is_shown=False)
    assert parts.of_page().stale() == ["q"]
    parts.settle("q", SHOWN)
    assert parts.of_page().stale() == ["q"], "it was not drawn to its end"
    parts.settle("p", ("tried", "c"))
    world["c"] = 1
    assert parts.of_page().stale() == ["q"], "the other does not show it"


# --- what a callback asks for ---------------------------------------------------------------------
TREE = {"p": (["a"], []), "q": (["b"], ["r"]), "r": (["c"], []), WATCHER: (["g"], [])}


@pytest.mark.parametrize(("changed", "of", "asked"), [
    ("", "", [["near"]]), ("a", "", [["p"]]), ("a", "p", []), ("a", "q", [["p"]]),
    ("ag", "p", [["p", "near"]]), ("b", "q", [["q", "near"]]), ("c", "", [["r"]]),
    ("ac", "p", [["p", "r"]]), ("bc", "", [["q", "near"]]), ("g", "near", []),
])  # fmt: skip
def test_the_stale_parts_run_that_are_near_and_what_waits_is_told(
    changed, of, asked, world, visitor
):
    """The watcher has something to tell where nothing runs, and where parts come and go."""
    whole_page(TREE, "p", "q", WATCHER)
    for name in changed:
        world[name] = 1
    run_what_reads(of=of)
    assert visitor.reruns == [[f"part_{each}" for each in names] for names in asked]


def test_what_waits_runs_when_it_is_asked_for_and_no_sooner(world, visitor):
    whole_page(TREE, "p", "q", WATCHER)
    here = parts.of_page()
    here.near = frozenset({WATCHER, "p"})
    world["a"] = world["b"] = 1
    run_what_reads()
    assert visitor.reruns.pop() == ["part_p"]
    assert here.waiting() == ["q"]
    parts.run_parts(["q"], is_at_rest=True)
    assert visitor.reruns.pop() == ["part_p", "part_q", "part_near"]
    assert here.is_at_rest
    here.known["worked out"] = "since the last change"
    run_what_reads()
    assert not here.is_at_rest
    assert here.known == {}


def test_where_the_address_asked_for_the_run_no_callback_chooses_parts(world, visitor):
    whole_page(TREE, "p", "q", WATCHER)
    world["a"] = 1
    visitor.state.by_address = True
    run_what_reads()
    assert visitor.reruns == []


def test_what_is_read_around_all_parts_runs_all_of_the_page(world, visitor):
    parts.begin_page(True, True, False)
    parts.read("tried", "a")
    draws(TREE, "p")
    parts.end_page()
    world["a"] = 1
    run_what_reads()
    assert visitor.reruns[0] is None


def test_at_a_picture_that_is_drawn_anew_a_hand_has_to_come_again(world):
    parts.begin_page(False, True, False)
    assert parts.of_page().hands == frozenset()
    for name, picture in (("p", "one"), ("q", "other")):
        with parts.of_page().draws(name, True):
            parts.read("tried", "a")
            parts.met_picture(picture)
    parts.end_page()
    places = ("picture_one", "moves_one", "picture_other", "moves_other", "picture_third")
    parts.of_page().hands = frozenset(places)
    world["a"] = 1
    run_what_reads(at="one")
    assert parts.of_page().hands == {*places} - {"picture_other", "moves_other"}
    assert [parts.worth(("hand", each)) for each in places[1:3]] == [True, False]
    parts.of_page().hands = None
    assert parts.worth(("hand", "moves_other")), "where no browser says where hands are"


@pytest.mark.usefixtures("world")
def test_what_was_near_counts_on_the_same_page_alone():
    whole_page(TREE, "p", is_same=False)
    parts.of_page().near, parts.of_page().hands = frozenset({"p"}), frozenset({"moves_one"})
    whole_page(TREE, "p")
    assert (parts.of_page().near, parts.of_page().hands) == ({"p"}, {"moves_one"})
    whole_page(TREE, "p", is_same=False)
    assert (parts.of_page().near, parts.of_page().hands) == (None, frozenset())
    whole_page(TREE, "p", is_same=False, has_browser=False)
    assert parts.of_page().hands is None


@pytest.mark.usefixtures("world")
def test_a_widget_that_comes_back_is_new():
    def drawn(*keys, whole=False):
        if whole:
            parts.begin_page(True, True, False)
        with parts.of_page().draws("p", True):
            was_there = [parts.stood(each) for each in keys]
        if whole:
            parts.end_page()
        return was_there

    assert drawn("x", "y", whole=True) == [False, False]
    assert drawn("x", "y") == [True, True]
    assert drawn("y") == [True]
    assert drawn("x", "y") == [False, True], "alone"
    assert drawn("y", whole=True) == [True]
    assert drawn("x", "y", whole=True) == [False, True], "with all of the page"
    with pytest.raises(KeyError), parts.of_page().draws("p", True):
        raise KeyError
    assert drawn("x", "y") == [True, True], "one that was cut short has taken nothing away"
