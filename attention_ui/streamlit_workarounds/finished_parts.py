"""Works around Streamlit: the browser learns that a part has finished, whatever runs next.

When a part has run, the server tells the browser that it has finished, and the browser removes
whatever the part no longer draws. If another part begins to run before that message is sent,
Streamlit 1.67 turns it into "interrupted" (`ForwardMsgQueue.clear`), although everything the first
part drew is sent. Left-overs then stayed: rows of the previous cell, below the arithmetic of a new
one.
"""

from contextlib import suppress
from functools import wraps
from typing import Any

NOT_AS_EXPECTED = (AttributeError, TypeError, ValueError)


def keep_what_has_finished() -> None:
    """Keep the "finished" messages of parts that the next run does not draw again. Changes nothing
    where Streamlit has no such queue, or one that is not as expected.
    """
    try:
        from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
        from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

        done = ForwardMsg.ScriptFinishedStatus.FINISHED_FRAGMENT_RUN_SUCCESSFULLY
        clear = ForwardMsgQueue.clear
    except (ImportError, AttributeError):
        return
    if hasattr(clear, "__wrapped__"):
        return

    @wraps(clear)
    def clear_but_finished(queue: Any, *given: Any, **named: Any) -> Any:
        finished: list[Any] = []
        with suppress(*NOT_AS_EXPECTED):
            finished = [each for each in queue._queue if _is_finished(each, done)]
        told = clear(queue, *given, **named)
        again = set(named.get("fragment_ids_this_run") or ())
        for message in finished if named.get("retain_lifecycle_msgs") and again else ():
            with suppress(*NOT_AS_EXPECTED):
                ran = message.metadata.run.fragment_ids
                only_then = [each for each in ran if each not in again]
                if only_then:
                    del ran[:]
                    ran.extend(only_then)
                    message.script_finished = done
        return told

    ForwardMsgQueue.clear = clear_but_finished


def _is_finished(message: Any, done: int) -> bool:
    return message.WhichOneof("type") == "script_finished" and message.script_finished == done
