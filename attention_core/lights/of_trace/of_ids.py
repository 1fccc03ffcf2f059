"""The light on ids: which tokens share one, and which rows of the table belong to nobody."""

from ...operations.inputs import Draw, Encode
from ...text.vocabulary import UNUSED
from ...trace import Trace
from ..measures import Measured
from .seen import Seen


def ids(seen: Seen) -> Measured:
    step = seen.trace.get("token_ids")
    if step is None:
        return None, "No ids stand before these vectors."
    by_text: dict[str, set[int]] = {}
    for text, number in zip(seen.trace.labels("token"), step.value.tolist(), strict=True):
        by_text.setdefault(text, set()).add(number)
    n_torn = sum(len(each) > 1 for each in by_text.values())
    wrong = ""
    if n_torn:
        has = "has" if n_torn == 1 else "have"
        wrong = f"{n_torn} of the words that repeat {has} several ids."
    elif isinstance(step.operation, Draw):
        wrong = "The ids are drawn, so they say nothing of the words."
    elif len({min(each) for each in by_text.values()}) < len(by_text):
        wrong = "Two words share an id."
    elif isinstance(step.operation, Encode) and (n_skipped := _skips(seen.trace)):
        wrong = f"{n_skipped} rows of the table belong to nobody."
    if wrong:
        return False, wrong, step.name
    return True, f"{len(by_text)} different words have {len(by_text)} ids."


def _skips(trace: Trace) -> int:
    """How many rows of the table belong to no token and are reserved for nothing."""
    table = next((s for s in trace.values() if s.axes[:1] == ("vocabulary",)), None)
    return trace.labels("vocabulary").count(UNUSED) if table is not None else 0
