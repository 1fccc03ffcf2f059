"""What is wider than its place scrolls, and so does code that is higher, and not by pointer alone:
the keyboard reaches it too.

Streamlit gives such a place no `tabindex`, and some browsers then pass it by.
"""

from .unseen_component import unseen

WIDER = ", ".join(
    (
        "[data-testid=stVegaLiteChart]",
        "[data-testid=stMarkdownContainer] table",
        ".katex-display",
        ".stCode pre",
    )
)
"""What may be wider than its place, as a selector."""
_WATCH = """
export default function () {
  let soon;
  const lookAt = (box) => {
    const isHigher = box.matches('pre') && box.scrollHeight > box.clientHeight;
    if (box.scrollWidth > box.clientWidth || isHigher) box.tabIndex = 0;
    else if (box.tabIndex === 0) box.removeAttribute('tabindex');
  };
  const sizes = new ResizeObserver((seen) => seen.forEach(({ target }) => lookAt(target)));
  const look = () => {
    for (const box of document.querySelectorAll('WIDER')) {
      sizes.observe(box);  // a fold that opens, a window that turns
      lookAt(box);
    }
  };
  const drawn = new MutationObserver(() => {
    clearTimeout(soon);
    soon = setTimeout(look, 100);
  });
  drawn.observe(document.body, { childList: true, subtree: true });
  document.fonts.addEventListener('loadingdone', look);
  look();
  return () => {
    clearTimeout(soon);
    sizes.disconnect();
    drawn.disconnect();
    document.fonts.removeEventListener('loadingdone', look);
  };
}
""".replace("WIDER", WIDER)
_component = unseen("sideways", _WATCH)


def reach_by_keyboard() -> None:
    """Place the watcher for this, which shows nothing."""
    _component(key="sideways")
