"""What is typed into a grid: taken up as a link holds it, or refused in words and left typed."""

import json

import pytest

from attention_ui.controls.control import understood
from attention_ui.controls.fields import MAX_EDITS
from attention_ui.controls.grid import Grids
from chosen import EVERY, chosen
from messages import send, widget_ids
from visiting import stands, texts, visit

pytestmark = pytest.mark.slow("5 s: whole pages")


def open_grid(**link):
    at = visit("pages/queries_keys_values.py", **link)
    at.session_state["row_deeper"] = True
    return at.run()


def type_into(at, numbers):
    """Numbers by row, the same in every column."""
    id = next(id for id, key in widget_ids(at).items() if key.startswith("grid_q_edits"))
    columns = at.session_state["visit"].own(Grids).by_name["q_edits"].columns
    edited = {row: dict.fromkeys(columns, number) for row, number in numbers.items()}
    send(at, id, {"string_value": json.dumps({"edited_rows": edited})})
    stands(at)
    return chosen(at)


def test_a_typed_number_is_kept_as_a_link_holds_it():
    at = open_grid()
    values = type_into(at, {0: 0.12345678912345})
    assert {number for *_, number in values.q_edits} == {0.123456789}
    assert understood(at.session_state["visit"].chosen, EVERY) == (values, {})


def test_more_numbers_than_a_link_holds_are_refused_in_words_and_can_be_undone():
    at = open_grid(d_in="16", d_query="16")
    values = type_into(at, dict.fromkeys(range(16), 1.5))
    assert values.q_edits == ()
    said = f"Not applied: a link can hold {MAX_EDITS} typed numbers, and these are 256."
    assert said in texts(at)
    next(each for each in at.button if each.key == "undo_q_edits").click().run()
    stands(at)
    assert not [each for each in at.button if each.key == "undo_q_edits"]
    assert "Not applied" not in texts(at)


def test_numbers_that_fit_their_table_and_not_the_link_are_refused_in_words():
    full = ",".join(f"{at // 14}.{at % 14}:999.999999" for at in range(196))
    at = open_grid(d_in="14", d_query="14", d_value="14", k_edits=full)
    assert len(type_into(at, dict.fromkeys(range(13), 1.25)).q_edits) in (0, 182)
    values = type_into(at, dict.fromkeys(range(14), 123.456789))
    assert understood(at.session_state["visit"].chosen, EVERY) == (values, {})
    assert "The link to this page would have" in texts(at)


@pytest.mark.parametrize("how", ["lock", "hide"])
def test_a_grid_that_is_fixed_takes_no_numbers(how):
    at = open_grid(**{how: "q_edits"})
    grids = [id for id, key in widget_ids(at).items() if key.startswith("grid_q_edits")]
    assert len(grids) == (how == "lock")
    if grids:
        assert type_into(at, {0: 1.0}).q_edits == ()


def test_a_pin_that_a_link_cannot_hold_is_refused_in_words():
    at = visit("pages/queries_keys_values.py", sentence="предложение " * 60, tokenizer="text")
    next(each for each in at.button if each.key == "pin").click().run()
    stands(at)
    values = chosen(at)
    assert understood(at.session_state["visit"].chosen, EVERY) == (values, {})
    assert values.pin == ""
    assert "Not applied: " in texts(at)
    assert "fit" in texts(at)
