"""Buttons that play a chart's own slider in the browser, without the server.

Vega-Lite has no clock that Streamlit's charts would run. So the buttons move the slider that the
chart has drawn, as a hand would. Without them the slider works all the same.
"""

from contextlib import suppress

import streamlit as st

from .unseen_component import NOT_THERE

_HTML = """<div role="group">
<button type="button" data-do="play">Play</button>
<button type="button" data-do="back">Step back</button>
<button type="button" data-do="on">Step on</button>
</div>"""
_CSS = """
div { display: flex; gap: 0.5rem; flex-wrap: wrap; }
button {
  font: inherit; color: inherit; background: transparent; cursor: pointer;
  padding: 0.3rem 0.8rem; min-height: 2.2rem; border-radius: 0.5rem;
  border: 1px solid color-mix(in srgb, currentColor 30%, transparent);
}
button:hover, button:focus-visible { border-color: var(--st-primary-color); }
button:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 1px; }
[data-do="play"] { min-width: 5.5rem; }
"""
_JS = """
const calm = matchMedia('(prefers-reduced-motion: reduce)');
export default function ({ data, parentElement }) {
  if (!data || !parentElement) return;
  parentElement.querySelector('[role=group]').ariaLabel = data.called;
  const button = (what) => parentElement.querySelector(`[data-do=${what}]`);
  if (data.one) {
    button('back').textContent = `Previous ${data.one}`;
    button('on').textContent = `Next ${data.one}`;
  }
  const slider = () => document.querySelector(`.st-key-${data.chart} input[type=range]`);
  const here = (parentElement.player ??= {});
  const pause = () => {
    clearInterval(here.playing);
    here.playing = null;
    button('play').textContent = 'Play';
  };
  const go = (by) => {
    const at = slider();
    if (!at) return false;
    const wanted = Math.min(Math.max(+at.value + by, +at.min), +at.max);
    at.value = wanted;
    at.dispatchEvent(new Event('input', { bubbles: true }));
    return wanted < +at.max;
  };
  const play = () => {
    const at = slider();
    if (!at) return;
    if (+at.value >= +at.max) go(-at.max);
    button('play').textContent = 'Pause';
    // Who asked for little motion gets one picture a second.
    here.playing = setInterval(() => go(1) || pause(), calm.matches ? 1000 : data.pace);
  };
  button('play').onclick = () => (here.playing ? pause() : play());
  button('back').onclick = () => { pause(); go(-1); };
  button('on').onclick = () => { pause(); go(1); };
  return pause;
}
"""
_place = None
with suppress(*NOT_THERE):
    _place = st.components.v2.component("player", html=_HTML, css=_CSS, js=_JS)


def player(chart: str, called: str, pace: int, one: str = "") -> None:
    """Buttons to play, pause and step the slider of the chart in the container of this key; for
    those who cannot see them they are `called` so. A picture stands for `pace` milliseconds;
    `one` is what it shows, such as "tile".
    """
    if _place is not None:
        with suppress(*NOT_THERE):
            _place(
                data={"chart": chart, "called": called, "pace": pace, "one": one},
                key=f"player_of_{chart}",
            )
