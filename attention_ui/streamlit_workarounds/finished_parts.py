"""A mend for Streamlit: a part that was drawn to its end is told so, whatever runs next.

When a part has run, the browser is told that it has finished, and takes away what the part no
longer draws. If another part begins to run before that message is on its way, Streamlit 1.67 turns
it into "broken off" (`ForwardMsgQueue.clear`), although what the first part drew is sent. Then the
last rows of the cell before stood below the arithmetic of a new one, and stayed.
"""

from functools import wraps
from typing import Any

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

_DONE = ForwardMsg.ScriptFinishedStatus.FINISHED_FRAGMENT_RUN_SUCCESSFULLY


def keep_what_has_finished() -> None:
    """Let the parts of an earlier run be finished that the next run does not draw again."""
    if hasattr(ForwardMsgQueue.clear, "__wrapped__"):
        return
    clear = ForwardMsgQueue.clear

    @wraps(clear)
    def clear_but_finished(
        queue: ForwardMsgQueue,
        retain_lifecycle_msgs: bool = False,
        fragment_ids_this_run: list[str] | None = None,
    ) -> Any:
        done = [message for message in queue._queue if _is_done(message)]
        clear(queue, retain_lifecycle_msgs, fragment_ids_this_run)
        again = set(fragment_ids_this_run or ())
        for message in done if retain_lifecycle_msgs and again else ():
            ran = message.metadata.run.fragment_ids
            only_then = [each for each in ran if each not in again]
            if only_then:
                del ran[:]
                ran.extend(only_then)
                message.script_finished = _DONE

    ForwardMsgQueue.clear = clear_but_finished


def _is_done(message: ForwardMsg) -> bool:
    return message.WhichOneof("type") == "script_finished" and message.script_finished == _DONE
