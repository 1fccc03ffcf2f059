"""Run the page again after the browser has reconnected. Streamlit reconnects by itself, but asks
for no run: a server that was restarted knows none of the page's fragments, and their controls would
do nothing. Where the page does not show its connection, no run is asked for.
"""

from .unseen_component import unseen

_component = unseen("reconnect")


def run_again_when_back() -> None:
    """Place the watcher for this, which shows nothing."""
    _component(key="reconnect", on_back_change=lambda: None)
