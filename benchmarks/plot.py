"""growth.svg: time against size, three small plots side by side on logarithmic axes."""

import math
from dataclasses import dataclass
from pathlib import Path

PLOT = Path(__file__).parent / "growth.svg"
SIDE, EDGE = 200, 56
INK, BLUE = "#7A7468", "#2C6CB0"


@dataclass
class Line:
    """The measured points of one plot: size and milliseconds."""

    name: str
    points: list[tuple[float, float]]


def plot(lines: list[Line]) -> None:
    """Write the plots. All share the axis of time, so that they can be compared."""
    times = [time for line in lines for _, time in line.points]
    low, high = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))
    width = len(lines) * (SIDE + EDGE) + EDGE // 2
    height = SIDE + 2 * EDGE - 10
    drawn = "".join(_panel(line, at, low, high) for at, line in enumerate(lines))
    told = "Milliseconds of a traced layer against tokens, width and heads"
    PLOT.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" aria-label="{told}" '
        f'font-family="sans-serif" font-size="12">'
        f'<rect width="{width}" height="{height}" fill="#FCFBF8"/>{drawn}</svg>\n',
        encoding="utf-8",
    )


def _panel(line: Line, at: int, low: int, high: int) -> str:
    left, top = EDGE + at * (SIDE + EDGE), EDGE // 2
    sizes = [size for size, _ in line.points]
    first, last = math.log2(min(sizes)), math.log2(max(sizes))

    def x(size: float) -> float:
        return left + (math.log2(size) - first) / (last - first) * SIDE

    def y(time: float) -> float:
        return top + SIDE - (math.log10(time) - low) / (high - low) * SIDE

    made = []
    for power in range(low, high + 1):
        level = y(10.0**power)
        made.append(
            f'<line x1="{left}" x2="{left + SIDE}" y1="{level:.1f}" y2="{level:.1f}" '
            f'stroke="{INK}" stroke-opacity="0.25"/>'
            f'<text x="{left - 6}" y="{level + 4:.1f}" text-anchor="end" fill="{INK}">'
            f"{10.0**power:g}</text>"
        )
    for size in sizes[:: max(1, len(sizes) // 4)]:
        made.append(
            f'<text x="{x(size):.1f}" y="{top + SIDE + 16}" text-anchor="middle" fill="{INK}">'
            f"{size:,}</text>"
        )
    way = " ".join(f"{x(size):.1f},{y(time):.1f}" for size, time in line.points)
    made.append(f'<polyline points="{way}" fill="none" stroke="{BLUE}" stroke-width="2"/>')
    made += [
        f'<circle cx="{x(size):.1f}" cy="{y(time):.1f}" r="3" fill="{BLUE}"/>'
        for size, time in line.points
    ]
    made.append(
        f'<text x="{left + SIDE / 2}" y="{top + SIDE + 36}" text-anchor="middle" fill="{INK}">'
        f"{line.name}{', ms' if at == 0 else ''}</text>"
    )
    return "".join(made)
