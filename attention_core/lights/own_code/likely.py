"""What is likely wrong where a light is red, by the name of the mistake."""

from typing import NamedTuple

from ...told import told


class Likely(NamedTuple):
    """A mistake that learners make: what is likely wrong, and what to do."""

    words: str
    """What was likely done, and what comes of it."""
    advice: str
    """What to write, in one sentence."""


LIKELY = {
    name: Likely(entry["likely"], entry["advice"])
    for name, entry in told("attention_core.mistakes", "mistakes.toml").items()
    if "likely" in entry
}
"""Every mistake by its name."""
