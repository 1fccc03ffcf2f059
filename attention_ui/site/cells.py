"""The arithmetic of every cell of a step: a few equations with room for numbers, and the numbers.

A click opens it without a server, so all of them are written; an equation of a hundred cells is
told once.
"""

import itertools
import re
from typing import Any

from torch import Tensor

from attention_core.explain.remarks import remarks
from attention_core.operations import Edit
from attention_core.trace import Step

from ..cards.arithmetic import (
    cell_equation,
    common_place,
    is_long,
    of_the_rest,
    operand_groups,
    plain_number,
)
from ..cards.inspect_cell import agreement
from .markdown import formula, inline

MOST_CELLS = 1_500
"""Of a step whose cells can be taken apart: of more, only what they are is told."""
NUMBER = re.compile(r"(?<= )[+-](?= )|-?\d+(?:\.\d+)?")
ROOM, SIGN = "{7777}", "{7778}"
"""Where a number goes, and where a sign between two terms does."""
LONGEST_CODE = 140


def cells_of(step: Step, unknown: Tensor | None) -> dict[str, Any] | None:
    """How each cell of a step comes about, row by row: `-` for one that is `unknown`, since
    that would tell what a question covers. None for a step that is given, or too large.
    """
    if not step.inputs or step.value.numel() > MOST_CELLS:
        return None
    every = [*itertools.product(*map(range, step.value.shape))]
    patterns: dict[str, int] = {}
    said: dict[str, int] = {}
    cells = []
    for at, made in zip(every, step.arithmetics(every), strict=True):
        if unknown is not None and unknown[at]:
            cells.append("-")
            continue
        latex = cell_equation(step, at, made)
        pattern = NUMBER.sub(lambda one: SIGN if one[0] in "+-" else ROOM, latex)
        which = patterns.setdefault(pattern, len(patterns))
        words = [*([of_the_rest(made)] if is_long(made) else []), *remarks(step, at, made)]
        html = "".join(f"<p>{inline(each)}</p>" for each in words)
        html += f'<p class="caption">{inline(agreement(step, at, made))}</p>'
        told = said.setdefault(html, len(said))
        groups = (f"@{common_place(each)}".replace(" ", "") for each in operand_groups(made))
        cells.append(" ".join([f"{which}", f"{told}", *NUMBER.findall(latex), *groups]))
    is_told = len(step.code) < LONGEST_CODE and not isinstance(step.operation, Edit)
    return {
        "shape": [*step.value.shape],
        "axes": [*step.axes],
        "made": [formula(each, True) for each in patterns],
        "said": [*said],
        "cells": "\n".join(cells),
        "words": inline(f"{step.words} `{step.code}`" if is_told else step.words),
    }


def given_cells(step: Step) -> dict[str, Any]:
    """The numbers of a step that is given."""
    numbers = [plain_number(each) for each in step.value.flatten().float().tolist()]
    return {
        "shape": [*step.value.shape],
        "axes": [*step.axes],
        "given": " ".join(numbers),
        "words": inline(step.words),
    }
