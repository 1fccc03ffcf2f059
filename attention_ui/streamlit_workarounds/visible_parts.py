"""Which parts of the page are in sight, and a reminder to draw the others when the person rests."""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Protocol

import streamlit as st

from ..settings import session
from .parts_alone import asked_page, named_part
from .unseen_component import unseen

KEY, RUNS, TOLD = "sight", "sight_runs", "sight_told"
REST = 1.2
"""Seconds without a change, after which what is out of sight and old is drawn anew."""
SOON = 0.12
"""The same where it has not been drawn yet."""
PATIENCE = 10
"""Seconds that a run is waited for at most: Streamlit's sign of one may mean something else."""
_WATCH = """
const NEAR = 80;  // so far below the window, a part may be in sight when those above it shrink
const parts = () => [...document.querySelectorAll('[class*=st-key-part_]')];
const nameOf = (part) =>
  [...part.classList].find((name) => name.startsWith('st-key-part_')).slice(12);
const inSight = () => parts().filter((part) => {
  const { top, bottom } = part.getBoundingClientRect();
  return bottom > 0 && top < innerHeight + NEAR;
}).map(nameOf).join(' ');

// Asked for counts too: what is asked for beside it would be drawn in its place.
const isRunning = () => document.querySelector(
  '[data-test-script-state=running], [data-test-script-state=rerunRequested]');

const late = () => performance.now() + PATIENCE_MS;

export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  // Who cannot ask for the rest must not tell: then the whole page is drawn at once.
  if (!data || !parentElement || !setStateValue || !setTriggerValue) return;
  const here = (parentElement.sight ??= {});
  here.tell = (until = late()) => {
    clearTimeout(here.telling);
    here.telling = setTimeout(() => {
      if (isRunning() && performance.now() < until) return here.tell(until);
      const now = inSight();
      if (now === here.told) return;
      here.told = now;
      setStateValue('parts', now);
    }, 150);
  };
  here.ask = (wait, until = late()) => {
    here.asking = setTimeout(() => {
      if (isRunning() && performance.now() < until) return here.ask(wait, until);
      setTriggerValue('rest', Date.now());
      here.ask(2000);
    }, wait);
  };
  if (!here.stop) {
    // Another page is asked for: what this one asks for meanwhile would find no part to run.
    const leave = (event) => {
      if (event.type === 'click' && !event.target.closest?.('a')) return;
      clearTimeout(here.telling);
      clearTimeout(here.asking);
      if (document.body.hasAttribute('data-rest')) here.ask(2000);
    };
    const listens = [['scroll', () => here.tell()], ['resize', () => here.tell()],
      ['click', leave], ['popstate', leave]];
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
    """What draws the parts that are not in sight, when the others are drawn."""

    wait: float
    """Seconds of rest before they are."""

    def rest(self) -> Iterable[str]:
        """The parts that are still to be drawn."""

    def draw_rest(self, in_sight: set[str] | None = None) -> None:
        """From a callback: draw them, or those of them that are in sight."""


def place() -> AbstractContextManager:
    """Where the watcher stands, out of sight: first on every lesson, so that what it asks for while
    the page runs anew finds it there afterwards.
    """
    return st.sidebar.container(key="watcher")


@named_part(KEY)
def watch(page: HasRest) -> None:
    """Draws nothing. It is run last of all parts, and then asks for the rest. Is not there where
    Streamlit does not say which page is asked for: then every run is one of the whole page.
    """
    if session.wants_whole_page():
        st.rerun()
    if asked_page() is None:
        return
    state = st.session_state
    state[RUNS] = state.get(RUNS, 0) + 1
    _component(
        key=KEY,
        data={"run": state[RUNS], "rest": [*page.rest()], "wait": page.wait},
        on_parts_change=lambda: _told(page),
        on_rest_change=lambda: _rested(page),
    )


def _told(page: HasRest) -> None:
    st.session_state[TOLD] = True
    if not session.has_chosen():
        page.draw_rest(parts_in_sight())


def _rested(page: HasRest) -> None:
    if not session.has_chosen():
        page.draw_rest()


def is_told() -> bool:
    """Whether there is a browser that tells what is in sight, and asks for the rest."""
    return TOLD in st.session_state


def parts_in_sight() -> set[str]:
    """The names of the parts, as the browser has told; none where it has not."""
    told = (st.session_state.get(KEY) or {}).get("parts")
    return set(told.split()) if isinstance(told, str) else set()
