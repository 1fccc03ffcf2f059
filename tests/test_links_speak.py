"""When a link speaks, and that the arithmetic of an open cell is that of the settings now."""

from functools import cache
from itertools import product

import pytest

from chosen import chosen
from sampling import few
from visiting import A_PAGE, PAGES, pictures, stands, visit

FIRST, SECOND = "pages/simplified_attention.py", "pages/causal_mask.py"


def follow(at, page, query):
    at.switch_page(page)
    at.query_params.clear()
    for name, value in query.items():
        at.query_params[name] = value
    at.run()
    stands(at)
    return chosen(at)


def ours(at):
    return dict(next(iter(at.session_state["visit"].linked.values())))


def test_a_link_of_ours_that_is_older_than_the_last_change_says_nothing():
    at = visit(FIRST, predict="on", d_in="4")
    old = ours(at)
    assert old["d_in"] == "4"
    # What is typed is sent when its field is left, and that is the click on the link from before.
    at.slider(key="control_d_in").set_value(6).run()
    assert chosen(at).d_in == 6
    values = follow(at, SECOND, old)
    assert values.d_in == 6
    assert [*at.query_params["d_in"]] == ["6"]


def test_a_link_of_somebody_else_s_speaks_on_another_page():
    at = visit(FIRST, d_in="4")
    assert follow(at, SECOND, {"d_in": "7", "seed": "5"}).d_in == 7


def test_our_own_link_leaves_the_cell_of_a_page_behind():
    at = visit(FIRST, cell="embeddings.1.1", d_in="4")
    values = follow(at, SECOND, ours(at))
    assert values.d_in == 4
    assert values.cell is None


@pytest.mark.slow("1 s: whole pages")
def test_back_and_forward_speak_and_an_old_address_after_a_click_does_not():
    at = visit(FIRST, d_in="4")
    before = {name: values[-1] for name, values in at.query_params.items()}
    at.slider(key="control_d_in").set_value(6).run()
    after = {name: values[-1] for name, values in at.query_params.items()}
    assert (before["d_in"], after["d_in"]) == ("4", "6")
    for query, width in ((before, 4), (after, 6), (before, 4)):
        assert follow(at, FIRST, query).d_in == width
    at.slider(key="control_d_in").set_value(5)
    at.query_params["d_in"] = "4"  # the browser is late: it shows the address before the click
    at.run()
    assert chosen(at).d_in == 5


def arithmetic(at):
    return [each.value for each in at.latex], [each.value for each in at.caption]


@cache
def cell_that_changes(page, name, text):
    """The first cell that another setting gives another number, as a link has it; or None."""
    others = [each.trace for each in pictures(page, **{name: text})]
    for drawn, other in zip(pictures(page), others, strict=False):
        for step in (matrix.step for matrix in drawn.matrices):
            for index in ((1,) * step.value.ndim, (0,) * step.value.ndim):
                there = step.name in other and other[step.name].has(index) and step.has(index)
                if there and other[step.name].value[index] != step.value[index]:
                    return ".".join([step.name, *map(str, index)])
    return None


LINKS = {"seed": "5", "d_in": "4", "sentence": "a b c"}
CHANGES = {
    "seed": lambda at: at.text_input(key="control_seed").set_value("5"),
    "d_in": lambda at: at.slider(key="control_d_in").set_value(4),
    "sentence": lambda at: at.text_area(key="control_sentence").set_value("a b c"),
}


BY_PAGE = product(sorted(PAGES, key=lambda page: page != A_PAGE), CHANGES)


@pytest.mark.slow("15 s: pages before and after a change")
@pytest.mark.parametrize(("page", "change"), few(BY_PAGE, 3))
def test_after_a_change_the_arithmetic_is_that_of_a_fresh_visit(page, change):
    cell = cell_that_changes(page, change, LINKS[change])
    if cell is None:  # no number of the page depends on it
        assert page != A_PAGE
        return
    at = visit(page, cell=cell, section="")
    was = arithmetic(at)
    CHANGES[change](at).run()
    stands(at)
    fresh = visit(page, **{"predict": "off", **at.session_state["visit"].chosen})
    assert chosen(fresh) == chosen(at)
    assert arithmetic(at) == arithmetic(fresh)
    assert arithmetic(at) != was
