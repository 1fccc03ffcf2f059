"""An image under the grid of its patches, shaded by what a head looks at: drawn in the notebook."""

import base64
import io
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image, ImageDraw, UnidentifiedImageError
from torch import Tensor

from ..picture.palette import CHOSEN
from ..picture.spec import GROUNDS
from .canvas import CanvasPicture
from .patches import Cut, sinks

SIDE = 448
"""Pixels of the longer edge, as it is kept in the notebook."""
MOST_PIXELS = 50_000_000
"""A larger image is no photo to be looked at: it is refused, unread."""
VEILED = 0.88
"""How much of a patch is hidden that gets nothing."""


def as_image(given: Any) -> Image.Image:
    """An image in red, green and blue: a PIL image, a path, or an array or tensor (row, column),
    (row, column, colour) or (colour, row, column), with a batch of 1 in front. Numbers beyond 0 to
    1, as a processor gives them, are stretched to that. Raises ValueError, in words, for no image.
    """
    if isinstance(given, str | Path):
        return _of_file(Path(given))
    if isinstance(given, Image.Image):
        _check_size(given.width, given.height)
        return _flat(given)
    array = given.detach().float().cpu().numpy() if isinstance(given, Tensor) else given
    if not isinstance(given, Tensor | np.ndarray):
        raise ValueError(
            f"image is a {type(given).__name__}: give a PIL image, a path, or an array or tensor "
            "of rows, columns and colours"
        )
    return _of_array(np.asarray(array), is_bytes=given.dtype in (np.uint8, torch.uint8))


def _of_file(path: Path) -> Image.Image:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(path) as opened:
                _check_size(opened.width, opened.height)
                opened.load()
                return _flat(opened)
    except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        raise ValueError(f"{path.name} claims more pixels than are read here") from error
    except UnidentifiedImageError as error:
        raise ValueError(f"{path.name} is no image that can be read") from error
    except (OSError, SyntaxError, EOFError) as error:
        why = getattr(error, "strerror", None) or "it is broken"
        raise ValueError(f"{path.name} cannot be read as an image: {why}") from error


def _check_size(wide: int, high: int) -> None:
    if not 0 < wide * high <= MOST_PIXELS:
        raise ValueError(
            f"image has {wide:,} × {high:,} pixels, and at most {MOST_PIXELS:,} are drawn"
        )


def _flat(image: Image.Image) -> Image.Image:
    """In three colours; what is transparent lies on white."""
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        own = image.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", own.size, "white"), own).convert("RGB")
    return image.convert("RGB")


def _of_array(array: np.ndarray, is_bytes: bool) -> Image.Image:
    shape = " × ".join(map(str, array.shape))
    if array.ndim == 4 and array.shape[0] == 1:
        array = array[0]
    if array.ndim == 3 and array.shape[-1] not in (1, 3, 4) and array.shape[0] in (1, 3, 4):
        array = np.moveaxis(array, 0, -1)
    if array.ndim == 2:
        array = array[..., None]
    if array.ndim != 3 or array.shape[-1] not in (1, 3, 4) or not array.size:
        raise ValueError(
            f"image is {shape}: it should be (row, column), (row, column, colour) or (colour, row, "
            "column), with 1, 3 or 4 colours; of a batch, give one, such as pixel_values[0]"
        )
    if array.dtype.kind not in "fiub":
        raise ValueError(f"image has numbers of the kind {array.dtype}: give bytes or floats")
    _check_size(array.shape[1], array.shape[0])
    numbers = array[..., :3].astype(np.float64)
    if not np.isfinite(numbers).all():
        raise ValueError("image has numbers that are nan or infinite")
    if is_bytes:
        numbers = numbers / 255
    elif numbers.min() < 0 or numbers.max() > 1:
        spread = float(np.ptp(numbers)) or 1.0
        numbers = (numbers - numbers.min()) / spread
    pixels = (numbers * 255).round().astype(np.uint8)
    return Image.fromarray(np.repeat(pixels, 3, axis=-1) if pixels.shape[-1] == 1 else pixels)


@dataclass(repr=False)
class ImagePicture(CanvasPicture):
    """An image with its patches as a cell's last line shows it; `page()` is a whole HTML page."""

    image: Image.Image
    cut: Cut
    weights: Tensor
    layers: Sequence[str]
    heads: Sequence[int]
    notices: Sequence[str] = field(default_factory=list)
    first: tuple[int, int] = (0, 0)
    script = "image"

    @property
    def alt(self) -> str:
        """The picture in words."""
        rows, columns = self.cut.grid
        beside = ", ".join(name for _, name in self.cut.beside[:5])
        more = ", …" if len(self.cut.beside) > 5 else ""
        told = f"; beside it {beside}{more}" if beside else ""
        return (
            f"The image under {rows} × {columns} patches, each as clear as the weight that a head "
            f"gives it{told}."
        )

    @cached_property
    def small(self) -> Image.Image:
        """The image as it is kept, in the shape of the grid."""
        rows, columns = self.cut.grid
        longer = max(rows, columns)
        size = (max(1, round(SIDE * columns / longer)), max(1, round(SIDE * rows / longer)))
        return self.image.resize(size)

    @property
    def start(self) -> int:
        """The query that is shown first: CLS or the first word, or else the patch in the middle."""
        if self.cut.askers:
            return self.cut.askers[-1 if self.cut.beside and not _has_special(self.cut) else 0][0]
        rows, columns = self.cut.grid
        return self.cut.asking[(rows // 2) * columns + columns // 2]

    @property
    def tall(self) -> int:
        return self.small.height + 160

    def _told(self) -> dict[str, Any]:
        kept = io.BytesIO()
        self.small.save(kept, "png", optimize=True)
        return {
            "image": f"data:image/png;base64,{base64.b64encode(kept.getvalue()).decode()}",
            "size": self.small.size,
            "grid": self.cut.grid,
            "patches": self.cut.patches,
            "asking": self.cut.asking,
            "beside": self.cut.beside,
            "askers": self.cut.askers,
            "sinks": sinks(self.weights),
            "veiled": VEILED,
        }

    @cached_property
    def png(self) -> bytes:
        """A still picture of what is shown first, for where no script runs."""
        rows, columns = self.cut.grid
        weights = self.weights[self.first][self.start][list(self.cut.patches)]
        shares = (weights / weights.max().clamp(min=1e-12)).sqrt().reshape(rows, columns)
        veil = Image.fromarray((255 * VEILED * (1 - shares)).round().byte().numpy())
        made = self.small.copy()
        made.paste(Image.new("RGB", made.size, GROUNDS["light"]),
                   mask=veil.resize(made.size, Image.Resampling.NEAREST))  # fmt: skip
        draw = ImageDraw.Draw(made)
        if self.start in self.cut.asking:
            at = self.cut.asking.index(self.start)
            left, top = at % columns * made.width / columns, at // columns * made.height / rows
            right, bottom = left + made.width / columns, top + made.height / rows
            draw.rectangle((left, top, right, bottom), outline=CHOSEN, width=2)
        still = io.BytesIO()
        made.quantize(128).save(still, "png", optimize=True)
        return still.getvalue()


def _has_special(made: Cut) -> bool:
    return bool(made.beside) and made.beside[0][1] == "CLS"
