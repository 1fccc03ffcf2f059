"""What a browser gets of parts that have run, when another runs before the messages are sent."""

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

import attention_ui.frame.basics  # noqa: F401  it mends the queue
from attention_ui.streamlit_workarounds.finished_parts import keep_what_has_finished
from visiting import visit

STATUS = ForwardMsg.ScriptFinishedStatus
DONE, BROKEN_OFF = STATUS.FINISHED_FRAGMENT_RUN_SUCCESSFULLY, STATUS.FINISHED_EARLY_FOR_RERUN
WHOLE = STATUS.FINISHED_SUCCESSFULLY
PARTS = ["cell", "ends", "sight"]


def begin(queue, parts=None):
    queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=parts)
    queue.enqueue(ForwardMsg(new_session={}))


def draw(queue, *parts):
    for each in parts:
        message = ForwardMsg(delta={"fragment_id": each, "new_element": {}})
        message.metadata.delta_path.extend([0, PARTS.index(each)])
        queue.enqueue(message)


def end(queue, status, parts=()):
    message = ForwardMsg(script_finished=status)
    message.metadata.run.script_run_id = "first"
    message.metadata.run.fragment_ids.extend(parts)
    queue.enqueue(message)


def after_next_run(ran, status, runs_next):
    """The message about the parts that ran, when others draw before it is sent."""
    queue = ForwardMsgQueue()
    end(queue, status, ran)
    begin(queue, runs_next)
    draw(queue, *(runs_next or PARTS))
    kept = queue.flush()[0]
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


@pytest.mark.parametrize(
    ("runs", "drawn"),
    [
        # A callback lets other parts run in the place of what was asked for, and of those again.
        ([(None, []), (["sight"], ["sight"])], PARTS),
        ([(["ends"], []), (["cell"], []), (["sight"], ["sight"])], PARTS),
        ([(None, [])], PARTS),
        ([(["ends"], ["ends"])], ["cell", "sight", "ends"]),  # else what is drawn anew comes once
        ([(None, ["cell"])], ["cell"]),
    ],
)
def test_what_was_drawn_is_dropped_only_where_it_is_drawn_anew(runs, drawn):
    """Else a page that had been drawn to its end never came, and left the old one standing."""
    queue = ForwardMsgQueue()
    begin(queue)
    draw(queue, *PARTS)
    end(queue, WHOLE)
    for parts, draws in runs:
        begin(queue, parts)
        draw(queue, *draws)
        end(queue, DONE if draws else BROKEN_OFF, parts or ())
    sent = queue.flush()
    places = [each.metadata.delta_path[1] for each in sent if each.HasField("delta")]
    assert [PARTS[at] for at in places] == drawn
    told = [each.script_finished for each in sent if each.HasField("script_finished")]
    assert (told[0] == WHOLE) == (drawn != ["cell"])
    begin(queue)
    assert len(queue.flush()) == 1
    draw(queue, "cell")
    assert len(queue.flush()) == 1


def test_mending_twice_is_mending_once():
    mended = ForwardMsgQueue.clear, ForwardMsgQueue.enqueue
    keep_what_has_finished()
    assert (ForwardMsgQueue.clear, ForwardMsgQueue.enqueue) == mended


def test_on_the_wall_every_part_stands_where_it_stood():
    """Else a picture may draw its control into the old card, which goes a moment later."""
    plain, wall = (visit("causal_mask", large=each).main.children for each in ("off", "on"))
    assert len(plain) == len(wall)
