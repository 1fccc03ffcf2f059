"""Every result of a notebook, in one table."""

import pandas as pd

from attention_core.published import report
from attention_core.published.checking import computed_entries, printed_entries
from attention_core.published.recipe import RECIPES

from ...frame.contents import lesson
from ...reactive.control import Values
from .check import outcomes

CAME = {
    report.PRINT: "matches as printed",
    report.SLACK: "within the slack",
    report.OLDER: "by an older version",
    report.NEVER: "cannot be computed",
    report.DIFFERS: "differs",
}
"""What came of a result, in words."""
KINDS = {
    "tensor": "tensor",
    "scalar": "number",
    "ints": "whole numbers",
    "shape": "shape",
    "bool": "True or False",
    "text": "text",
    "derived": "relation",
}
PAGES = {
    "tokenize": "tokenize_and_embed",
    "simplified": "simplified_attention",
    "softmax_or_sum": "softmax_or_sum",
    **dict.fromkeys(("qkv", "qkv_linear"), "queries_keys_values"),
    "causal": "causal_mask",
    "multi_head": "multi_head_attention",
    **dict.fromkeys(("qkv_again", "qkv_wrong_axis", "multi_head_wrong_axis"), "mistakes_lab"),
}
"""Where a trace of `published.building` is drawn; those on the token axis are drawn nowhere."""


def table(values: Values) -> pd.DataFrame:
    """A row for each result of the notebook: what it is, what came of it, and both values."""
    return pd.DataFrame([_row(values.notebook, each) for each in outcomes()[values.notebook]])


def _row(notebook: str, outcome: report.Outcome) -> dict[str, str]:
    result = outcome.result
    is_sized = result.shape and result.kind != "shape"
    size = f" {' × '.join(map(str, result.shape))}" if is_sized else ""
    return {
        "name": result.id,
        "result": _begun(result.description),
        "what came of it": CAME[outcome.verdict],
        "printed": "  ".join(printed_entries(result)),
        "computed": "  ".join(computed_entries(result, outcome.computed)),
        "kind": KINDS[result.kind] + size,
        "shown in": _shown_in(notebook, result.id),
        "recipe": result.how,
        "note": _begun(". ".join(filter(None, (result.reason, result.note)))),
        "line": str(result.source_line),
    }


def _shown_in(notebook: str, id: str) -> str:
    recipe = RECIPES[notebook].get(id)
    page = PAGES.get(recipe.place.lesson) if recipe and recipe.places else None
    page = "divide_by_sqrt_d" if id.startswith("var_") else page
    return lesson(page).title if page else ""


def _begun(words: str) -> str:
    return words[:1].upper() + words[1:]
