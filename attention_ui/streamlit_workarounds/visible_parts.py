"""Which parts of the page are in sight, and a reminder to draw the others when the person rests."""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Protocol

import streamlit as st

from ..settings import session
from .parts_alone import named_part, requested_page
from .unseen_component import unseen

KEY, RUNS, REPORTED = "sight", "sight_runs", "sight_told"
REST = 0.5
"""Seconds without a change after which parts out of sight are brought up to date."""
SOON = 0.12
"""The same for parts that have not been drawn at all yet."""
PATIENCE = 10
"""The longest wait for a running script, in seconds. The mark by which Streamlit shows that one
runs may come to mean something else, and nothing may hang on it for ever."""
_WATCH = """
const NEAR = 80;  // so far below the window, a part may be in sight when those above it shrink
const parts = () => [...document.querySelectorAll('[class*=st-key-part_]')];
const nameOf = (part) =>
  [...part.classList].find((name) => name.startsWith('st-key-part_')).slice(12);
const inSight = () => parts().filter((part) => {
  const { top, bottom } = part.getBoundingClientRect();
  return bottom > 0 && top < innerHeight + NEAR;
}).map(nameOf).join(' ');

// A requested run counts as running: a second request would replace the first.
const isRunning = () => document.querySelector(
  '[data-test-script-state=running], [data-test-script-state=rerunRequested]');

// Sliders and charts tell Streamlit up to 0.2 s later what a person did. All that it is told in one
// moment it sends as one request, which runs only the part that spoke first: if that were this
// watcher, the slider would stand at its new value and its pictures at the old one.
const HEARD = 250;

const late = () => performance.now() + PATIENCE_MS;

// What a click on a picture opens below it is brought into sight.
const opened = () => document.querySelector('[class*=st-key-cell_]');
const bringIntoSight = ({ target }) => {
  if (!target.closest?.('[data-testid=stVegaLiteChart]')) return;
  const before = opened();
  let waits = 30;
  const looking = setInterval(() => {
    const now = opened();
    if (now === before && --waits) return;
    clearInterval(looking);
    if (now !== before) setTimeout(() => now?.scrollIntoView({ block: 'nearest' }), 300);
  }, 100);
};

export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  // Without a way to ask for the rest, report nothing: then the server draws the whole page.
  if (!data || !parentElement || !setStateValue || !setTriggerValue) return;
  const here = (parentElement.sight ??= {});
  const isBusy = () => isRunning() || performance.now() - here.used < HEARD;
  here.tell = (until = late()) => {
    clearTimeout(here.telling);
    here.telling = setTimeout(() => {
      if (isBusy() && performance.now() < until) return here.tell(until);
      const now = inSight();
      if (now === here.told) return;
      here.told = now;
      setStateValue('parts', now);
    }, 150);
  };
  here.ask = (wait, until = late()) => {
    here.asking = setTimeout(() => {
      if (isBusy() && performance.now() < until) return here.ask(wait, until);
      setTriggerValue('rest', Date.now());
      here.ask(2000);
    }, wait);
  };
  if (!here.stop) {
    // The visitor is leaving: on the next page, the parts this one asks for do not exist.
    const leave = (event) => {
      if (event.type === 'click' && !event.target.closest?.('a')) return;
      clearTimeout(here.telling);
      clearTimeout(here.asking);
      if (document.body.hasAttribute('data-rest')) here.ask(2000);
    };
    const use = ({ type, target, buttons }) => {
      if (target.closest?.('a') || (type === 'pointermove' && !buttons)) return;
      here.used = performance.now();
    };
    const listens = [['pointerup', bringIntoSight], ['scroll', () => here.tell()],
      ['resize', () => here.tell()], ['click', leave], ['popstate', leave],
      ...['keydown', 'input', 'pointermove', 'pointerup'].map((event) => [event, use])];
    const options = { capture: true, passive: true };
    for (const [event, hear] of listens) addEventListener(event, hear, options);
    here.stop = () => {
      for (const [event, hear] of listens) removeEventListener(event, hear, options);
      clearTimeout(here.telling);
      clearTimeout(here.asking);
      document.body.removeAttribute('data-rest');
    };
  }
  here.tell();
  clearTimeout(here.asking);
  for (const part of parts()) {
    const isOld = data.rest.includes(nameOf(part));
    part.toggleAttribute('data-old', isOld);
    part.inert = isOld && !part.contains(document.activeElement);
  }
  document.body.toggleAttribute('data-rest', data.rest.length > 0);
  if (data.rest.length) here.ask(data.wait * 1000);
  return here.stop;
}
""".replace("PATIENCE_MS", str(PATIENCE * 1000))
_component = unseen("sight", _WATCH)


class HasRest(Protocol):
    """A page with parts that are still to be drawn, once those in sight are."""

    wait: float
    """Seconds without a change before they are drawn."""

    def rest(self) -> Iterable[str]:
        """The parts that are still to be drawn."""

    def draw_rest(self, in_sight: set[str] | None = None) -> None:
        """From a callback: draw them, or those of them that are in sight."""


def place() -> AbstractContextManager:
    """Where the watcher is placed, invisibly: first on every lesson, so that a request it sends
    while the page is being run again still finds it there.
    """
    return st.sidebar.container(key="watcher")


@named_part(KEY)
def watch(page: HasRest) -> None:
    """Places the watcher, which shows nothing. It runs after all other parts, and then asks for
    the rest. Where Streamlit does not say which page is requested there is no watcher, and every
    run is of the whole page. So is one that was asked for along with a control whose own part was
    not run: Streamlit's browser sends both as one request, and only the first is answered.
    """
    if session.wants_whole_page() or session.is_unsaved():
        st.rerun()
    if requested_page() is None:
        return
    state = st.session_state
    state[RUNS] = state.get(RUNS, 0) + 1
    _component(
        key=KEY,
        data={"run": state[RUNS], "rest": [*page.rest()], "wait": page.wait},
        on_parts_change=lambda: _reported(page),
        on_rest_change=lambda: _at_rest(page),
    )


def _reported(page: HasRest) -> None:
    st.session_state[REPORTED] = True
    if not session.is_unsaved():
        page.draw_rest(parts_in_sight())


def _at_rest(page: HasRest) -> None:
    if not session.is_unsaved():
        page.draw_rest()


def browser_reports() -> bool:
    """Whether the browser has reported what is in sight: then it will ask for the rest too."""
    return REPORTED in st.session_state


def parts_in_sight() -> set[str]:
    """The names of the parts that the browser last reported; none where it has not reported yet."""
    told = (st.session_state.get(KEY) or {}).get("parts")
    return set(told.split()) if isinstance(told, str) else set()
