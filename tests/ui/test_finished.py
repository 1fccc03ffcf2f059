"""What a browser is told of parts that have run, when another runs before the message is sent."""

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

import attention_ui.frame.basics  # noqa: F401  it mends the queue
from attention_ui.streamlit_workarounds.finished_parts import keep_what_has_finished

STATUS = ForwardMsg.ScriptFinishedStatus
DONE, BROKEN_OFF = STATUS.FINISHED_FRAGMENT_RUN_SUCCESSFULLY, STATUS.FINISHED_EARLY_FOR_RERUN


def after_next_run(ran, status, runs_next):
    """The message about the parts that ran, when others begin to run before it is sent."""
    queue = ForwardMsgQueue()
    message = ForwardMsg(script_finished=status)
    message.metadata.run.script_run_id = "first"
    message.metadata.run.fragment_ids.extend(ran)
    queue.enqueue(message)
    queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=runs_next)
    (kept,) = queue.flush()
    return kept.script_finished, list(kept.metadata.run.fragment_ids)


@pytest.mark.parametrize(
    ("ran", "runs_next", "told"),
    [
        (["cell"], ["sight"], (DONE, ["cell"])),
        (["cell", "sight"], ["sight"], (DONE, ["cell"])),  # what runs again is told of later
        (["sight"], ["sight"], (BROKEN_OFF, ["sight"])),
        (["cell"], None, (BROKEN_OFF, ["cell"])),  # the whole page runs, and draws all of it
    ],
)
def test_parts_that_have_finished_are_told_of(ran, runs_next, told):
    assert after_next_run(ran, DONE, runs_next) == told


def test_what_was_broken_off_stays_so():
    assert after_next_run(["cell"], BROKEN_OFF, ["sight"])[0] == BROKEN_OFF


def test_mending_twice_is_mending_once():
    mended = ForwardMsgQueue.clear
    keep_what_has_finished()
    assert ForwardMsgQueue.clear is mended
