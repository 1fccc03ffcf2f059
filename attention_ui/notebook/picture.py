"""A layout as a picture of its own, drawn without the internet, anywhere, and in a file."""

import base64
import gzip
import html
import io
import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import count
from pathlib import Path
from typing import Any

import vl_convert
from PIL import Image

from ..picture.layout import WIDE, Layout
from ..picture.spec import GROUNDS, INKS, Stops, drawn
from ..picture.table import MANY, Lists, n_marks, n_slots, table

_HERE = Path(__file__).parent
STYLE = (_HERE / "picture.css").read_text(encoding="utf-8")
SCRIPT = (_HERE / "picture.js").read_text(encoding="utf-8")
PAGE = """<!DOCTYPE html><html lang="en" data-attention><head><meta charset="utf-8">
<title>Attention Explorer</title>
<style>:root { color-scheme: light dark; color: CanvasText; } body { margin: 0; }</style></head>
<body>BODY</body></html>"""
FRAME = """<iframe title="Attention Explorer" style="width:100%;border:0;height:TALLpx"
 srcdoc="PAGE"></iframe>"""
VEGA_LITE = "6.4"
FONT = '"Source Sans", "Source Sans Pro", "Arial Narrow", "Liberation Sans Narrow", sans-serif'
"""The app's own where it is installed, else one as narrow, for which cells have room."""
MOST_STILL = 4_000
"""A picture of more marks has no still one: that would take most of its time."""
_numbers = count()


def new_place() -> str:
    """A name that no other picture of a page has: notebooks keep those of earlier runs."""
    return f"attention-{next(_numbers)}-{id(_numbers):x}"


@lru_cache(maxsize=1)
def _vega() -> str:
    """Vega, Vega-Lite and Vega-Embed as one packed script: 0.4 MB."""
    made = vl_convert.javascript_bundle("window.attentionDraw = vegaEmbed;", vl_version=VEGA_LITE)
    return pack(made.encode())


def pack(content: bytes) -> str:
    """Bytes as letters that may stand in a script, as few as they can be in little time."""
    # The slowest way to pack takes ten times as long, for a hundredth.
    return base64.b64encode(gzip.compress(content, 6, mtime=0)).decode()


@dataclass
class Picture:
    """A picture as a cell's last line shows it; `page()` is the same as a whole HTML page."""

    layout: Layout
    stops: Stops | None = None
    lists: Lists | None = None
    notices: Sequence[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._place = self.stops.place.removeprefix(".") if self.stops else new_place()
        self._rows = table(self.layout, lists=self.lists)

    def __repr__(self) -> str:
        return " ".join([self.layout.alt, *self.notices])

    def _spec(self, theme: str, marks: int) -> dict:
        look = {"asked": self.layout.sentence is not None, "tells": self.layout.tells}
        made = drawn(marks, self.stops, theme, n_slots(self._rows), **look)
        return {**made, "config": {**made["config"], "font": FONT}}

    def _columns(self) -> dict[str, list]:
        """The table, with what JSON has no word for left out."""
        return {
            name: [None if isinstance(v, float) and not math.isfinite(v) else v for v in column]
            for name, column in self._rows.to_pydict().items()
        }

    def piece(self) -> str:
        """A piece of HTML with its script; all text of a person is in its packed data."""
        marks = n_marks(self._rows)
        told = {
            "specs": {theme: self._spec(theme, marks) for theme in GROUNDS},
            "columns": self._columns(),
            "inks": INKS,
            "grounds": GROUNDS,
        }
        wide, narrow = (round(one.height) + 8 for one in (self.layout.wide, self.layout.narrow))
        # All at once: whatever letters stand in one, the others are not looked for in it.
        parts = {"ID": self._place, "DATA": pack(json.dumps(told).encode()), "VEGA": _vega()}
        script = re.sub("|".join(parts), lambda found: parts[found[0]], SCRIPT)
        notices = "".join(f"<p>{html.escape(each)}</p>" for each in self.notices)
        room = f'<div class="{self._place}"></div>' if self.stops else ""
        return (
            f'<div id="{self._place}" class="attention-picture" '
            f'style="--wide:{wide}px;--narrow:{narrow}px">'
            f"<style>{STYLE}</style>{notices}{room}"
            f'<div class="drawn" role="img" aria-label="{html.escape(self.layout.alt)}">'
            f"{self._still()}</div></div>"
            f"<script>{script}</script>"
        )

    def page(self) -> str:
        """A whole HTML page."""
        return PAGE.replace("BODY", self.piece())

    def _still(self) -> str:
        """What stands there until the script has drawn, or where none runs."""
        if n_marks(self._rows) > MOST_STILL:
            return "This picture is drawn by a script: run the cell again, or trust the notebook."
        still = base64.b64encode(self.png).decode()
        return f'<img alt="" src="data:image/png;base64,{still}">'

    @cached_property
    def png(self) -> bytes:
        """A still picture, light, for where no script runs."""
        rows = self._columns()
        values = [dict(zip(rows, each, strict=True)) for each in zip(*rows.values(), strict=True)]
        spec = {
            **self._spec("light", MANY + 1),
            "data": {"name": "source", "values": values},
            "width": WIDE,
            "height": round(self.layout.wide.height) + 8,
            "background": GROUNDS["light"],
        }
        spec["params"] = [
            {name: each[name] for name in each if name != "bind"} for each in spec["params"]
        ]
        made = vl_convert.vegalite_to_png(spec, vl_version=VEGA_LITE)
        still = io.BytesIO()
        Image.open(io.BytesIO(made)).convert("RGB").quantize(64).save(still, "png", optimize=True)
        return still.getvalue()

    def _repr_mimebundle_(self, **_: Any) -> dict:
        told = {"text/plain": repr(self), "text/html": self.piece()}
        if n_marks(self._rows) <= MOST_STILL:
            told["image/png"] = base64.b64encode(self.png).decode()
        return told

    def _mime_(self) -> tuple[str, str]:
        tall = round(self.layout.wide.height) + 60 + 30 * len(self.notices)
        frame = FRAME.replace("TALL", str(tall))
        return "text/html", frame.replace("PAGE", html.escape(self.page()))
