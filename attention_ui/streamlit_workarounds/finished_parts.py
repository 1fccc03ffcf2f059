"""Works around Streamlit: what was drawn reaches the browser, whatever runs next. When a run
begins, Streamlit 1.67 drops what it will draw anew from the messages that wait
(`ForwardMsgQueue.clear`), though a callback may let other parts run instead: so nothing is dropped
before the run draws. And a part's "finished", by which the browser removes what it no longer draws,
becomes "interrupted" where another part begins before it is sent: left-overs stayed.
"""

from contextlib import suppress
from functools import wraps
from typing import Any

NOT_AS_EXPECTED = (AttributeError, TypeError, ValueError)
DRAWS = ("delta", "ref_hash")
"""The messages that draw: the second has been sent before."""


def keep_what_has_finished() -> None:
    """Keep what was drawn, and "finished" messages, until drawn anew, if there is a queue."""
    try:
        from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
        from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

        done = ForwardMsg.ScriptFinishedStatus.FINISHED_FRAGMENT_RUN_SUCCESSFULLY
        clear, put = ForwardMsgQueue.clear, ForwardMsgQueue.enqueue
        is_known = {"_queue", "_delta_index_map"} <= vars(ForwardMsgQueue()).keys()
    except (*NOT_AS_EXPECTED, ImportError):
        return
    if hasattr(clear, "__wrapped__") or not is_known:
        return

    def clear_but_finished(queue: Any, **named: Any) -> None:
        finished: list[Any] = []
        with suppress(*NOT_AS_EXPECTED):
            finished = [each for each in queue._queue if _is_finished(each, done)]
        clear(queue, **named)
        again = set(named.get("fragment_ids_this_run") or ())
        for message in finished if again else ():
            with suppress(*NOT_AS_EXPECTED):
                ran = message.metadata.run.fragment_ids
                only_then = [each for each in ran if each not in again]
                if only_then:
                    del ran[:]
                    ran.extend(only_then)
                    message.script_finished = done

    @wraps(clear)
    def clear_later(queue: Any, *given: Any, **named: Any) -> None:
        queue.run_begun = None
        if not named.get("retain_lifecycle_msgs"):
            return clear(queue, *given, **named)
        queue._delta_index_map = {}  # what is drawn from now on comes after what is there
        queue.run_begun = len(queue._queue), named
        return None

    @wraps(put)
    def put_and_clear(queue: Any, message: Any) -> None:
        begun = getattr(queue, "run_begun", None)
        if begun and message.WhichOneof("type") in DRAWS:
            at, named = begun
            of_this_run = queue._queue[at:]
            del queue._queue[at:]
            clear_but_finished(queue, **named)
            queue._queue += of_this_run
            queue.run_begun = None
        put(queue, message)

    ForwardMsgQueue.clear, ForwardMsgQueue.enqueue = clear_later, put_and_clear


def _is_finished(message: Any, done: int) -> bool:
    return message.WhichOneof("type") == "script_finished" and message.script_finished == done
