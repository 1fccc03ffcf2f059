"""Run the page again when the browser has found the server again.

Streamlit's browser reconnects by itself, and asks for nothing then. If the server was started
anew meanwhile, or has forgotten the session, it knows none of the page's fragments, and their
controls would do nothing. One run with the link's settings makes them known. Where the page does
not show whether it is connected, nothing is asked for.
"""

from .unseen_component import unseen

_WATCH = """
export default function ({ parentElement, setTriggerValue }) {
  const app = document.querySelector('[data-testid=stApp]');
  if (!app || !setTriggerValue) return;
  let was = app.dataset.testConnectionState;
  const watch = new MutationObserver(() => {
    const now = app.dataset.testConnectionState;
    if (now === was) return;
    was = now;
    if (now === 'CONNECTED') setTriggerValue('back', Date.now());
  });
  watch.observe(app, { attributes: true, attributeFilter: ['data-test-connection-state'] });
  return () => watch.disconnect();
}
"""
_component = unseen("reconnect", _WATCH)


def run_again_when_back() -> None:
    """Draws nothing."""
    _component(key="reconnect", on_back_change=lambda: None)
