"""Which parts of the page are in sight, and a reminder to draw the others when those are drawn."""

from typing import Protocol

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from . import session

KEY, RUNS, TOLD = "sight", "sight_runs", "sight_told"
_WATCH = """
const box = (part) => part.getBoundingClientRect();
const inSight = () => [...document.querySelectorAll('[class*=st-key-part_]')]
  .filter((part) => box(part).bottom > 0 && box(part).top < innerHeight)
  .map((part) => [...part.classList].find((name) => name.startsWith('st-key-part_')).slice(12))
  .join(' ');

export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  const here = (parentElement.sight ??= {});
  here.tell = () => {
    clearTimeout(here.telling);
    here.telling = setTimeout(() => {
      const now = inSight();
      if (now === here.told) return;
      here.told = now;
      setStateValue('parts', now);
    }, 150);
  };
  here.ask = (wait) => {
    here.asking = setTimeout(() => { setTriggerValue('rest', Date.now()); here.ask(2000); }, wait);
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
  document.body.toggleAttribute('data-rest', data.rest);
  if (data.rest) here.ask(120);
  return here.stop;
}
"""
_component = st.components.v2.component("sight", html="<span></span>", js=_WATCH)


class HasRest(Protocol):
    """What draws the parts that are not in sight, when the others are drawn."""

    def has_rest(self) -> bool:
        """Whether parts are still to be drawn."""

    def draw_rest(self) -> None:
        """From a callback: draw them."""


def place() -> DeltaGenerator:
    """Where the watcher stands, out of sight: first on every lesson, so that what it asks for while
    the page runs anew finds it there afterwards.
    """
    return st.sidebar.container(key="watcher")


@st.fragment(key=KEY)
def watch(page: HasRest) -> None:
    """Draws nothing. It is run last of all parts, and then asks for the rest."""
    if session.wants_whole_page():
        st.rerun()
    state = st.session_state
    state[RUNS] = state.get(RUNS, 0) + 1
    _component(
        key=KEY,
        data={"run": state[RUNS], "rest": page.has_rest()},
        on_parts_change=_told,
        on_rest_change=page.draw_rest,
    )


def _told() -> None:
    st.session_state[TOLD] = True


def is_told() -> bool:
    """Whether there is a browser that tells what is in sight, and asks for the rest."""
    return TOLD in st.session_state


def parts_in_sight() -> set[str]:
    """The names of the parts, as the browser has told; none where it has not."""
    told = st.session_state.get(KEY)
    return set((told or {}).get("parts", "").split())
