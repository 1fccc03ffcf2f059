"""Streamlit as if one of the insides that we lean on were gone or renamed.

    python tests/streamlit_insides.py PAGES NAME...

takes away the insides of these names before anything of the app is imported, then visits the pages
(separated by commas) under AppTest: each is drawn, and after a control was used it is as its link
opens it.
"""

import inspect
import sys
from pathlib import Path

import streamlit as st
import streamlit.components.v2
import streamlit.runtime.app_session as app_session
import streamlit.runtime.forward_msg_queue as queues
import streamlit.runtime.scriptrunner as scriptrunner
import streamlit.runtime.scriptrunner_utils.script_requests as script_requests
import streamlit.testing.v1.local_script_runner as apptest

ROOT = Path(__file__).resolve().parents[1]


def _list_of_the_queue():
    _rename_in_queue("_queue")
    apptest.LocalScriptRunner.forward_msgs = lambda self: self.forward_msg_queue.renamed


def _callbacks_of_components():
    register = st.components.v2.component

    def component(*args, **options):
        place = register(*args, **options)
        return lambda *, key, data=None: place(key=key, data=data)

    st.components.v2.component = component


GONE = {
    "queue": lambda: _rename_in_queue("ForwardMsgQueue"),
    "list of the queue": _list_of_the_queue,
    "page script hash": lambda: setattr(scriptrunner, "get_script_run_ctx", object),
    "get script run ctx": lambda: delattr(scriptrunner, "get_script_run_ctx"),
    "components v2": lambda: delattr(st.components, "v2"),
    "callbacks of components": _callbacks_of_components,
    "request of a run": lambda: delattr(app_session.AppSession, "request_rerun"),
    "requests of scripts": lambda: delattr(script_requests, "ScriptRequests"),
    "app": lambda: delattr(st, "App"),
}


def _rename_in_queue(word):
    """Give a word of Streamlit's queue another name, in the queue and where it is used."""
    source = inspect.getsource(queues.ForwardMsgQueue).replace(word, "renamed")
    del queues.ForwardMsgQueue
    exec("from __future__ import annotations\n" + source, vars(queues))
    queue = vars(queues).get("renamed") or queues.ForwardMsgQueue
    app_session.ForwardMsgQueue = apptest.ForwardMsgQueue = queue


def look(at):
    """What a page says and draws, and where its links lead."""
    assert not at.exception, [exception.message for exception in at.exception]
    assert at.title
    said = [[each.value for each in kind] for kind in (at.markdown, at.caption, at.latex, at.text)]
    charts = [each.proto for each in at.get("vega_lite_chart")]
    tables = [[each.data, *(named.data for named in each.datasets)] for each in charts]
    links = [each.proto.query_string for each in at.get("page_link")]
    return said, links, [each.spec for each in charts], [[t.data for t in each] for each in tables]


def main(pages, names):
    for name in names:
        GONE[name]()
    sys.path.insert(0, str(ROOT))
    from attention_ui.reactive import fragments
    from visiting import visit

    # AppTest shows what the last run has drawn, and no more.
    fragments.rerun_stale = lambda *_, **__: None
    for page in pages:
        at = visit(page)
        before = look(at)
        if not any(each.key == "control_d_in" for each in at.slider):
            continue  # a lesson with numbers of its own
        after = look(at.slider(key="control_d_in").set_value(5).run())
        assert after != before, f"{page}: the slider changed nothing"
        assert after == look(visit(page, d_in="5")), f"{page} is not as its link opens it"


if __name__ == "__main__":
    main(sys.argv[1].split(","), sys.argv[2:])
    print("usable")
