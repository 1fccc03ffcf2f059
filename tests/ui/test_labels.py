"""Labels, bounds and messages of controls: what a person reads is what the setting is called."""

import pytest

from attention_ui.settings.link import from_query, unknown_names
from attention_ui.settings.settings import FIELDS, SETTINGS
from sampling import few
from visiting import EVERYWHERE, texts, visit

OPEN = {
    "pages/causal_mask.py": {"fold_turn_cells": True},
    "pages/queries_keys_values.py": {"fold_own_matrices": True},
}


UNCONTROLLED = {"beat", "cell", "pin", "hide", "lock", "only", "upto", "done", "tasks"}
"""Settings that nobody chooses in a control of their own: no link need hide them."""


def test_every_setting_that_has_a_control_has_a_label_of_its_own():
    labels = {name: each.label for name, each in SETTINGS.items() if each.label}
    assert set(labels) == set(SETTINGS) - UNCONTROLLED
    assert len(set(labels.values())) == len(labels)


@pytest.mark.slow("4 s: every page")
@pytest.mark.parametrize("page", few(EVERYWHERE, 6))
def test_a_control_is_drawn_as_its_setting_says(page):
    at = visit(page)
    for name, value in OPEN.get(page, {}).items():
        at.session_state[name] = value
    at.run()
    kinds = (at.slider, at.select_slider, at.text_input, at.text_area, at.selectbox, at.toggle)
    widgets = [each for kind in kinds for each in kind if (each.key or "").startswith("control_")]
    for widget in widgets:
        name = max((each for each in FIELDS if widget.key.startswith(f"control_{each}")), key=len)
        about, field = SETTINGS[name], FIELDS[name]
        # Side by side with others, a control may be called by its name or what is before the colon.
        short = (name, about.label.partition(":")[0], "or exactly")
        assert widget.label.startswith(about.label) or widget.label in short, name
        if widget.type == "slider":
            assert (widget.min, widget.max) == (field.least, field.most), name
    assert widgets


@pytest.mark.slow("1 s: a whole page")
def test_a_message_calls_a_control_by_its_label():
    at = visit("pages/multi_head_attention.py")
    at.text_input(key="control_h_seed").set_value("x").run()
    assert "Seed of the heads' matrices: it must be a whole number" in texts(at)


def test_a_stop_that_a_slider_does_not_have_names_those_beside_it():
    for link, near in (({"magnify": "7"}, "6 and 8"), ({"vd": "65"}, "64 and 100")):
        (notice,) = from_query(link)[1]
        assert f"it must be a stop of its slider, and the nearest are {near}." in notice


def test_a_bad_example_and_an_empty_text_read_well():
    (notice,) = from_query({"sentence": ""})[1]
    assert notice.startswith("The link's sentence is empty, but it must have at least one word.")
    (notice,) = from_query({"example": "x"})[1]
    assert notice.endswith("“The hungry cat chases the mouse because it purrs” is shown instead.")


def test_names_that_are_no_settings_are_said_once_and_leave_the_link():
    at = visit("pages/causal_mask.py", layers="3", lr="1", seed="7", embed="true")
    said = "The link has names that this app does not know; they were left out: “layers”, “lr”."
    assert said in texts(at)
    assert "layers" not in at.query_params
    assert at.session_state["settings"].seed == 7
    at.toggle(key="control_causal").set_value(False).run()
    assert said not in texts(at)


def test_only_a_few_unknown_names_are_told_and_shortened():
    said = unknown_names(["x" * 99, "\u202e<b>", *"abcdef"])
    assert len(said) < 200
    assert "and 4 more." in said
    assert "\u202e" not in said
