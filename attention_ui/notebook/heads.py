"""Heads of long texts: all in small, and one in large, whose rows can be pointed at."""

import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from PIL import Image, ImageColor
from torch import Tensor

from ..picture.palette import POSITIVE
from ..picture.spec import GROUNDS
from .canvas import CanvasPicture

SIDE = 448


@dataclass(repr=False)
class HeadsPicture(CanvasPicture):
    """Weights of more numbers than can each be a mark, with names for keys and queries."""

    weights: Tensor
    layers: Sequence[str]
    heads: Sequence[int]
    keys: Sequence[str] = ()
    queries: Sequence[str] = ()
    notices: Sequence[str] = field(default_factory=list)
    first: tuple[int, int] = (0, 0)
    script = "heads"

    @property
    def alt(self) -> str:
        n_layers, n_heads, n_queries, n_keys = self.weights.shape
        return (
            f"{n_heads} heads of {n_layers} layers in small, and one in large: {n_queries} rows, "
            f"one for each query, of {n_keys} weights."
        )

    @property
    def start(self) -> int:
        return self.weights.shape[-2] - 1

    @property
    def tall(self) -> int:
        return SIDE + 260

    def _told(self) -> dict[str, Any]:
        colour = ImageColor.getrgb(POSITIVE)
        return {"keys": [*self.keys], "queries": [*self.queries], "colour": colour}

    @cached_property
    def png(self) -> bytes:
        shares = self.weights[self.first].float().clamp(0, 1).sqrt().numpy()
        veil = Image.fromarray((255 * shares).round().astype(np.uint8))
        made = Image.new("RGB", veil.size, GROUNDS["light"])
        made.paste(Image.new("RGB", veil.size, POSITIVE), mask=veil)
        scale = max(1, SIDE // max(veil.size))
        made = made.resize((veil.width * scale, veil.height * scale), Image.Resampling.NEAREST)
        still = io.BytesIO()
        made.quantize(64).save(still, "png", optimize=True)
        return still.getvalue()
