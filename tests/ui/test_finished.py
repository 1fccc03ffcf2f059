"""What a browser gets of parts that have run, when another runs before the messages are sent."""

from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as some
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

import attention_ui.frame.basics  # noqa: F401  it mends the queue
from attention_ui.streamlit_workarounds.kept_messages import keep_what_was_drawn
from visiting import visit

STATUS = ForwardMsg.ScriptFinishedStatus
PARTS = range(5)
RUN = some.tuples(
    some.none() | some.sets(some.sampled_from(PARTS), min_size=1), some.integers(0, 5)
)


class Browser:
    """What Streamlit's makes of messages: it has no place but those it has, and the next."""

    def __init__(self):
        self.shown = []

    def take(self, messages):
        for each in messages:
            if each.HasField("new_session"):
                self.stale = {*range(len(self.shown))}
            elif each.HasField("delta"):
                place = each.metadata.delta_path[1]
                assert place <= len(self.shown), "Bad delta path index"
                self.shown[place : place + 1] = [each.delta.new_element.text.body]
                self.stale.discard(place)
            elif each.script_finished == STATUS.FINISHED_SUCCESSFULLY:
                self.shown = [one for at, one in enumerate(self.shown) if at not in self.stale]


def runs(queue, number, parts, n_drawn):
    """A run of the page, or of parts, which is cut short after it has drawn so many."""
    AppSession._clear_queue(SimpleNamespace(_browser_queue=queue), parts and [*map(str, parts)])
    queue.enqueue(ForwardMsg(new_session={}))
    for part in [each for each in PARTS if parts is None or each in parts][:n_drawn]:
        element = {"text": {"body": f"{part} in run {number}"}}
        message = ForwardMsg(delta={"fragment_id": str(part), "new_element": element})
        message.metadata.delta_path.extend([0, part])
        queue.enqueue(message)
    is_whole = n_drawn >= len(parts or PARTS)
    done = STATUS.FINISHED_FRAGMENT_RUN_SUCCESSFULLY if parts else STATUS.FINISHED_SUCCESSFULLY
    queue.enqueue(ForwardMsg(script_finished=done if is_whole else STATUS.FINISHED_EARLY_FOR_RERUN))


@given(some.lists(some.tuples(RUN, some.booleans()), max_size=6))
def test_whenever_messages_are_sent_the_page_is_what_it_is_when_each_is_sent_at_once(asked):
    """Else a page that had been drawn to its end never came, or was gone for good."""
    queues, browsers = (ForwardMsgQueue(), ForwardMsgQueue()), (Browser(), Browser())
    for number, ((parts, n_drawn), is_sent) in enumerate([((None, 5), False), *asked]):
        for queue, browser, sends in zip(queues, browsers, (True, is_sent), strict=True):
            runs(queue, number, parts, n_drawn)
            if sends:
                browser.take(queue.flush())
    browsers[1].take(queues[1].flush())
    assert browsers[1].shown == browsers[0].shown


def test_mending_twice_is_mending_once():
    mended = AppSession._clear_queue
    keep_what_was_drawn()
    assert AppSession._clear_queue == mended


def test_on_the_wall_every_part_stands_where_it_stood():
    """Else a picture may draw its control into the old card, which goes a moment later."""
    plain, wall = (visit("causal_mask", large=each).main.children for each in ("off", "on"))
    assert len(plain) == len(wall)
