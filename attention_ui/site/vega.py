"""The parts of Vega that a file needs. Specifications are compiled beforehand, so that a file does
without Vega-Lite and opens sooner.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import vl_convert

from ..notebook.picture import VEGA_LITE
from .told import as_json

PARTS = {
    "vega-view": "6.1.0",
    "vega-parser": "7.1.0",
    "vega-dataflow": "6.1.0",
    "vega-transforms": "5.1.0",
    "vega-view-transforms": "5.1.0",
    "vega-encode": "5.1.0",
    "vega-interpreter": "2.0.0",
    "vega-tooltip": "1.0.0",
}
"""The packages that draw, as vl-convert brings them: those of maps, trees and forces stay out."""
TAKEN = (
    "import {View} from 'vega-view'; import {parse} from 'vega-parser';"
    "import {changeset, transforms} from 'vega-dataflow'; import {Handler} from 'vega-tooltip';"
    "import {expressionInterpreter} from 'vega-interpreter';"
    "import * as usual from 'vega-transforms'; import * as encode from 'vega-encode';"
    "import * as views from 'vega-view-transforms';"
    "Object.assign(transforms, usual, views, encode);"
    "window.attentionVega = {View, parse, changeset, expressionInterpreter, Handler};"
)
THEMES = {"light": ("#23262B", "#5B6069", "#DDD8CC"), "dark": ("#E9E5DB", "#B7BBC5", "#3A4048")}
"""Of a chart: its ink, that of its axes, and its lines."""
FONT = '"Source Sans", "Source Sans Pro", sans-serif'


@lru_cache(maxsize=1)
def vega() -> str:
    """What draws, as one script: `attentionVega`."""
    script = TAKEN
    for name, version in PARTS.items():
        address = f"https://cdn.jsdelivr.net/npm/{name}@{version}/+esm"  # vl-convert has it within
        script = script.replace(f"'{name}'", f"'{address}'")
    return vl_convert.javascript_bundle(script, vl_version=VEGA_LITE)


def compiled(spec: Mapping[str, Any], theme: str | None = None) -> dict[str, Any]:
    """A specification of Vega-Lite as one of Vega, with the name `source` in place of its data. A
    chart looks as in the app's `theme`; a picture has its looks in its specification.
    """
    return json.loads(_compiled(as_json(spec), theme))


@lru_cache(maxsize=256)
def _compiled(spec: str, theme: str | None) -> str:
    made = vl_convert.vegalite_to_vega(
        {**json.loads(spec), "data": {"name": "source"}},
        vl_version=VEGA_LITE,
        config=looks(theme) if theme else None,
    )
    return as_json(
        {name: each for name, each in made.items() if name not in ("$schema", "usermeta")}
    )


def looks(theme: str) -> dict[str, Any]:
    """How charts look, as in the app."""
    ink, quiet, edge = THEMES[theme]
    words: dict[str, Any] = {"labelColor": quiet, "titleColor": quiet}
    words |= {"labelFont": FONT, "titleFont": FONT, "labelFontSize": 12, "titleFontSize": 14}
    words |= {"titleFontWeight": "normal", "labelFontWeight": "normal"}
    lines = {"gridColor": edge, "domainColor": edge, "tickColor": edge}
    return {
        "font": FONT,
        "background": "transparent",
        "view": {"stroke": "transparent"},
        "axis": {**words, **lines, "ticks": False, "domain": False},
        "legend": words,
        "title": {"color": ink, "font": FONT, "anchor": "start"},
        "header": words,
        "text": {"color": ink, "font": FONT},
        "mark": {"tooltip": None},
        "range": {"category": ["#2C6CB0", "#C2571A", "#5B8C5A", "#8C6BB1", "#7A7468"]},
    }
