"""A file that the browser saves as soon as a run hands it over.

A press of `st.download_button` asks for its file beside the runs: one that is pressed while the
page still runs gets what was typed before, or nothing, since a run clears away the files of the
last. A press of `st.button` waits for its turn, and so does what is saved with it.
"""

from .unseen_component import unseen

_SAVE = """
export default function ({ data }) {
  if (!data || window.lastGivenFile === data.press) return;
  window.lastGivenFile = data.press;  // once, however many runs come after it
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([data.text], { type: 'text/html' }));
  link.download = data.name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
"""
_component = unseen("given_file", _SAVE)


def give_file(press: str, name: str, text: str) -> None:
    """Save a page under a name, once for each press."""
    _component(key="given_file", data={"press": press, "name": name, "text": text})
