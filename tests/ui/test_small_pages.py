"""Small pages of the engine alone: nothing here is about attention."""

import subprocess
import sys

import pytest
from streamlit import config
from streamlit.testing.v1 import AppTest

from attention_ui.reactive import cache, isolation, page, session
from attention_ui.reactive.session import Session
from conftest import ROOT
from serving import HANG

BEGINS = """
import time
import streamlit as st
from attention_ui.reactive.control import Control
from attention_ui.reactive.elements import alive, button, row, say, set_to, text
from attention_ui.reactive.fields import Choice, Flag, Whole
from attention_ui.reactive.long_run import Work, run_so_far
from attention_ui.reactive.page import Page
from attention_ui.reactive.session import this_session
APPLES = Control("apples", Whole(1, 20), "Apples", 2)
PRICE = Control("price", Whole(1, 9), "Price", 3, undoes=("coupon",))
COUPON = Control("coupon", Flag(), "Coupon", False)
KIND = Control("kind", Choice({"red": "Red", "green": "Green"}), "Kind", "red")
page = Page("fruit", "Apples", [APPLES, PRICE, COUPON, KIND])
"""
BILL = """
@page.card("bill", "The bill", controls=[APPLES, COUPON])
def bill(v):
    yield text(f"{v.apples} cost {v.apples * v.price - v.coupon}")
"""
BASKET = """
@page.card("basket", "The basket", lambda v: f"All are {v.kind}.", controls=[KIND, PRICE])
def basket(v):
    yield row(set_to("Ten", "ten", apples=10), button("None", "none", lambda: None))
    if v.apples > 12:
        yield text("It is heavy.")
"""
SHOWS = "page.show()\n"
SHOWN = "client.showErrorDetails"


@pytest.fixture(autouse=True)
def another_app(monkeypatch):
    """As in a process where no app says anything of its own."""
    monkeypatch.setattr(session, "_make", [Session])
    monkeypatch.setattr(isolation, "INSTEAD", ["It can read sources alone."])
    monkeypatch.setattr(cache, "while_made", cache.while_made[:1])
    monkeypatch.setattr(page.Page, "cache", cache.Cache(1_000_000))
    monkeypatch.setattr(page, "_MENTIONED", {})
    before = config.get_option(SHOWN)
    config.set_option(SHOWN, "full")
    yield
    config.set_option(SHOWN, before)


def opened(*cards, ends=SHOWS, **link):
    at = AppTest.from_string(BEGINS + "".join(cards) + ends, default_timeout=HANG)
    for name, text in link.items():
        at.query_params[name] = text
    return at.run()


def shown(at):
    assert not at.exception, [each.message for each in at.exception]
    return [each.value for each in at.text]


def refused(*cards, **more):
    told = [each.message for each in opened(*cards, **more).exception]
    assert len(told) == 1, told
    return told[0]


def address(at):
    said = {name: at.query_params[name] for name in at.query_params}
    return {name: text if isinstance(text, str) else text[0] for name, text in said.items()}


def test_a_page_says_all_its_state_in_its_address():
    at = opened(BILL, BASKET)
    assert shown(at) == ["2 cost 6"]
    assert [each.value for each in at.title] == ["Apples"]
    assert address(at) == {}
    at.slider(key="control_apples").set_value(13).run()
    at.toggle(key="control_coupon").set_value(True).run()
    assert {*shown(at)} == {"13 cost 38", "It is heavy."}
    assert address(at) == {"apples": "13", "coupon": "on"}
    at.button(key="ten").click().run()
    assert shown(at) == ["10 cost 29"]
    assert shown(opened(BILL, BASKET, **address(at))) == ["10 cost 29"]
    at.slider(key="control_price").set_value(5).run()
    assert {*shown(at)} == {"10 cost 50", "Taken back with it: Coupon."}
    assert address(at) == {"apples": "10", "price": "5"}


def test_what_a_link_says_and_cannot_be_used_is_said():
    at = opened(BILL, BASKET, apples="99", kind="blue", pears="1")
    told = sorted(shown(at))
    assert told[0] == "2 cost 6"
    assert told[1].startswith("The link has names that this app does not know")
    assert told[2].endswith("from 1 to 20. The value that it starts with is used.")
    assert "it must be one of red, green" in told[3]


def test_what_was_made_for_the_same_values_is_made_once_for_everybody(monkeypatch):
    made, make = [], cache._make
    monkeypatch.setattr(cache, "_make", lambda of, called: made.append(called) or make(of, called))
    at = opened(BILL, BASKET)
    at.button(key="ten").click().run()
    at.slider(key="control_apples").set_value(2).run()
    opened(BILL, BASKET)
    assert made.count("The card 'bill' of fruit") == 2


