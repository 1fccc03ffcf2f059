"""What was found, as lines to read."""

import sys
from typing import NamedTuple

from ...utils.toml_file import read_toml
from ..light import TITLES, Light

SIGNS = {True: "✓", False: "✗", None: "–"}
PLAIN = {"✓": "ok", "✗": "NO", "–": "-", "√": "root ", "·": ".", "−": "-", "∞": "infinity"}
PLAIN |= {"×": "x", "…": "to", "±": "+-", "“": '"', "”": '"'}
LIKELY = {
    name: (entry["likely"], entry["advice"])
    for name, entry in read_toml("attention_core.mistakes", "mistakes.toml").items()
    if "likely" in entry
}
"""By a mistake's name: what was likely done and what comes of it, and what to write instead."""


class Report(NamedTuple):
    """What was found."""

    lights: tuple[Light, ...]
    """As far as they were looked at: code that stops has one, that it does not run."""
    likely: tuple[str, ...]
    """The mistakes that were recognised, by their names in `LIKELY`."""

    ways: tuple[str, ...] = ()
    """What was recognised that attention may have and need not: a window, a bias by distance."""

    mask: str = ""
    """How its mask was understood, in a sentence; "" where it was given none."""

    @property
    def is_right(self) -> bool:
        """Whether no light is red."""
        return self.first_wrong is None

    @property
    def first_wrong(self) -> Light | None:
        """The first red light, which the others may follow from."""
        return next((light for light in self.lights if light.holds is False), None)

    def text(self) -> str:
        """A line for each light, then what is likely wrong."""
        return "\n".join([*map(line_of, self.lights), "", *self.verdict()])

    def verdict(self) -> list[str]:
        """What comes below the lights."""
        n_green, n_unseen = (
            sum(light.holds is holds for light in self.lights) for holds in (True, None)
        )
        wrong = self.first_wrong
        ways = [*(f"Recognised: {way}." for way in self.ways), *filter(None, [self.mask])]
        if wrong is None:
            told = [f"All {n_green} lights that can be looked at are green."]
            if n_unseen:
                told.append(f"Not looked at: {n_unseen}, for the reason beside each.")
            return [*told, *ways]
        told = [f"The first light that is red: “{wrong.title}”."]
        for words, advice in map(LIKELY.__getitem__, self.likely):
            told += [f"Likely: {words}", f"  {advice}"]
        if not self.likely and len(self.lights) > 1:
            told.append(
                "Where its evidence does not tell you why, print each tensor of your code with its "
                "shape and the sums of its rows, up to the first that surprises you."
            )
        if sum(light.holds is False for light in self.lights) > 1:
            told.append("Fix this one first: the other red lights may come from it.")
        return [*told, *ways]

    def __repr__(self) -> str:
        return f"<Report: {''.join(SIGNS[light.holds] for light in self.lights)}>"


def line_of(light: Light) -> str:
    """A light as a line."""
    width = max(map(len, TITLES.values()))
    return f"{SIGNS[light.holds]} {light.title:<{width}}  {light.evidence}"


def to_the_screen(text: str) -> None:
    """Print, in plain signs where the screen has no others; nothing in an app without a screen."""
    if sys.stdout is None:
        return
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        for sign, plain in PLAIN.items():
            text = text.replace(sign, plain)
        text = text.encode("ascii", "replace").decode()
    print(text, flush=True)
