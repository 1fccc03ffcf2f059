"""The engine by itself, with a page of apples: nothing here is about attention."""

import importlib.util
import re
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from attention_core import Inputs, embed
from attention_ui.cards.page import _size_of_trace
from attention_ui.reactive import code_check, fragments, isolation, session
from attention_ui.reactive.cache import CALLED, Cache, SmallCache, in_words, remember
from attention_ui.reactive.function_identity import function_identity
from attention_ui.reactive.isolation import Misdeclared
from attention_ui.reactive.session import Session, this_session
from attention_ui.reactive.source import source, tracked_later, tracking, untracked
from conftest import ROOT
from serving import HANG

README = ROOT / "attention_ui" / "reactive" / "README.md"
EXAMPLE = re.search(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)[1]


@dataclass
class Basket(Session):
    apples: int = 2
    name: str = "nobody"


@source()
def apples(kind):
    return (this_session().apples, kind)


@source(own=True)
def name(_):
    return this_session().name


@pytest.fixture(autouse=True)
def kept_is_fresh():
    """Here nothing that is cached has elements, whose words would be compared."""


DONE = []
"""What was made: no function closes over it, which would be another with each that is in it."""


@pytest.fixture
def comes(monkeypatch):
    """A visitor comes with a basket; the one before has gone."""
    DONE.clear()
    monkeypatch.setattr(session, "_make", [Basket])
    before = session._OF_RUN.set(None), isolation.SESSION.set(None)

    def one(**has):
        basket = Basket(**has)
        session._OF_RUN.set(basket)
        isolation.SESSION.set(None)
        return basket

    yield one
    session._OF_RUN.reset(before[0])
    isolation.SESSION.reset(before[1])


BUYS = f"""
from streamlit.testing.v1 import AppTest
at = AppTest.from_string(open(0).read(), default_timeout={HANG}).run()
presses, moves = at.button[0].click, lambda: at.slider[0].set_value(13)
for runs in (lambda: at, lambda: presses().run(), lambda: moves().run()):
    assert not runs().exception, at.exception
    print(*[each.value for each in at.text], sep=", ")
"""


def test_the_example_of_the_readme_runs():
    """In a process of its own: in this one, the app has a session of another class."""
    told = subprocess.run(
        [sys.executable, "-c", BUYS], cwd=ROOT, input=EXAMPLE, capture_output=True, text=True
    )
    assert told.returncode == 0, told.stderr
    begins, ten, many = told.stdout.splitlines()
    assert begins == "2 apples cost 6 coins"
    assert ten.startswith("10 apples cost 30 coins")
    assert {*many.split(", ")} == {"13 apples cost 39 coins", "It is rather heavy."}


def test_every_module_stands_in_the_readme():
    told = README.read_text("utf-8")
    for path in (ROOT / "attention_ui" / "reactive").glob("[a-z]*.py"):
        assert f"`{path.name}`" in told


def test_a_source_is_read_by_its_name_and_tracked_with_what_it_is(comes):
    comes(apples=5)
    with tracking() as reads:
        assert apples("red") == (5, "red")
        assert apples.now("green") == (5, "green")
    assert reads == {(apples, "red"): (5, "red")}
    assert repr(apples).startswith("<source test_reactive.apples") or "apples" in repr(apples)


@pytest.mark.parametrize(("within", "counts"), [
    (tracking, True), (untracked, False), (tracked_later, False),
])  # fmt: skip
def test_what_is_around_depends_on_what_is_read_within_or_not(comes, within, counts):
    comes(apples=5)
    with tracking() as around:
        with within() as reads:
            apples("red")
        assert [*reads] == [(apples, "red")]
    assert ((apples, "red") in around) is counts


def test_what_is_displayed_is_another_read_of_the_same(comes):
    basket = comes(apples=5)
    in_widget = apples.displayed("a widget")
    with tracking() as reads:
        assert in_widget("red") == apples("red")
    assert len(reads) == 2
    basket.apples = 6
    assert in_widget.now("red") == (6, "red")


def made(cache, function):
    return cache.get(("thing", function_identity(function)), function, size=lambda _: 10)


def test_what_is_made_is_found_again_by_whoever_has_it_so_and_by_nobody_else(comes):
    cache = Cache(1_000)

    def price():
        DONE.append("price")
        return apples()[0] * 3

    for n, n_made in ((2, 1), (3, 2), (2, 2), (3, 2)):
        comes(apples=n)
        assert made(cache, price) == n * 3
        assert len(DONE) == n_made


def test_what_reads_one_visitor_s_own_is_made_for_each(comes):
    cache = Cache(1_000)
    for who in ("Ada", "Bo", "Ada"):
        comes(name=who)
        assert made(cache, lambda: f"Hello, {name()}") == f"Hello, {who}"
        in_widget = name.displayed("a widget")
        assert made(cache, lambda shown=in_widget: f"Hello, {shown()}") == f"Hello, {who}"
        assert not cache._found, "of one visitor's own, nothing is kept for all"


def test_what_was_asked_for_longest_ago_goes_first(comes):
    cache = Cache(25)

    def of(n):
        def thing():
            DONE.append(n)
            return n

        return thing

    comes()
    each = [of(n) for n in range(3)]
    for function in (each[0], each[1], each[0], each[2], each[0], each[1]):
        made(cache, function)
    assert DONE == [0, 1, 2, 1]


