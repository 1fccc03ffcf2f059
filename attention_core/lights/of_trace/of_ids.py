"""The light on ids: which tokens share one, and which rows of the table belong to nobody."""

from ...operations.given import Draw, Encode
from ...text.vocabulary import UNUSED
from ...trace import Trace
from ..light import Light
from .seen import Seen, open_light


def ids(seen: Seen) -> Light:
    name = "ids"
    step = seen.trace.get("token_ids")
    if step is None:
        return open_light(name, "No ids stand before these vectors.")
    texts, ids = seen.trace.labels("token"), step.value.tolist()
    by_text: dict[str, set[int]] = {}
    for text, number in zip(texts, ids, strict=True):
        by_text.setdefault(text, set()).add(number)
    n_torn = sum(len(each) > 1 for each in by_text.values())
    if n_torn:
        evidence = f"{n_torn} of the words that repeat {'has' if n_torn == 1 else 'have'} several "
        return Light(name, False, evidence + "ids.", step.name)
    if isinstance(step.operation, Draw):
        return Light(name, False, "The ids are drawn, so they say nothing of the words.", step.name)
    if len({min(each) for each in by_text.values()}) < len(by_text):
        return Light(name, False, "Two words share an id.", step.name)
    if isinstance(step.operation, Encode) and _skips(seen.trace):
        return Light(
            name, False, f"{_skips(seen.trace)} rows of the table belong to nobody.", step.name
        )
    return Light(name, True, f"{len(by_text)} different words have {len(by_text)} ids.")


def _skips(trace: Trace) -> int:
    """How many rows of the table belong to no token and are reserved for nothing."""
    table = next((s for s in trace.values() if s.axes[:1] == ("vocabulary",)), None)
    return trace.labels("vocabulary").count(UNUSED) if table is not None else 0