GATED = """
FOLD = page.fold("more", "More: what else there is", in_place=True)
def pieces():
    for at in range(1, 4):
        yield at / 3, at
def counting(v):
    return Work("count", v.apples, pieces, "a moment", quick=v.kind == "green")
@page.card("first", "Count them", controls=[KIND], work=counting,
           opens=lambda: (run_so_far("count") or False) and run_so_far("count").share == 1)
def first():
    yield say("Counting.")
@page.card("after", "Counted", controls=[APPLES, COUPON, PRICE])
def after(v):
    yield text(f"{run_so_far('count').result} of {v.apples} at {v.price}, {v.coupon}")
@FOLD.section("folded", "Behind a row")
def folded(v):
    yield text("Nobody sees this yet.")
"""


def test_what_waits_for_work_is_there_when_that_is_done_and_a_row_costs_nothing():
    at = opened(GATED)
    assert shown(at) == []
    at.button(key="start_or_stop_count").click().run()
    assert shown(at) == ["3 of 2 at 3, False"]
    assert shown(opened(GATED, kind="green")) == ["3 of 2 at 3, False"]


def card(body, **more):
    given = "".join(f", {name}={text}" for name, text in more.items())
    return f'\n@page.card("new", "New"{given})\ndef new(v):\n    {body}\n'


BREAKS = {
    "yields nothing": (card("return None"), "the card 'new' of fruit returns nothing: it has"),
    "returns": (card('return "x"'), "the card 'new' of fruit returns 'x': it has to `yield` what"),
    "no element": (card("yield 3"), "yields '3', which cannot be drawn: a control"),
    "no control": (card("yield", controls='["x"]'), "has among its controls 'x', which cannot be"),
    "not of the page": (
        card("yield text(str(v.pears))", controls='[Control("pears", Whole(1, 2), "P", 1)]'),
        "has the control 'pears', which is none of the page's controls: add it where the page is",
    ),
    "a name": (card("yield text(v.aples)"), "no control 'aples': did you mean 'apples'?"),
    "asks": (card("yield").replace("(v)", "(w)"), "new asks for w; a function of a page can ask"),
    "twice": (BILL, "two cards of fruit are called 'bill'"),
    "a clock": (card("yield text(time.ctime())"), "The card 'new' of fruit reaches `ctime`, the c"),
    "a session": (card("yield text(this_session().page)"), "of fruit asks for what is one visitor"),
    "Streamlit": (card('st.write("x"); yield'), "by a call of Streamlit’s, which needs its"),
    "a log": (card('print(v.apples); yield'), "the server’s log, which no visitor reads: yield"),
    "a file": (card("yield text(open('x').read())"), "reaches `open`, a file"),
    "alive": (card("yield alive(lambda: st.write(v.apples))"), "takes v of its card: let it ask"),
    "a button": (card('yield set_to("x", "x", pears=1)'), "sets 'pears', but no control"),
    "unread": (
        '\npage.controls += [Control("pears", Whole(1, 9), "Pears", 1)]\n',
        "no card of fruit reads the control 'pears', so nothing would move with it: let a card "
        "read `v.pears`",
    ),
    "two controls": ("\npage.controls += [APPLES]\n", "two controls of fruit are called 'apples'"),
    "a slip": (
        '\npage.controls += [Control("size", Whole(1, 9), "S", 1, undoes=("aples",))]\n'
        + card("yield text(v.size)"),
        "undoes 'aples', but no control has that name. Did you mean 'apples'?",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", BREAKS)
def test_what_breaks_a_page_is_refused_in_words(what):
    breaks, told = BREAKS[what]
    assert told in refused(BILL, BASKET, breaks)


def test_a_page_that_is_never_shown_says_so():
    told = refused(BILL, BASKET, ends="")
    assert "declares the page 'fruit' and never shows it, so it would stay empty" in told


def test_what_is_unused_stops_nobody_who_has_not_written_the_page():
    config.set_option(SHOWN, "type")
    unread = '\npage.controls += [Control("pears", Whole(1, 9), "Pears", 1)]\n'
    assert shown(opened(BILL, BASKET, unread)) == ["2 cost 6"]


LOADS = "import sys; from attention_ui.reactive import page; print(*sorted(sys.modules))"


def test_the_engine_loads_nothing_of_attention():
    told = subprocess.run([sys.executable, "-c", LOADS], cwd=ROOT, capture_output=True, text=True)
    loaded = [each for each in told.stdout.split() if each.startswith("attention_")]
    assert {each.split(".")[1] for each in loaded if "." in each} == {
        "reactive", "streamlit_workarounds",
    }, told.stderr  # fmt: skip
