"""What runs at a move and what waits, of parts that read sources: without a page."""

import random

import pytest

from alone import Visitor
from attention_ui.reactive import fragments, settings
from attention_ui.reactive.fragments import PAGE, WATCHER, event, is_hovered, rerun_stale
from attention_ui.reactive.isolation import Misdeclared
from attention_ui.reactive.session import this_session
from attention_ui.reactive.source import source, track, track_now, tracking, untracked

SOURCES = [*"abcdefg"]
WORTH = {}


@source()
def tried(name):
    return WORTH[name]


SHOWN = (tried, "a")


@pytest.fixture
def visitor(monkeypatch):
    monkeypatch.setattr(fragments, "rerun_stale", rerun_stale)  # here it chooses what runs
    made = Visitor()
    with made.here():
        yield made


@pytest.fixture
def world(visitor):  # noqa: ARG001
    """What the sources are, by their names, on a visit."""
    WORTH.clear()
    WORTH.update(dict.fromkeys(SOURCES, 0))
    return WORTH


here = fragments.page_fragments


def draws(tree, name, waits=True):
    """Draw a part: what it reads, and the parts in it."""
    reads, within = tree[name]
    with here().draws(name, waits):
        for each in reads:
            tried(each)
        for each in within:
            draws(tree, each, waits)


def whole_page(tree, *top, waits=True, **begun):
    here = {"is_same": True, "has_browser": True, "all_at_once": False, **begun}
    fragments.begin_page(**here)
    for each in top:
        draws(tree, each, waits)
    fragments.end_page()


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
    page = here()
    assert page.stale() == page.waiting() == []
    for name in moved_to(chance, world):
        world[name] += 1
        changed = {each for each, (reads, _) in tree.items() if name in reads}
        stale = {each for each in changed if not above(tree, each) & changed}
        assert {*page.stale()} == stale
        assert page.stale() == [each for each in page.drawn if each in stale], "from the top"
        near = frozenset(chance.sample([*tree], 4))
        for said, at_once, waits in (
            (None, False, set()), (near, True, set()), (near, False, stale - near),
        ):  # fmt: skip
            page.visible, page.all_at_once = said, at_once
            assert {*page.waiting()} == waits
        for each in page.stale():
            draws(tree, each)
        assert page.stale() == []
        assert {each: one.parent for each, one in page.drawn.items()} == {PAGE: PAGE} | {
            each: next((one for one in tree if each in tree[one][1]), PAGE) for each in tree
        }


def moved_to(chance, world):
    return chance.sample([*world], 4)


def test_a_part_that_may_not_wait_runs_wherever_one_is(world):
    whole_page({"p": (["a"], [])}, "p", waits=False)
    here().visible = frozenset()
    world["a"] = 1
    assert (here().stale(), here().waiting()) == (["p"], [])


@pytest.mark.usefixtures("world")
def test_a_part_that_was_cut_short_is_drawn_again():
    fragments.begin_page(True, True, False)
    with pytest.raises(KeyError), here().draws("p", True):
        tried("no such source")
    fragments.end_page()
    assert here().stale() == ["p"]
    assert here().open == [PAGE]


def test_parts_that_a_part_no_longer_has_are_forgotten(world):
    tree = {"p": (["a"], ["q"]), "q": (["b"], ["r"]), "r": (["c"], [])}
    whole_page(tree, "p")
    world["a"] = world["c"] = 1
    draws({"p": (["a"], [])}, "p")
    assert {*here().drawn} == {PAGE, "p"}
    assert here().stale() == []


# --- what is noted --------------------------------------------------------------------------------
@pytest.mark.usefixtures("world")
def test_what_is_read_within_counts_around_it_but_for_what_is_unnoted():
    fragments.begin_page(True, True, False)
    with here().draws("p", True):
        with tracking() as inner:
            tried("a")
            track_now([(tried, "b")])
        with untracked() as unread:
            tried("c")
        with pytest.raises(KeyError), tracking():
            track_now([(tried, "d"), (tried, "no such source")])
        tried.touch("f")
    fragments.end_page()
    tried.touch("no such source")  # nobody is drawn, and so nobody asks
    assert {*inner} == {(tried, "a"), (tried, "b")}
    assert {*unread} == {(tried, "c")}
    assert {*here().drawn["p"].reads} == {(tried, each) for each in "abdf"}
    assert tried("e") == 0, "outside of a page too"


def test_within_a_part_a_source_is_worth_what_it_was_when_it_was_first_read(world):
    """Else it would be drawn of two worlds, and not be stale."""
    fragments.begin_page(True, True, False)
    with here().draws("p", True):
        assert tried("a") == 0
        world["a"] = 1
        assert tried("a") == 0
        track({SHOWN: 1})
        track_now([SHOWN])
    fragments.end_page()
    assert here().drawn["p"].reads == {SHOWN: 0}
    assert here().stale() == ["p"]


