"""Every number that the five notebooks print, and where each stands in a trace.

    from attention_core.published import by_step, marks

    found = marks("wild_cat", "wild_cat", "tokenize", embed(EXAMPLES["wild_cat"].inputs))
    all(mark.check.ok for mark in by_step(found)["embeddings"])

One table, `PLACES`, serves both the marks on the pages and `python -m attention_core.published`,
which computes everything again. To cover a further result, add its place; for a new kind of
trace, add its builder to `building.BUILDERS`; for a new way to read one, a reading to
`reading.READINGS`. Importing this package does not import torch.
"""

from .checking import Check, check
from .marking import Mark, by_step, marks
from .places import PLACES, Place
from .printed import NOTEBOOKS, Notebook, Result, notebook
from .reading import read

__all__ = [
    "NOTEBOOKS",
    "PLACES",
    "Check",
    "Mark",
    "Notebook",
    "Place",
    "Result",
    "by_step",
    "check",
    "marks",
    "notebook",
    "read",
]
