"""What we expect of Streamlit 1.67's insides; and that every page works without each mend."""

import asyncio
import inspect
import re
import socket
import sys
import tomllib
from functools import cache, partial
from pathlib import Path
from unittest.mock import ANY, Mock

import pytest
import streamlit as st
from streamlit import config
from streamlit.delta_generator_singletons import context_dg_stack, get_default_dg_stack_value
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime import fragment, scriptrunner
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.scriptrunner import ScriptRunner
from streamlit.runtime.scriptrunner_utils import script_requests
from streamlit.runtime.scriptrunner_utils.script_requests import (
    RerunData,
    ScriptRequests,
    ScriptRequestType,
)
from streamlit.runtime.scriptrunner_utils.script_run_context import RunLocation, ThreadState
from streamlit.runtime.state.session_state import SessionState
from streamlit.testing.v1 import AppTest
from streamlit.web.server.starlette import starlette_server

from attention_ui.frame.contents import LESSONS
from attention_ui.frame.of_the_system import send_at_once
from attention_ui.streamlit_workarounds import deep_pages, run_queue, withheld
from attention_ui.streamlit_workarounds.abandoned_pages import run_only_parts_that_are_there
from attention_ui.streamlit_workarounds.room_of_control import in_room
from attention_ui.streamlit_workarounds.stale_messages import take_nothing_back
from attention_ui.streamlit_workarounds.style import CARDS, LARGE, STYLE
from attention_ui.streamlit_workarounds.uninterrupted_callbacks import let_callbacks_end
from attention_ui.streamlit_workarounds.unseen_component import text_of
from conftest import ran
from sampling import few
from serving import HANG
from streamlit_insides import GONE, ROOT

ROOM = ROOT / "attention_ui" / "streamlit_workarounds"
SCRIPTS = sorted(path.name for path in ROOM.glob("*.js"))
OUTSIDE = [
    path
    for path in [ROOT / "app.py", *ROOT.glob("pages/*.py"), *ROOT.glob("attention_ui/**/*.py")]
    if ROOM not in path.parents
]
INSIDES = [
    *("streamlit.runtime", "streamlit.proto", "streamlit.delta_generator", "components.v2"),
    *("data-test", "__streamlit"),
]
RUNS = {
    "_run_script_thread": ["on_scriptrunner_ready"] * 2,
    "_maybe_handle_execution_control_request": ["on_scriptrunner_yield"],
}
MAY_GO = "this Streamlit has not the fault any more: the mend that the heading names may go"
STATUS = ForwardMsg.ScriptFinishedStatus


@cache
def browser_code() -> str:
    scripts = (Path(st.__file__).parent / "static").rglob("*.js")
    return "\n".join(path.read_text(encoding="utf-8") for path in scripts)


def test_insides_are_used_in_their_room_alone():
    for path in OUTSIDE:
        text = path.read_text(encoding="utf-8")
        assert not [word for word in INSIDES if word in text], path


def test_every_mend_has_its_fault_here():
    """A module that leans on an inside, or changes Streamlit, is named by what sees the fault."""
    contract = Path(__file__).read_text(encoding="utf-8")
    for path in ROOM.glob("*.py"):
        leans = [word for word in INSIDES if word in path.read_text(encoding="utf-8")]
        told = f"{path.name} uses {leans}: add a test here that goes red once Streamlit is mended"
        assert not leans or re.search(rf"\b{path.stem}\b", contract), told


# --- withheld -------------------------------------------------------------------------------------
def test_streamlit_looks_for_a_run_where_it_is_withheld():
    """What is made for everybody finds no session there, and is told so."""
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    was = withheld.withhold(RecursionError)
    try:
        with pytest.raises(RecursionError, match="session_state"):
            get_script_run_ctx().session_state  # noqa: B018
        within = withheld.withhold(None)
        assert get_script_run_ctx(suppress_warning=True) is was, "open again, within"
        withheld.give_back(within)
        with pytest.raises(RecursionError):
            st.session_state.get("session")
    finally:
        withheld.give_back(was)
    assert get_script_run_ctx(suppress_warning=True) is was


