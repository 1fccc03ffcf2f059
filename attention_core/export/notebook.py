"""A trace as a Jupyter notebook of the same tensors. A person's text stands in code alone."""

import base64
import inspect
import math
from collections.abc import Iterable

import torch
from torch import Tensor

from ..cells import about, code, document, text
from ..operations import Given
from ..rounding import largest, rounding
from ..text.tokenizers import visible
from ..trace import Step, Trace, is_shares
from ..utils.validation import validated
from .checker import unpacked
from .program import comment, components, imports, lines_of

MOST_NUMBERS, MOST_GIVEN = 4096, 1024
"""Of a larger tensor only some numbers are compared, evenly spaced."""
NEEDS = (
    "Each step has its formula, its line of PyTorch, and its tensor. The notebook needs `torch`, "
    "and `matplotlib` for the picture: `pip install torch matplotlib`. Without matplotlib the "
    "picture is left out. Where Attention Explorer is installed, weights are drawn as in the app."
)
HEATMAP = '''\
try:
    import matplotlib.pyplot as plt
except ModuleNotFoundError:
    plt = None
    print("No picture: pip install matplotlib")

torch.set_printoptions(sci_mode=False, linewidth=120)


def heatmap(tensor, axes, rows, columns):
    """Draw a matrix, or the matrix of each head; weights to be pointed at, where that is there."""
    try:
        from IPython.display import display
        from attention_explorer import show

        if axes[-1] == "key":
            return display(show(tensor, columns, query_tokens=rows))
    except (ImportError, ValueError):
        pass
    if plt is None:
        return
    panels = tensor.float().reshape(-1, *tensor.shape[-2:])
    finite = panels[panels.isfinite()].tolist() or [0.0]
    across, down = min(len(panels), 2), (len(panels) + 1) // 2
    width, height = 2 + min(0.4 * len(columns), 9), 1 + min(0.4 * len(rows), 9)
    width += 0.15 * max(map(len, rows))  # inches for the labels
    height += 0.15 * max(map(len, columns))
    _, places = plt.subplots(down, across, figsize=(across * width, down * height), squeeze=False)
    for place in places.flat[len(panels) :]:
        place.remove()
    for head, (place, panel) in enumerate(zip(places.flat, panels)):
        image = place.imshow(panel.tolist(), vmin=min(finite), vmax=max(finite))
        plt.colorbar(image, ax=place)
        place.set_title(f"{axes[0]} {head}" if tensor.ndim == 3 else "")
        place.set(ylabel=axes[-2], xlabel=axes[-1])
        place.set_xticks(range(len(columns)), columns, rotation=90, parse_math=False)
        place.set_yticks(range(len(rows)), rows, parse_math=False)
    plt.tight_layout()
    plt.show()'''
COMPARE = '''\
def compare(names, expected):
    """Raise AssertionError for the first tensor that is not the expected one."""
    for name, shape, dtype, numbers, stride, tolerance in expected:
        problem = f"{name} is the first step that differs."
        value = names[name]
        assert tuple(value.shape) == shape, f"{problem} Its shape is {tuple(value.shape)}."
        torch.testing.assert_close(
            value.reshape(-1)[::stride],
            unpacked(dtype, numbers),
            rtol=0,
            atol=tolerance,
            equal_nan=True,
            msg=lambda message: f"{problem} {message}",
        )
    print(f"All {len(expected)} tensors are the lesson's.")'''


@validated
def notebook(trace: Trace, title: str = "Attention, step by step") -> dict:
    """A trace's notebook: text, code, a picture, asserts. Any title: it becomes a comment."""
    steps = list(trace.values())
    cells = [
        text("# Attention, step by step", NEEDS),
        code(*comment(title), *components(trace), *imports(steps), "", HEATMAP),
    ]
    plotted = _important(steps)
    for step, lines in lines_of(steps):
        cells += [text(*about(step)), code(*lines, step.name)]
        if step is plotted:
            cells.append(code(picture(trace, step)))
    words = "These are the tensors of the lesson. The cell stops at the first step that differs."
    cells += [text("## The same numbers", words), code(*_comparison(steps, rounding(trace)))]
    return document(cells)


def _important(steps: list[Step]) -> Step | None:
    """The first table of weights; without one, the last matrix."""
    tables = [step for step in steps if step.value.ndim in (2, 3)]
    return next((step for step in tables if is_shares(step)), tables[-1] if tables else None)


def picture(trace: Trace, step: Step) -> str:
    """The line that draws a step; labels are cut, since one of 4,000 characters took 6 GB."""
    rows, columns = (
        [_short(visible(name)) for name in trace.labels(axis)] for axis in step.axes[-2:]
    )
    return f"heatmap({step.name}, {step.axes!r}, {rows!r}, {columns!r})"


def _short(name: str, most: int = 16) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"


def _comparison(steps: Iterable[Step], apart: dict[str, float]) -> list[str]:
    source = inspect.getsource(unpacked).rstrip()
    lines = ["import base64", "", source, "", "", COMPARE, "", "", "compare(", "    globals(),"]
    lines.append("    [")
    for step in steps:
        numbers, stride = packed(step.value, most_of(step))
        dtype = str(step.value.dtype).removeprefix("torch.")
        tolerance = max(1e-6 * max(1.0, largest(step.value)), apart[step.name])
        shape = tuple(step.value.shape)
        lines.append(
            f"        ({step.name!r}, {shape}, {dtype!r}, {numbers!r}, {stride}, {tolerance:.2g}),"
        )
    return [*lines, "    ],", ")"]


def most_of(step: Step) -> int:
    """How many numbers of a step are compared: few of what the program has written down."""
    return MOST_GIVEN if isinstance(step.operation, Given) else MOST_NUMBERS


def packed(value: Tensor, most: int = MOST_NUMBERS) -> tuple[str, int]:
    """Every `stride`th number as text, and the stride, which never divides the width."""
    stride = max(1, math.ceil(value.numel() / most))
    while any(math.gcd(stride, size) > 1 for size in value.shape):
        stride += 1
    held = value.reshape(-1)[::stride].contiguous().view(torch.uint8)
    return base64.b64encode(bytes(held.tolist())).decode(), stride
