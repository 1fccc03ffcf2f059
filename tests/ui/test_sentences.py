"""Sentences of the lessons that follow from settings: each says what is so, and nothing else."""

import pytest

from attention_ui.words import number
from visiting import box, charts, rendered, texts, visit

pytestmark = pytest.mark.slow("20 s: whole pages")


@pytest.mark.parametrize(
    ("value", "said"),
    [(-0.60641, "−0.6064"), (0.0, "0.0000"), (-0.0, "0.0000"), (-3.4e-7, "−3e-07")],
)
def test_a_number_keeps_its_sign_and_is_no_0_that_it_is_not(value, said):
    assert number(value) == said


def test_a_cell_that_no_link_named_is_not_said_to_be_lost():
    page = "pages/divide_by_sqrt_d.py"
    assert "The link’s cell" not in texts(visit(page, predict="on"))
    linked = visit("pages/causal_mask.py", predict="on", cell="changed_embeddings.0.0")
    assert "The link’s cell" in texts(linked)


@pytest.mark.parametrize(("width", "promised"), [("1", False), ("2", True)])
def test_no_picture_of_points_is_promised_where_there_is_none(width, promised):
    at = visit("pages/simplified_attention.py", d_in=width, cell="none")
    assert ("Each point is a vector" in rendered(at)) == promised
    assert ("there is only a line" in rendered(at)) != promised
    assert any("as points" in chart.alt for chart in charts(at)) == promised


@pytest.mark.parametrize(("name", "value"), [("vocabulary", "duplicates"), ("reserved", 0)])
def test_a_choice_for_the_table_that_is_not_in_use_says_so_beside_it(name, value):
    """No row is left for a word that the example's sentence does not have."""
    link = {"learned": "example", "sentence": "The zebra sat", "tokenizer": "text"}
    at = visit("pages/tokenize_and_embed.py", cell="none", **link)
    control = box(at, name) if name == "vocabulary" else at.slider(key=f"control_{name}")
    control.set_value(value).run()
    assert at.session_state["visit"].values[name] != value
    assert at.session_state["visit"].problems[name] in texts(at)
    assert "Not applied:" in rendered(at)
    assert "The earlier one is still shown." in texts(at)
