"""Run by `python`. Seen: nothing is left to be sent. Expected: what part a has drawn.

A callback may choose the parts that run, once the queue was cleared for those that were to run.
"""

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

queue = ForwardMsgQueue()
# Part a is drawn; before that is sent, one of its buttons is pressed: a's run begins ...
queue.enqueue(ForwardMsg(delta={"fragment_id": "a", "new_element": {"text": {"body": "new"}}}))
queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=["a"])
# ... whose callback says `st.rerun("b")`, and b's run begins in its place.
queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=["b"])
print("Left to be sent:", queue.flush())