# --- of_the_system --------------------------------------------------------------------------------
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no socket says its protocol")
@pytest.mark.parametrize("is_mended", [False, True])
def test_messages_go_out_at_once(is_mended):
    async def is_at_once():
        met = asyncio.Queue()
        if is_mended:
            send_at_once()
        listens = starlette_server._bind_socket("127.0.0.1", 0, 1)
        async with await asyncio.start_server(lambda _, one: met.put(one), sock=listens) as server:
            with socket.create_connection(server.sockets[0].getsockname()):
                one = (await met.get()).get_extra_info("socket")
                return bool(one.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

    assert asyncio.run(asyncio.wait_for(is_at_once(), HANG)) is is_mended, MAY_GO


# --- kept_messages --------------------------------------------------------------------------------
def test_streamlit_still_calls_what_has_finished_broken_off_and_drops_what_was_drawn():
    """The faults that `keep_what_was_drawn` mends: it knows too early which parts will run. Where
    this fails, the mend may go.
    """
    queue, finished = ForwardMsgQueue(), STATUS.FINISHED_FRAGMENT_RUN_SUCCESSFULLY
    clear = partial(inspect.unwrap(ForwardMsgQueue.clear), queue, retain_lifecycle_msgs=True)
    message = ForwardMsg(script_finished=finished)
    message.metadata.run.fragment_ids.append("a part")
    queue.enqueue(message)
    assert [each.script_finished for each in queue._queue] == [finished]
    clear(fragment_ids_this_run=["another part"])
    assert queue.flush()[0].script_finished == STATUS.FINISHED_EARLY_FOR_RERUN, MAY_GO
    queue.enqueue(ForwardMsg(delta={"new_element": {}}))
    clear()
    assert queue.is_empty(), MAY_GO


def test_streamlit_clears_the_queue_of_a_session_as_the_mend_does():
    clear = inspect.unwrap(AppSession._clear_queue)
    assert [*inspect.signature(clear).parameters] == ["self", "fragment_ids_this_run"]
    assert "self._browser_queue.clear(" in inspect.getsource(clear)


# --- message_batching -----------------------------------------------------------------------------
def test_streamlit_still_wakes_its_loop_for_each_message():
    tell = inspect.getsource(inspect.unwrap(AppSession._on_scriptrunner_event))
    assert tell.count("self._call_soon_on_event_loop(") == 1, MAY_GO
    assert "ENQUEUE" not in tell, MAY_GO


# --- abandoned_pages ------------------------------------------------------------------------------
def test_a_page_is_drawn_in_its_own_place_after_a_part_in_the_sidebar():
    """Which the same thread has drawn, and Streamlit does not leave again."""
    assert inspect.getsource(fragment._fragment).count("context_dg_stack.set(") == 1, MAY_GO
    run_only_parts_that_are_there()
    context_dg_stack.set((st.sidebar,))
    with pytest.raises(RuntimeError):
        ScriptRunner._run_script(Mock(_is_in_script_thread=lambda: False), Mock())
    assert context_dg_stack.get() == get_default_dg_stack_value()


def runs_after(request, *asked, open_now="old"):
    """Whether the last of these requests, each of a page and a part, is run."""
    session = Mock(_client_state=ClientState(page_script_hash=open_now), _scriptrunner=None)
    if open_now is None:
        del session._client_state
    for page, part in asked:
        session._create_scriptrunner.reset_mock()
        request(session, ClientState(page_script_hash=page, fragment_id=part))
    return session._create_scriptrunner.called


def test_no_part_runs_for_a_page_that_was_left():
    """First without the mend: where that fails, the mend may go."""
    late = ("new", ""), ("old", "a part")
    assert runs_after(inspect.unwrap(AppSession.request_rerun), *late), MAY_GO
    run_only_parts_that_are_there()
    mended = AppSession.request_rerun
    run_only_parts_that_are_there()
    assert AppSession.request_rerun is mended, "mending twice is mending once"
    assert not runs_after(mended, *late)
    assert runs_after(mended, *late, ("new", "a part"))
    assert runs_after(mended, *late, ("old", ""), ("old", "a part"))
    # The first visit: until its run is over, Streamlit says that the script is open, not the page.
    assert runs_after(mended, ("", ""), ("old", "a part"), open_now="the script")
    assert runs_after(mended, *late, open_now=None), "a Streamlit that does not say what is open"


def test_the_page_runs_for_a_part_that_is_gone(monkeypatch):
    """Whether it is gone when it is asked for, which Streamlit drops, or when its turn comes."""
    ran = []
    request = inspect.unwrap(AppSession.request_rerun)
    monkeypatch.setattr(AppSession, "request_rerun", request)
    assert "self._fragment_storage.lookup" in inspect.getsource(ScriptRunner._run_script)
    monkeypatch.setattr(ScriptRunner, "_run_script", lambda _, asked: ran.append(asked))
    run_only_parts_that_are_there()
    session, runner = Mock(_scriptrunner=None, has_fragment=lambda part: part == "there"), Mock()
    runner._fragment_storage.contains = session.has_fragment
    request(session, ClientState(fragment_id="gone"))
    session._create_scriptrunner.assert_not_called()
    for part, expected in (("gone", []), ("there", ["there"])):
        AppSession.request_rerun(session, ClientState(fragment_id=part))
        (asked,) = session._create_scriptrunner.call_args.args
        assert asked.fragment_id == (part if expected else None)
        ScriptRunner._run_script(runner, RerunData(fragment_id_queue=[part]))
        assert ran[-1].fragment_id_queue == expected


def test_a_session_says_which_page_is_open_and_is_asked_for_runs_by_that_name():
    parameters = inspect.signature(inspect.unwrap(AppSession.request_rerun)).parameters
    assert [*parameters] == ["self", "client_state"]
    begun = inspect.getsource(AppSession._handle_scriptrunner_event_on_event_loop)
    assert "self._client_state.page_script_hash = page_script_hash" in begun


# --- turns ----------------------------------------------------------------------------------------
def test_a_run_asks_once_what_it_is_for_and_once_a_message_whether_it_ends():
    """Where a name is another, scripts run at once as before."""
    told = {name: inspect.getsource(getattr(ScriptRunner, name)) for name in RUNS}
    assert {name: re.findall(r"_requests\.(on_\w+)", s) for name, s in told.items()} == RUNS
    requests = ScriptRequests()
    requests.request_rerun(RerunData(fragment_id="a part"))
    assert requests._state is ScriptRequestType.RERUN
    assert not run_queue._preempts(requests)
    run_queue.run_in_turns()
    assert requests.on_scriptrunner_ready.__wrapped__, "the app has not noticed any of this"


def test_streamlit_has_no_limit_of_its_own_of_scripts_at_once():
    """Where this fails, look at what is new: the mend may go."""
    options = [name for name in config.get_config_options() if name.startswith("runner.")]
    assert not [n for n in options if re.search(r"(?i)scripts|concurren|session(?!state)", n)]


# --- uninterrupted_callbacks ----------------------------------------------------------------------
def test_no_other_run_begins_within_a_callback(monkeypatch):
    """First without the mend: where that waits, the mend may go."""
    name, begun = "_maybe_handle_execution_control_request", Mock(side_effect=StopIteration)
    runner = Mock(_execing=True, _requests=Mock(on_scriptrunner_yield=begun))
    monkeypatch.setattr(ScriptRunner, name, inspect.unwrap(getattr(ScriptRunner, name)))
    where = Mock(run_location=RunLocation.CALLBACK)
    monkeypatch.setattr(ThreadState, "get", lambda: where)
    with pytest.raises(StopIteration):
        getattr(ScriptRunner, name)(runner)
    let_callbacks_end()
    getattr(ScriptRunner, name)(runner)
    where.run_location = RunLocation.MAIN_SCRIPT
    with pytest.raises(StopIteration):
        getattr(ScriptRunner, name)(runner)


# --- stale_messages, deep_pages: what a message says ----------------------------------------------
def test_what_a_message_repeats_counts_where_it_comes_from(monkeypatch):
    """A select box that the server has set since, and a message that says again where it stood."""
    taken, late, begins = [], Mock(return_value=False), Mock()
    for owner, name in (
        (SessionState, "on_script_will_rerun"),
        (ScriptRequests, "request_rerun"),
        (script_requests, "_coalesce_widget_states"),
    ):
        monkeypatch.setattr(owner, name, inspect.unwrap(getattr(owner, name)))

    def take(_, fresh):
        taken.append([each.id for each in fresh.widgets])

    monkeypatch.setattr(SessionState, "on_script_will_rerun", take)
    monkeypatch.setattr(scriptrunner, "get_script_run_ctx", Mock())
    take_nothing_back(late, begins)
    state = SessionState()
    for name in ("head", "other", "button"):
        state._new_widget_state.widget_metadata[name] = Mock(fragment_id="card")
        state._old_state[name] = "as it was drawn"

    def comes(part, *others, has_begun=True, **values):
        """A message, behind others that wait with it; the runner that it is sent to may be gone."""
        requests = ScriptRequests()
        for where, told in (*others, (part, values)):
            each = [WidgetState(id=name, string_value=value) for name, value in told.items()]
            pressed = [WidgetState(id="button", trigger_value=True)] if told else []
            asked = RerunData(fragment_id=where, widget_states=WidgetStates(widgets=each + pressed))
            if not has_begun:
                ended = ScriptRequests()
                ended.request_stop()
                assert not ended.request_rerun(asked)
            requests.request_rerun(asked)
        ready = inspect.unwrap(ScriptRequests.on_scriptrunner_ready)  # takes no turn, to keep it
        state.on_script_will_rerun(ready(requests).rerun_data.widget_states)
        return taken[-1]

    assert comes("card", head="a", other="b") == ["head", "other", "button"]
    assert comes("near", head="a", other="b") == ["button"], "pressed elsewhere"
    assert comes("near", head="c", other="b") == ["button"], "where the server has put it"
    assert comes("card", head="c", other="b") == ["head", "other", "button"]
    assert comes(None, head="c", other="b") == ["head", "other", "button"], "the page's own"
    moved = ("card", {"head": "c", "other": "b"})
    assert comes("near", moved, head="c", other="b") == ["head", "other", "button"], "both wait"
    begins.assert_called_with(False, ANY)
    assert comes("near", moved, other="b") == ["other", "button", "head"], "its view has gone"
    assert comes(None, has_begun=False) == [], "Back says nothing of widgets"
    begins.assert_called_with(True, ANY)
    assert comes("near", head="c", other="b") == ["button"], "not heard of Back yet"
    assert comes("near", (None, {}), head="c", other="b") == ["button"], "waits with it"
    begins.assert_called_with(True, ANY)
    late.return_value = True
    assert comes("card", head="c", other="d") == ["other", "button"], "sent before the answer came"
    late.return_value = False
    del state._old_state["head"]
    assert comes("card", head="c", other="d") == ["other", "button"], "gone"
    assert comes("card", head="a", other="d") == ["head", "other", "button"], "pressed as it went"
    assert comes("near", other="d") == ["button"], "the browser has heard of it"
    state._old_state["head"] = "drawn again"
    assert comes("near", head="b", other="d") == ["button"], "new to the browser, not pressed"


def test_what_was_touched_is_sent_by_a_function_that_names_it():
    """So `deep_pages` knows it; and of a message that is kept, the browser forgets in its time."""
    assert re.search(r"setTimeout\(\(\)=>\{this\.sendUpdateWidgetsMessage\(", browser_code())
    assert st.get_option("global.minCachedMessageSize") >= 1e9


# --- unseen_component -----------------------------------------------------------------------------
def test_a_component_takes_code_and_calls_back():
    assert {"name", "html", "js"} <= inspect.signature(st.components.v2.component).parameters.keys()
    given = {*re.findall(r"\bset\w+Value|parentElement", "".join(map(text_of, SCRIPTS)))}
    assert given == {"setTriggerValue", "parentElement"}
    assert all(name in browser_code() for name in given)


# --- reconnect, sideways, style, deep_pages: names that the browser has ---------------------------
def names_in_the_browser():
    ours = STYLE + CARDS + LARGE + in_room("key") + "".join(map(text_of, SCRIPTS))
    ids = re.findall(r"data-testid[\^]?=\"?(\w+)", ours)
    states = re.findall(r"(?:script-state|connection-state|collapsed)=\"?(\w+)", ours)
    attributes = re.findall(r"(data-(?:test|collapsed)[a-z-]*)", ours)
    classes = re.findall(r"\.(st[A-Z]\w+|katex-display|fit-x)", ours)
    return sorted({*ids, *states, *attributes, *classes, "CONNECTED", "BACKEND_BASE_URL"})


@pytest.mark.parametrize("name", names_in_the_browser())
def test_streamlit_s_browser_has_this_name(name):
    # The name first, and what may not stand before it after: much faster in 23 MB of text.
    assert re.search(rf"{name}(?<![\w-]{name})(?!\w)", browser_code()), name


def test_the_room_of_a_control_is_drawn_without_a_file_of_its_own():
    (drawn,) = re.findall(r"case`space`:return (.{,200})stSpace", browser_code())
    assert ".lazy" not in drawn
    assert "import(" not in drawn


def test_the_slanted_letters_are_asked_for_before_a_word_needs_them():
    (path,) = re.findall(r'href="\./([^"]+)"', deep_pages.SLANTED)
    styles = deep_pages.INDEX.parent.rglob("*.css")
    needed = " ".join(style.read_text(encoding="utf-8") for style in styles)
    assert Path(path).name in needed, "it is the file that Streamlit's own style asks for"


def test_the_code_of_elements_is_found_with_what_it_imports():
    found = {each.split(".")[0] for each in deep_pages.code_of(*deep_pages.USED)}
    assert found >= {*deep_pages.USED, "embed"}  # Vega itself


def test_the_browser_s_code_says_where_its_page_is_to_be_changed():
    assert deep_pages.INDEX.read_text(encoding="utf-8").count("<head>") == 1
    assert "window.__streamlit" in browser_code()


# --- the server -----------------------------------------------------------------------------------
def test_the_server_takes_routes_and_what_is_done_at_its_start():
    assert {"routes", "lifespan"} <= inspect.signature(st.App).parameters.keys()


def test_streamlit_knows_every_option_that_we_set():
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    sections = [*config.items()]
    for section, options in sections:
        for name, value in options.items():
            if isinstance(value, dict):
                sections.append((f"{section}.{name}", value))
            else:
                st.get_option(f"{section}.{name}")  # raises for an option that there is not


def test_writing_the_address_leaves_what_is_streamlit_s_own():
    def page():
        import streamlit as st

        st.query_params.from_dict({"seed": "3"})

    at = AppTest.from_function(page, default_timeout=HANG)
    at.query_params["embed"] = "true"
    at.query_params["old"] = "1"
    at.run()
    assert dict(at.query_params) == {"embed": "true", "seed": "3"}


# --- without them ---------------------------------------------------------------------------------
def usable(pages, *gone):
    """Draw pages and use a control in a process of its own, where these insides are gone."""
    done = ran(sys.executable, "tests/streamlit_insides.py", ",".join(pages), *gone)
    assert done.stdout.endswith("usable\n"), done.stderr


SLOW = pytest.mark.slow("80 s: whole pages, again for each use of Streamlit's insides")


@SLOW
@pytest.mark.parametrize("gone", few(GONE, 1))
def test_a_page_is_usable_where_one_is_gone(gone):
    usable(["simplified_attention"], gone)


@pytest.mark.long
@SLOW
def test_every_page_is_usable_where_all_are_gone():
    pages = ["app.py", *(each.name for each in LESSONS)]
    both_of_one = {"list of the queue", "page script hash", "callbacks of components"}
    usable(pages, *GONE.keys() - both_of_one)
