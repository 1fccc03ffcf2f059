"""How well a person has guessed in this session. Nothing is kept beyond it."""

from dataclasses import dataclass, field

from ..controls.visit_state import this_visit
from .questions import Verdict


@dataclass
class Tally:
    """The first verdict of this session for each question and its numbers; None if shown."""

    verdicts: dict[tuple[str, int], Verdict | None] = field(default_factory=dict)

    def count(self, question: str, fingerprint: int, verdict: Verdict | None) -> bool:
        """Record a verdict, or None for a skip. Returns whether it counts."""
        is_new = (question, fingerprint) not in self.verdicts
        self.verdicts.setdefault((question, fingerprint), verdict)
        return is_new and verdict is not None

    def words(self) -> str:
        """The tally in a sentence or two; '' before the first guess."""
        counted = [verdict for verdict in self.verdicts.values() if verdict is not None]
        off = [each.distance for each in counted if each.distance is not None]
        picks = [each.right for each in counted if each.distance is None]
        said = []
        if picks:
            guesses = "guess" if len(picks) == 1 else "guesses"
            said.append(f"{sum(picks)} of {len(picks)} {guesses} right this session.")
        if off:
            rows = "In 1 row," if len(off) == 1 else f"In {len(off)} rows, on average"
            mean = sum(off) / len(off)
            said.append(f"{rows} {mean:.0%} of the guessed weight was on the wrong keys.")
        return " ".join(said)


def tally() -> Tally:
    """This session's."""
    return this_visit().own(Tally)
