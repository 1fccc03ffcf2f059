"""Streamlit is out of reach of what is made for everybody (`attention_ui/reactive/isolation.py`).
Else: “these are not the numbers that I typed, but somebody else's”.

A card that read `st.session_state`, `st.query_params` or `st.context` would be kept for the next
visitor with what it found there, and one that drew would draw nothing where it was kept. Streamlit
looks for all of these in what its thread has; meanwhile that has what refuses. One private
attribute is read and set; a public way would be a context in which Streamlit's calls are refused.
Seen by tests/test_streamlit_contract.py.
"""

import threading
from collections.abc import Callable
from typing import Any

ATTRIBUTE = "streamlit_script_run_ctx"
"""Of a thread. Where Streamlit calls it otherwise, its calls are not refused, and all else is."""
HARMLESS = {"gather_usage_stats": False, "command_tracking_deactivated": True}
"""Asked for by whatever is decorated to be counted, such as `st.column_config`."""


class _Withheld:
    """In the place of the context of a run."""

    def __init__(self, refuse: Callable[[str], Exception], held: Any) -> None:
        self._refuse, self._held = refuse, held

    def __getattr__(self, name: str) -> Any:
        if name in HARMLESS:
            return HARMLESS[name]
        raise self._refuse(
            f"a call of Streamlit’s, which needs its `{name}` (a card draws nothing itself: it "
            "yields what is to be drawn)"
        )


def withhold(refuse: Callable[[str], Exception] | None) -> Any:
    """Closes Streamlit to this thread, or opens it again where there is nothing that refuses.
    Returns what `give_back` takes.
    """
    thread = threading.current_thread()
    was = getattr(thread, ATTRIBUTE, None)
    held = was._held if isinstance(was, _Withheld) else was
    setattr(thread, ATTRIBUTE, held if refuse is None else _Withheld(refuse, held))
    return was


def give_back(was: Any) -> None:
    """As it was before."""
    setattr(threading.current_thread(), ATTRIBUTE, was)
