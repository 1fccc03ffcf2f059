"""Every number that the five notebooks print, and how each is computed again.

    from attention_core.published import marks

    found = marks("wild_cat", "wild_cat", "tokenize", embed(EXAMPLES["wild_cat"].inputs))
    all(mark.check.ok for mark in found)

The printed numbers are data, a file for each notebook. How they are computed is data too: a line
of `recipes.toml` for each, which serves both the marks on the pages and
`python -m attention_core.published`, where everything is computed again. To cover a further
result, add its line; for a new kind of trace, its builder to `building.BUILDERS`; for a new way to
read one, a function to `functions.py`. Importing this package does not import torch.
"""

from .checking import Check, check
from .marking import Mark, marks
from .printed import NOTEBOOKS, Notebook, Result, notebook
from .recipe import RECIPES, Place, Recipe

__all__ = [
    "NOTEBOOKS",
    "RECIPES",
    "Check",
    "Mark",
    "Notebook",
    "Place",
    "Recipe",
    "Result",
    "check",
    "marks",
    "notebook",
]
