"""Messages of a wrong type, as somebody may make them by hand: refused without a trace of ours.

What Streamlit itself cannot read never reaches our code: it raises, and shows an error box, before
a callback is called. What is asserted here is that no error has a line of ours in it.
"""

import traceback

import pytest
from streamlit.runtime import fragment
from streamlit.runtime.scriptrunner import exec_code

from conftest import ROOT
from messages import send, widget_ids, wrong_values
from visiting import visit

pytestmark = pytest.mark.slow("10 s: whole pages")

OURS = tuple(str(ROOT / name) for name in ("app.py", "attention_ui", "pages", "attention_core"))
SELECTIONS = [value for value in wrong_values() if "selection" in value.get("string_value", "")]
EDITS = [value for value in wrong_values() if "edited_rows" in value.get("string_value", "")]
NUMBERS = [value for value in wrong_values() if "double_array_value" in value]
NUMBERS += [{"double_array_value": {"data": each}} for each in ([0.0, 1.0], [2.5], [99.0])]
TEXTS = [value for value in wrong_values() if "string_value" in value][:8]
WRONG = [
    ("causal_mask", "n", SELECTIONS),
    ("causal_mask", "control_width", NUMBERS),
    ("causal_mask", "control_dropout", NUMBERS),
    ("causal_mask", "control_tokenizer", TEXTS),
    ("causal_mask", "control_seed", TEXTS),
    ("queries_keys_values", "grid_q_edits_1", EDITS),
    ("multi_head_attention", "control_d_model", NUMBERS),
]


@pytest.fixture
def errors(monkeypatch):
    """What was raised, in a run or in a part that runs alone."""
    raised = []
    for module in (exec_code, fragment):
        name = "handle_user_script_exception"
        if hasattr(module, name):
            monkeypatch.setattr(module, name, lambda error, *_, **__: raised.append(error))
    return raised


def opened(page):
    at = visit(f"pages/{page}.py")
    if "fold_own_matrices" in at.session_state:
        at.session_state["fold_own_matrices"] = True
        at.run()
    return at


@pytest.mark.parametrize(("page", "key", "values"), WRONG, ids=[key for _, key, _ in WRONG])
def test_a_value_of_a_wrong_type_is_refused_quietly(page, key, values, errors):
    at = opened(page)
    id = next(id for id, its_key in widget_ids(at).items() if its_key.split(".")[-1] == key)
    before = at.session_state["settings"]
    for value in values:
        send(at, id, value)
        for error in errors:
            files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
            assert not [file for file in files if file.startswith(OURS)], (value, error)
        if errors:
            errors.clear()
            at = opened(page)  # after an error the widgets of the page are unknown
        after = at.session_state["settings"]
        assert after == before or key.startswith("control_"), value
