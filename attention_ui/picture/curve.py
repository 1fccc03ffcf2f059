"""A curve beside matrices: what fell or rose on the way, and how far the way has been gone."""

import math
from collections.abc import Sequence

from .layout import NARROW, Layout, Mark, Path, Word, make_room
from .numbers import text_width

HEIGHT, TOP, SPACE, TICKS = 66, 26, 34, 4
ACROSS, BETWEEN = 280, 24
LEFT = 46
"""For the numbers at the curve's two ends."""


def with_curve(
    layout: Layout, values: Sequence[float], steps: Sequence[int], at: int, told: str
) -> Layout:
    """The same layout with a curve at its left, and on a phone above it: `values` at `steps`, on a
    logarithmic axis, one beside the other however many steps lie between. `at` is the place that is
    shown, and `told` says it in words. Of more steps than values the rest is still to come.
    """
    wide, narrow = layout.wide, layout.narrow
    make_room(layout, ACROSS + BETWEEN, TOP + HEIGHT + SPACE)
    drawn = [(place, value) for place, value in enumerate(values) if 0 < value < math.inf]
    least = min((value for _, value in drawn), default=0.1)
    most = max((value for _, value in drawn), default=1.0)
    span, last = math.log(most / least) or 1.0, max(len(steps) - 1, 1)
    for made, room, tall in (
        (wide, ACROSS, wide.height - TOP - SPACE - 8),
        (narrow, NARROW, HEIGHT),
    ):
        # Last, so that all else keeps its place among the rows.
        across = [LEFT + place / last * (room - LEFT - 8) for place in range(len(steps))]
        path = "L".join(
            f"{across[place] - LEFT:.1f},{tall * math.log(most / v) / span:.1f}"
            for place, v in drawn
        )
        made.paths.append(Path(LEFT, TOP, f"M{path or '0,0'}", "plus"))
        bottom = TOP + tall
        made.marks.append(Mark(LEFT, bottom + 2, room - LEFT - 8, 1, "muted", 0.5))
        moment = f"M{across[at] - LEFT:.1f},-4v{tall + 8:.1f}"
        made.paths.append(Path(LEFT, TOP, moment, "loud"))
        made.words.append(Word(told, 0.0, 8, "title", changes=True))
        for value, y in ((most, TOP + 4), (least, bottom - 4)) if drawn else ():
            made.words.append(Word(f"{value:.3g}", LEFT - 8, y, "row"))
        end = -math.inf
        for tick in range(TICKS):
            place = round(tick * (len(steps) - 1) / (TICKS - 1))
            text = f"{steps[place]:,}" if tick else f"step {steps[place]:,}"
            if across[place] - text_width(text) / 2 > end + 8:
                made.words.append(Word(text, across[place], bottom + 12, "column"))
                end = across[place] + text_width(text) / 2
    return layout
