"""What the inspector outlines, and what it says of torch and the arithmetic."""

import pytest

from attention_core import EXAMPLES, attend, embed
from attention_core.expression import Number
from attention_core.mechanism.trainable import attend_trainable, expand_token
from attention_ui.charts.matrix import Matrix
from attention_ui.page.inspector import _agreement
from attention_ui.page.view import View
from attention_ui.settings import session
from attention_ui.settings.settings import Settings
from visiting import stands, visit


def view_of(*cell):
    settings = Settings.of(EXAMPLES["journey_123"])
    trace = attend_trainable(embed(settings.inputs), settings.projections)
    view = View("queries_keys_values", settings, expand_token(trace, 2))
    view.__dict__["trail"] = (cell,)
    return view


@pytest.mark.parametrize("operand", [None, 0, 1, 2])
def test_an_operand_is_outlined_wherever_it_stands_in_the_equation(operand):
    """`query_scores → query_weights · values = query_context`: the weights stand second."""
    view = view_of("query_context", (1,))
    assert view.highlighted("query_weights", operand) == {(key,) for key in range(6)}
    assert view.highlighted("values", operand) == {(key, 1) for key in range(6)}
    assert view.highlighted("query_scores", operand) == frozenset()


def test_of_two_matrices_that_are_one_step_each_has_its_own_outline():
    settings = Settings.of(EXAMPLES["wild_cat"])
    view = View("simplified_attention", settings, attend(embed(settings.inputs)))
    view.__dict__["trail"] = (("scores", (2, 4)),)
    assert view.highlighted("embeddings", 0) == {(2, 0), (2, 1), (2, 2)}
    assert view.highlighted("embeddings", 1) == {(4, 0), (4, 1), (4, 2)}


def said(**link):
    at = stands(visit("softmax_or_sum", row_from="hand", **link))
    return "\n".join(each.value for each in at.caption)


@pytest.mark.slow("1 s: whole pages")
def test_agreement_with_torch_is_ticked_and_a_difference_is_not():
    agrees = said(typed="3,1,-1", cell="score_sum.0")
    assert ":green[:material/check:] torch has 3; the arithmetic above gives 3" in agrees
    nothing = said(typed="-inf,-inf", cell="softmax_weights.0")
    assert "Torch and the arithmetic both give NaN here." in nothing
    nearly = said(typed="0.1,0.2,-0.3", cell="score_sum.0")
    assert ":green[:material/check:] torch has" in nearly


def test_a_difference_that_rounding_makes_is_said_and_not_ticked(monkeypatch):
    told = []
    monkeypatch.setattr("attention_ui.page.inspector.st.caption", told.append)
    settings = Settings.of(EXAMPLES["journey_123"])
    step = embed(settings.inputs)["embeddings"]
    _agreement(step, (0, 0), Number(float(step.value[0, 0]) + 0.01))
    _agreement(step, (0, 0), Number(float(step.value[0, 0]) + 1e-9))
    assert "They differ because torch rounds to float32" in told[0]
    assert "green" not in told[0]
    assert told[1].startswith(":green")


@pytest.mark.slow("1 s: whole pages")
@pytest.mark.parametrize(
    ("page", "gone", "leave"),
    [
        (
            "causal_mask",
            "cell_masked_scores_masked_scores_0_of_11",
            lambda at: at.button(key="open_leak").click(),
        ),
        (
            "simplified_attention",
            "control_query_0_10_11",
            lambda at: at.selectbox(key="control_example").select("journey_123"),
        ),
    ],
)
def test_a_widget_that_is_gone_chooses_nothing(page, gone, leave):
    """The browser may still tell of it on its way: it has not seen the new page yet."""
    at = visit(page)
    (widget,) = (each for each in (*at.slider, *at.selectbox) if each.key == gone)
    told = widget._widget_state
    leave(at).run()
    assert gone not in {each.key for each in (*at.slider, *at.selectbox)}
    chosen = dict(at.query_params)
    assert chosen
    states = at._tree.get_widget_states()
    states.widgets.append(told)
    at._tree.get_widget_states = lambda: states
    at.run()
    assert dict(at.query_params) == chosen
    assert not at.exception


@pytest.mark.parametrize(
    ("how", "drawn", "index"),
    [
        ({}, (4, 2), (4, 2)),
        ({"transposed": True}, (2, 4), (4, 2)),
        ({"rows": (7, 1)}, (1, 2), (1, 2)),
        ({"rows": (7, 1), "transposed": True}, (2, 0), (7, 2)),
        ({}, (11, 0), None),
        ({"rows": (7, 1)}, (2, 0), None),
        ({}, (-1, 0), None),
    ],
)
def test_a_click_means_the_cell_that_is_drawn_there(how, drawn, index):
    step = embed(Settings.of(EXAMPLES["wild_cat"]).inputs)["embeddings"]  # (token 11, d_in 3)
    assert Matrix(step, **how).places.at(*drawn) == index


def test_what_a_control_changed_is_unsaved_until_a_part_has_been_run(monkeypatch):
    """Until then nothing else may be asked for in its place."""
    state = {
        "settings": Settings.of(EXAMPLES["wild_cat"]),
        "notices": [],
        "drafts": {},
        "wanted": {},
    }
    monkeypatch.setattr(session.st, "session_state", state)
    assert not session.is_unsaved()
    session.choose_cell("scores", (("scores", (0, 0)),))
    assert session.is_unsaved()
    session.save("scores")
    assert not session.is_unsaved()
