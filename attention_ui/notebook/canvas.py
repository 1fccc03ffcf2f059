"""What pictures on a canvas share: one piece of HTML with its script, all data packed in it."""

import base64
import html
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..picture.palette import CHOSEN
from ..picture.spec import GROUNDS, INKS
from .picture import FRAME, PAGE, new_place, pack

_HERE = Path(__file__).parent
STYLE = (_HERE / "canvas.css").read_text(encoding="utf-8")
SHARED = (_HERE / "canvas.js").read_text(encoding="utf-8")
LEVELS = 65_535
"""Into so many steps the range of weights is cut: a weight is that to 0.001 %."""


def bounds(weights: Tensor) -> tuple[float, float]:
    """The range of weights: 0 to 1, or wider where they are no shares."""
    return min(0.0, float(weights.min())), max(1.0, float(weights.max()))


def packed(weights: Tensor) -> np.ndarray:
    """Weights as whole numbers from 0 to 65,535 within their `bounds`, as a picture reads them."""
    low, high = bounds(weights)
    steps = (weights.float() - low) / (high - low) * LEVELS
    return steps.round().to(torch.int32).numpy().astype("<u2")


class CanvasPicture:
    """A picture that a script of its own draws; it says what that needs, and what stands still."""

    script: str
    """The name of its script, without the ending."""
    weights: Tensor
    """Of layers and heads that are drawn: (layer, head, query, key)."""
    layers: Sequence[str]
    heads: Sequence[int]
    first: tuple[int, int]
    """The layer and the head that are shown first, by their places among these."""
    notices: Sequence[str]

    @property
    def alt(self) -> str:
        """The picture in words."""
        raise NotImplementedError

    @property
    def start(self) -> int:
        """The query that is shown first."""
        raise NotImplementedError

    @property
    def png(self) -> bytes:
        """A still picture of what is shown first, for where no script runs."""
        raise NotImplementedError

    @property
    def tall(self) -> int:
        """About how many pixels it is high."""
        raise NotImplementedError

    def _told(self) -> dict[str, Any]:
        """What its script is told beside the weights."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return " ".join([self.alt, *self.notices])

    def piece(self) -> str:
        """A piece of HTML with its script; all text of a person is in its packed data."""
        told = {
            **self._told(),
            "layers": [*self.layers],
            "heads": [*self.heads],
            "first": self.first,
            "start": self.start,
            "sizes": [*self.weights.shape],
            "range": bounds(self.weights),
            "inks": INKS,
            "grounds": GROUNDS,
            "chosen": CHOSEN,
        }
        place, numbers = new_place(), packed(self.weights).tobytes()
        parts = {"ID": place, "DATA": pack(json.dumps(told).encode()), "WEIGHTS": pack(numbers)}
        own = (_HERE / f"{self.script}.js").read_text(encoding="utf-8")
        # Whole words: each stands in quotation marks of the script.
        script = re.sub('(?<=")(ID|DATA|WEIGHTS)(?=")', lambda found: parts[found[0]], SHARED)
        notices = "".join(f"<p>{html.escape(each)}</p>" for each in self.notices)
        still = base64.b64encode(self.png).decode()
        return (
            f'<div id="{place}" class="attention-canvas"><style>{STYLE}</style>{notices}'
            f'<div class="drawn"><img alt="{html.escape(self.alt)}" '
            f'src="data:image/png;base64,{still}"></div></div>'
            f"<script>(async () => {{\n{script}\n{own}\n}})();</script>"
        )

    def page(self) -> str:
        """A whole HTML page."""
        return PAGE.replace("BODY", self.piece())

    def _repr_mimebundle_(self, **_: Any) -> dict:
        still = base64.b64encode(self.png).decode()
        return {"text/plain": repr(self), "text/html": self.piece(), "image/png": still}

    def _mime_(self) -> tuple[str, str]:
        frame = FRAME.replace("TALL", str(self.tall + 30 * len(self.notices)))
        return "text/html", frame.replace("PAGE", html.escape(self.page()))