PAST = {
    "the session": this_session,
    "the fragments": fragments.page_fragments,
    "a source untracked": lambda: apples.now("red"),
}


@pytest.mark.parametrize("what", PAST)
def test_what_goes_past_the_sources_is_refused_in_words(what, comes, monkeypatch):
    monkeypatch.setitem(CALLED, "thing", "The thing")
    comes()

    def asks():
        return PAST[what]()

    with pytest.raises(Misdeclared, match=r"^The thing asks for what is one visitor"):
        made(Cache(1_000), asks)


def test_what_is_made_is_called_by_its_kind_and_its_names(monkeypatch):
    monkeypatch.setitem(CALLED, "thing", "The thing {2} of {1!r}")
    assert in_words(("thing", "page", 7)) == "The thing 7 of 'page'"
    assert in_words(("odd", "thing")) == "What 'odd' is"


def test_a_clock_is_found_before_it_runs():
    def now():
        return time.time()

    with pytest.raises(Misdeclared, match=r"The clock card reaches .*`time`, the clock"):
        code_check.check_code("The clock card", function_identity(now), [now])


def test_a_change_is_an_event(comes):
    comes()
    with pytest.raises(Misdeclared, match="`buy` outside of an event"):
        fragments.check_event("`buy`")
    with fragments.event():
        fragments.check_event("`buy`")


def test_the_last_four_of_one_thing_are_found_again_with_what_they_read(comes):
    few, n = SmallCache(), SmallCache.MOST

    def of(what):
        def thing():
            DONE.append(what)
            return what, apples()[0]

        return few.get(what, thing, "A thing")

    comes(apples=2)
    for what in range(n):
        assert of(what) == (what, 2)
    with tracking() as reads:
        for what in range(n):
            assert of(what) == (what, 2)
    assert reads, "who asks for what was made depends on what it read"
    assert [*range(n)] == DONE
    assert few.found(n) is None
    of(n)
    assert few.found(0) is None, "the oldest goes"
    assert all(few.found(what) for what in range(1, n + 1))
    comes(apples=3)
    assert few.found(n) is None
    assert of(n) == (n, 3)
    kept = {}
    for what in range(6):
        remember(kept, what, -what)
    assert kept == {2: -2, 3: -3, 4: -4, 5: -5}


def test_a_cached_trace_counts_as_many_bytes_as_its_numbers_take():
    """Those that are kept for all traces together count for none."""
    for inputs in (Inputs("a b c", d_in=64, vocabulary="random"), Inputs("a b c", d_in=4)):
        trace = embed(inputs)
        own = sum(each.value.nbytes for each in trace.values() if not each.is_shared)
        assert own <= _size_of_trace(trace) < own + 10_000


def test_a_cache_holds_no_more_than_its_bytes_and_one_thing_however_large(comes):
    cache = Cache(100)
    comes()
    for n in range(1, 30):
        size = 7 * n

        def thing(n=n):
            return n

        assert cache.get(("thing", n, function_identity(thing)), thing, lambda _: size) == n  # noqa: B023
        held = [n_bytes for _, n_bytes in cache._found.values()]
        assert sum(held) <= 100 or len(held) == 1
        assert sum(held) == cache._bytes


# --- files ----------------------------------------------------------------------------------------
def by_a_library(path):
    return np.loadtxt(path)


def caught(path):
    with suppress(ValueError):
        return np.loadtxt(path)
    return None


def its_names(path):
    return sorted(path.parent.iterdir())


def by_another_program(_):
    return subprocess.run(["true"], check=True)


@pytest.mark.parametrize("reads", [by_a_library, caught, its_names, by_another_program])
def test_a_file_is_refused_whoever_reads_it(reads, tmp_path):
    """No look at the code would find what a library opens."""
    path = tmp_path / "numbers.txt"
    path.write_text("1 2 3")
    with pytest.raises(Misdeclared, match=r" reads .*, which may change tomorrow"):
        made(Cache(1_000), partial(reads, path))
    assert by_a_library(path).tolist() == [1, 2, 3]


@source()
def in_the_file(path):
    return path.read_text()


def test_a_source_may_read_a_file_and_so_may_the_program_its_own(tmp_path):
    path = tmp_path / "numbers.txt"
    path.write_text("1 2 3")
    with isolation.made_for_everybody("The card 'one'"):
        assert in_the_file(path) == "1 2 3"
        assert README.read_text("utf-8")
        assert Path(np.__file__).read_bytes()


def test_a_module_may_be_looked_for_anywhere(tmp_path, monkeypatch):
    """Also where it lies is looked through, and what it reads of the machine as it begins."""
    (tmp_path / "numbers.txt").write_text("1 2 3")
    (tmp_path / "looked_for.py").write_text(
        "from pathlib import Path\nREAD = Path(__file__).with_name('numbers.txt').read_text()"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with isolation.made_for_everybody("The card 'one'"):
        assert importlib.util.find_spec("looked_for")
        assert importlib.util.find_spec("not_there_at_all") is None
        assert importlib.import_module("looked_for").READ == "1 2 3"
        subprocess.run([sys.executable, "-c", ""], check=True, stderr=subprocess.DEVNULL)
