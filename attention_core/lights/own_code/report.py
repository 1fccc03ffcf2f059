"""What was found, as lines to read."""

import sys
from typing import NamedTuple

from ..light import OF_TRACES, TITLES, Light
from .likely import LIKELY

SIGNS = {True: "✓", False: "✗", None: "–"}
PLAIN = {"✓": "ok", "✗": "NO", "–": "-", "√": "root ", "·": ".", "−": "-", "∞": "infinity"}
PLAIN |= {"×": "x", "…": "to", "±": "+-", "“": '"', "”": '"'}


class Report(NamedTuple):
    """What was found."""

    lights: tuple[Light, ...]
    likely: tuple[str, ...]
    """The mistakes that the first red light may come from, by their names in `LIKELY`."""

    ways: tuple[str, ...] = ()
    """What was recognised that attention may have and need not: a window, a bias by distance."""

    @property
    def is_right(self) -> bool:
        """Whether no light is red."""
        return self.first_wrong is None

    @property
    def first_wrong(self) -> Light | None:
        """The first red light, which the others may follow from."""
        return next((light for light in self.lights if light.holds is False), None)

    def text(self) -> str:
        """A line for each light, then what is likely wrong with the first red one."""
        width = max(len(light.title) for light in self.lights)
        lines = [
            f"{SIGNS[light.holds]} {light.title:<{width}}  {light.evidence}"
            for light in self.lights
        ]
        return "\n".join([*lines, "", *self._verdict()])

    def _verdict(self) -> list[str]:
        n_green, n_unseen = (
            sum(light.holds is holds for light in self.lights) for holds in (True, None)
        )
        wrong = self.first_wrong
        ways = [f"Recognised: {way}." for way in self.ways]
        if wrong is None:
            told = [f"All {n_green} lights that can be looked at are green."]
            if n_unseen:
                told.append(f"Not looked at: {n_unseen}, for the reason beside each.")
            return [*told, *ways]
        told = [f"The first light that is red: “{wrong.title}”."]
        for name, start in zip(self.likely, ("Likely: ", *["Or: "] * 9), strict=False):
            told += [f"{start}{LIKELY[name].words}", f"  {LIKELY[name].advice}"]
        if not self.likely:
            told.append(
                "No mistake that is known here fits. Print each tensor of your code with its shape "
                "and the sums of its rows, up to the first that surprises you."
            )
        if sum(light.holds is False for light in self.lights) > 1:
            told.append("Fix this one first: the other red lights may come from it.")
        return [*told, *ways]

    def __repr__(self) -> str:
        return f"<Report: {''.join(SIGNS[light.holds] for light in self.lights)}>"


def stopped_report(
    evidence: str, likely: tuple[str, ...] = (), without: tuple[str, ...] = ()
) -> Report:
    """The report of what does not run. `without`: lights that would not be looked at."""
    later = "looked at once your code runs"
    left_out = ("runs", *OF_TRACES, *without)
    rest = (Light(name, None, later) for name in TITLES if name not in left_out)
    return Report((Light("runs", False, evidence), *rest), likely)


def say(text: str) -> None:
    """Print, in plain signs where the screen has no others."""
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        for sign, plain in PLAIN.items():
            text = text.replace(sign, plain)
        text = text.encode("ascii", "replace").decode()
    print(text)
