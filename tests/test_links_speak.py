"""When a link speaks, and that the arithmetic of an open cell is that of the settings now."""

import pytest

from attention_ui.settings.link import to_query
from visiting import PAGES, stands, visit

FIRST, SECOND = "pages/simplified_attention.py", "pages/causal_mask.py"
CELL = {"cell": "embeddings.1.1", "beat": ""}


def follow(at, page, query):
    """Click a link: the browser asks for a page with these parameters."""
    at.switch_page(page)
    at.query_params.clear()
    for name, value in query.items():
        at.query_params[name] = value
    at.run()
    stands(at)
    return at.session_state["settings"]


def ours(at):
    """The links of ours that stand on the page now."""
    return dict(next(iter(at.session_state["linked"].values())))


def test_a_link_of_ours_that_is_older_than_the_last_change_says_nothing():
    at = visit(FIRST, predict="on", d_in="4")
    old = ours(at)
    assert old["d_in"] == "4"
    # A part of the page ran alone: the browser shows a link from before the change.
    at.slider(key="control_d_in").set_value(6).run()
    assert at.session_state["settings"].d_in == 6
    at.session_state["linked"] = {**at.session_state["linked"], "older": old}
    settings = follow(at, SECOND, old)
    assert settings.d_in == 6
    assert [*at.query_params["d_in"]] == ["6"]


def test_a_link_of_somebody_else_s_speaks_on_another_page():
    at = visit(FIRST, d_in="4")
    assert follow(at, SECOND, {"d_in": "7", "seed": "5"}).d_in == 7


def test_our_own_link_leaves_the_cell_of_a_page_behind():
    at = visit(FIRST, cell="embeddings.1.1", d_in="4")
    settings = follow(at, SECOND, ours(at))
    assert settings.d_in == 4
    assert settings.cell is None


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
    assert at.session_state["settings"].d_in == 5


# --- arithmetic -----------------------------------------------------------------------------------


def arithmetic(at):
    return [each.value for each in at.latex], [each.value for each in at.caption]


CHANGES = {
    "seed": lambda at: at.text_input(key="control_seed").set_value("5"),
    "d_in": lambda at: at.slider(key="control_d_in").set_value(4),
    "sentence": lambda at: at.text_area(key="control_sentence").set_value("a b c"),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("page", [page for page in PAGES if "divide" not in page])
def test_after_a_change_the_arithmetic_is_that_of_a_fresh_visit(page, change):
    at = visit(page, **CELL)
    was = arithmetic(at)
    CHANGES[change](at).run()
    stands(at)
    settings = at.session_state["settings"]
    fresh = visit(page, **{"predict": "off", **to_query(settings)})
    assert fresh.session_state["settings"] == settings
    assert arithmetic(at) == arithmetic(fresh)
    assert arithmetic(at) != was


def parts(at):
    return at.session_state["shown"].page.parts


@pytest.mark.parametrize("link", [{"seed": "5"}, {"d_in": "4"}, {"edits": "1.1:0.125"}], ids=str)
@pytest.mark.parametrize("page", [page for page in PAGES if "divide" not in page])
def test_a_part_with_a_cell_open_is_another_part_with_other_numbers(page, link):
    """Else it would not be drawn again where only parts are that are other than before."""
    at = visit(page, **CELL)
    home = at.session_state.get("open_in", None)
    if home is None or home not in parts(at) or parts(at)[home].about is None:
        return
    other = visit(page, **{**CELL, **link})
    assert parts(other)[home].about != parts(at)[home].about