def test_what_the_browser_shows_already_is_not_drawn_again_and_what_it_cannot_show_is(world):
    whole_page({"p": (["a", "b"], []), "q": (["a"], [])}, "p", "q")
    world["a"] = 1
    fragments.commit("p", SHOWN)
    assert here().stale() == ["q"]
    world["b"] = 1
    assert here().stale() == ["p", "q"], "what else it read counts"
    world["b"] = 0
    fragments.commit("q", (tried, "c"), is_shown=False)
    fragments.commit("no such part", SHOWN, is_shown=False)
    draws({"q": (["a"], [])}, "q")
    assert here().stale() == []
    fragments.commit("q", SHOWN, is_shown=False)
    assert here().stale() == ["q"]
    fragments.commit("q", SHOWN)
    assert here().stale() == ["q"], "it was not drawn to its end"
    fragments.commit("p", (tried, "c"))
    world["c"] = 1
    assert here().stale() == ["q"], "the other does not show it"


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
    rerun_stale(of=of)
    assert visitor.reruns == [[f"part_{each}" for each in names] for names in asked]


def test_what_waits_runs_when_it_is_asked_for_and_no_sooner(world, visitor):
    whole_page(TREE, "p", "q", WATCHER)
    page = here()
    page.visible = frozenset({WATCHER, "p"})
    world["a"] = world["b"] = 1
    rerun_stale()
    assert visitor.reruns.pop() == ["part_p"]
    assert page.waiting() == ["q"]
    fragments.rerun(["q"], is_at_rest=True)
    assert visitor.reruns.pop() == ["part_p", "part_q", "part_near"]
    assert page.is_at_rest
    page.known["worked out"] = "since the last change"
    rerun_stale()
    assert not page.is_at_rest
    assert page.known == {}


def test_at_the_end_of_an_event_runs_what_it_has_made_stale_once(world, visitor):
    whole_page(TREE, "p", "q", WATCHER)
    with event(fragment="q"):
        with event():
            world["a"] = 1
        assert visitor.reruns == [], "that was within another"
    assert visitor.reruns.pop() == ["part_p"]
    world["a"] = 2
    with event(fragment="p"):
        pass
    assert visitor.reruns == [], "it runs by itself"
    with pytest.raises(KeyError), event():
        raise KeyError
    assert visitor.reruns == []
    assert this_session().events == 0


@pytest.mark.usefixtures("visitor")
def test_what_is_changed_outside_of_an_event_is_refused_in_words():
    with pytest.raises(Misdeclared, match=r"`change` outside of an event.*`with event\(\):`"):
        settings.change(seed=3)
    with event():
        assert not settings.change(no_such_control=3)


def test_where_the_address_asked_for_the_run_no_callback_chooses_parts(world, visitor):
    whole_page(TREE, "p", "q", WATCHER)
    world["a"] = 1
    visitor.state.by_address = True
    rerun_stale()
    assert visitor.reruns == []


def test_what_is_read_around_all_parts_runs_all_of_the_page(world, visitor):
    fragments.begin_page(True, True, False)
    tried("a")
    draws(TREE, "p")
    fragments.end_page()
    world["a"] = 1
    rerun_stale()
    assert visitor.reruns[0] is None


def test_at_a_picture_that_is_drawn_anew_a_hand_has_to_come_again(world):
    fragments.begin_page(False, True, False)
    assert here().hovered == frozenset()
    for name, picture in (("p", "one"), ("q", "other")):
        with here().draws(name, True):
            tried("a")
            fragments.hoverable(picture)
    fragments.end_page()
    places = ("picture_one", "moves_one", "picture_other", "moves_other", "picture_third")
    here().hovered = frozenset(places)
    world["a"] = 1
    rerun_stale("one")
    assert here().hovered == {*places} - {"picture_other", "moves_other"}
    assert [is_hovered.now(each) for each in places[1:3]] == [True, False]
    here().hovered = None
    assert is_hovered.now("moves_other"), "where no browser says where hands are"


@pytest.mark.usefixtures("world")
def test_what_was_near_counts_on_the_same_page_alone():
    whole_page(TREE, "p", is_same=False)
    here().visible, here().hovered = (frozenset({"p"}), frozenset({"moves_one"}))
    whole_page(TREE, "p")
    assert (here().visible, here().hovered) == ({"p"}, {"moves_one"})
    whole_page(TREE, "p", is_same=False)
    assert (here().visible, here().hovered) == (None, frozenset())
    whole_page(TREE, "p", is_same=False, has_browser=False)
    assert here().hovered is None


@pytest.mark.usefixtures("world")
def test_a_widget_that_comes_back_is_new():
    def drawn(*keys, whole=False):
        if whole:
            fragments.begin_page(True, True, False)
        with here().draws("p", True):
            was_there = [fragments.is_mounted(each) for each in keys]
        if whole:
            fragments.end_page()
        return was_there

    assert drawn("x", "y", whole=True) == [False, False]
    assert drawn("x", "y") == [True, True]
    assert drawn("y") == [True]
    assert drawn("x", "y") == [False, True], "alone"
    assert drawn("y", whole=True) == [True]
    assert drawn("x", "y", whole=True) == [False, True], "with all of the page"
    with pytest.raises(KeyError), here().draws("p", True):
        raise KeyError
    assert drawn("x", "y") == [True, True], "one that was cut short has taken nothing away"
