"""Messages of a wrong type, as somebody may make them by hand: refused without a trace.

No error, ours or Streamlit's, nothing in the log, and the page stays as it is.
"""

import asyncio
import random

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime import fragment
from streamlit.runtime.scriptrunner import exec_code
from streamlit.runtime.state.session_state import SessionState, WStates

from attention_ui.streamlit_workarounds.unreadable_messages import leave_out_what_cannot_be_read
from chosen import chosen
from messages import is_of, send, send_all, value_types, widget_ids, wrong_values
from sampling import few
from serving import start_server
from test_server import stream
from visiting import A_PAGE, EVERYWHERE, stands, visit, with_rows_open
from visitor import Visitor

pytestmark = pytest.mark.slow("1 min: whole pages, and a server")


IN_SOME_FORM = ("json_value", "string_value", "string_array_value", "double_array_value")
"""Types whose values may still be wrong: the others know no wrong ones."""
MESSAGES, LOG = 40, 4_000
"""Messages of five wrong values each, and bytes in the log."""


@pytest.fixture
def errors(monkeypatch):
    """What was raised, in a run or in a part that runs alone."""
    raised = []
    for module in (exec_code, fragment):
        monkeypatch.setattr(
            module, "handle_user_script_exception", lambda error, *_: raised.append(error)
        )
    return raised


def opened(page, **link):
    """The page with all that can be folded open."""
    at = visit(page, **link)
    return with_rows_open(at)


@pytest.mark.parametrize(
    "id", ["", "x", "settings", "$$ID", "$$ID-x", "$$STREAMLIT_INTERNAL_KEY_x"]
)
def test_a_value_for_no_widget_does_not_break_the_session(id, errors):
    at = visit("simplified_attention")
    before = chosen(at)
    send(at, id, {"string_value": "y"})
    stands(at.run())
    assert errors == []
    assert chosen(at) == before


def test_guarding_twice_is_guarding_once():
    leave_out_what_cannot_be_read()
    guarded = WStates.set_widget_from_proto, SessionState.register_widget
    leave_out_what_cannot_be_read()
    assert (WStates.set_widget_from_proto, SessionState.register_widget) == guarded


@pytest.mark.parametrize("page", few(EVERYWHERE, 2, first=A_PAGE))
def test_wrong_types_for_all_widgets_at_once_change_nothing(page, errors):
    at = opened(page, predict="on")
    chance = random.Random(page)
    before, types = chosen(at), value_types(at)
    assert len(types) > 10
    for _ in range(6):
        send_all(
            at,
            {
                id: chance.choice([value for value in wrong_values() if not is_of(type, value)])
                for id, type in types.items()
            },
        )
        assert errors == []
        stands(at)
        assert value_types(at) == types  # they are all there, and none has taken another type
        assert chosen(at) == before


@pytest.mark.parametrize("page", few(EVERYWHERE, 2, first=A_PAGE))
def test_wrong_values_of_the_right_types_break_nothing(page, errors):
    at = opened(page, predict="on")
    chance = random.Random(page)
    for _ in range(6):
        values = {}
        for id, type in value_types(at).items():
            if type in IN_SOME_FORM:
                values[id] = chance.choice([each for each in wrong_values() if is_of(type, each)])
        send_all(at, values)
        assert errors == [], errors
        stands(at)


class Vandal(Visitor):
    """Notes the widgets that it is shown, and the part that each belongs to."""

    def __init__(self, *args):
        super().__init__(*args)
        self.ids = {}

    def _look(self, answer):
        super()._look(answer)
        element = answer.delta.new_element
        id = getattr(getattr(element, element.WhichOneof("type")), "id", None)
        if isinstance(id, str) and id.startswith("$$"):
            self.ids[id] = answer.delta.fragment_id

    async def send(self, *states):
        message = BackMsg()
        message.rerun_script.fragment_id = self.ids.get(states[0].id, "")
        message.rerun_script.widget_states.widgets.extend(states)
        await self._run(message)


def test_wrong_messages_leave_nothing_in_the_log_of_a_server(tmp_path):
    log = tmp_path / "output.txt"
    server = start_server(log)
    chance = random.Random(1)

    async def send_them():
        first = await Vandal(server.url, "softmax_or_sum").enter()
        ids, values = [*first.ids], [*wrong_values()]
        for _ in range(MESSAGES):
            some = chance.sample(ids, 5)
            await first.send(*(WidgetState(id=id, **chance.choice(values)) for id in some))
        # And to a session that has not seen the widgets yet.
        stranger = Vandal(server.url, "softmax_or_sum")
        stranger.socket = await stream(server.url)
        await stranger.send(*(WidgetState(id=id, **chance.choice(values)) for id in ids))
        await first.leave()
        await stranger.leave()
        return len(ids), first.errors + stranger.errors

    try:
        n_widgets, errors = asyncio.run(send_them())
    finally:
        server.stop()
    assert n_widgets > 15
    assert errors == []
    assert log.stat().st_size < LOG, server.output()


@pytest.mark.parametrize("kind", ["int_value", "double_value"])
def test_a_whole_number_is_taken_for_a_field_of_numbers(kind):
    """Streamlit's browser sends it as one, though the widget is said to hold decimals."""
    at = visit("queries_keys_values", predict="on")
    (id,) = (id for id, key in widget_ids(at).items() if key.endswith("shape_0"))
    states = at._tree.get_widget_states()
    states.widgets.append(WidgetState(id=id, **{kind: 11}))
    at._tree.get_widget_states = lambda: states
    at.run()
    assert stands(at).session_state["guess_queries_keys_values.shape_0"] == 11
