"""Run the page again after the browser has reconnected to the server.

Streamlit's browser code reconnects by itself, but asks for no run. If the server was restarted
meanwhile, or has forgotten the session, it knows none of the page's fragments, and their controls
would do nothing. One run with the settings in the link makes them known again. Where the page does
not show whether it is connected, no run is asked for.
"""

from .unseen_component import unseen

_component = unseen("reconnect")


def run_again_when_back() -> None:
    """Place the watcher for this, which shows nothing."""
    _component(key="reconnect", on_back_change=lambda: None)
