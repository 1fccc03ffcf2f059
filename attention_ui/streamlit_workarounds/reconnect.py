"""Works around Streamlit: “my laptop woke up, and no slider did anything”. The page runs again
after the browser has reconnected. Streamlit reconnects by itself, but asks for no run: a server
that was restarted knows none of the page's fragments, and their controls would do nothing. Where
the page does not show its connection, no run is asked for. See docs/streamlit/server_restarted.py.
It may go once Streamlit's browser asks for a run by itself where it has got another session.
"""

from .unseen_component import unseen

_component = unseen("reconnect")


def run_again_when_back() -> None:
    """Place the watcher for this, which shows nothing."""
    _component(key="reconnect", on_back_change=lambda: None)
