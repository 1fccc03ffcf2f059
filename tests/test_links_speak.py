"""When a link speaks, and when it says nothing."""

import pytest

from attention_core import EXAMPLES
from attention_ui.controls import shared
from chosen import chosen
from visiting import stands, visit

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
    return dict(next(iter(at.session_state["session"].linked.values())))


def test_a_link_of_ours_that_is_older_than_the_last_change_says_nothing():
    at = visit(FIRST, predict="on", d_in="4")
    old = ours(at)
    assert old["d_in"] == "4"
    # What is typed is sent when its field is left, and that is the click on the link from before.
    at.slider(key="control_d_in").set_value(6).run()
    assert chosen(at).d_in == 6
    assert follow(at, SECOND, old).d_in == 6
    assert [*at.query_params["d_in"]] == ["6"]


def test_a_link_of_somebody_else_s_speaks_on_another_page():
    assert follow(visit(FIRST, d_in="4"), SECOND, {"d_in": "7", "seed": "5"}).d_in == 7


def test_our_own_link_leaves_the_cell_of_a_page_behind():
    at = visit(FIRST, cell="embeddings.1.1", d_in="4")
    values = follow(at, SECOND, ours(at))
    assert values.d_in == 4
    assert values.cell is None


@pytest.mark.slow("1 s: whole pages")
def test_back_and_forward_speak_and_an_old_address_after_a_click_does_not():
    at = visit(FIRST, d_in="4")
    before = {name: values[-1] for name, values in at.query_params.items()}
    at.slider(key="control_d_in").set_value(7).run()
    after = {name: values[-1] for name, values in at.query_params.items()}
    assert (before["d_in"], after["d_in"]) == ("4", "7")
    of_first_visit = EXAMPLES[shared.FIRST].inputs.d_in
    for query, width in ((before, 4), (after, 7), ({}, of_first_visit), (before, 4)):
        assert follow(at, FIRST, query).d_in == width
    at.slider(key="control_d_in").set_value(5)
    at.query_params["d_in"] = "4"  # the browser is late: it shows the address before the click
    at.run()
    assert chosen(at).d_in == 5
