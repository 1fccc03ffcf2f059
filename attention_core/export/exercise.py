"""A trace as an exercise: a notebook with lines taken out, and a check after each."""

import inspect
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

import torch

from ..cells import about, code, document, text
from ..mistakes.base import WRONG, is_mistake
from ..mistakes.lines import around, is_asked
from ..operations import Given, Rescale
from ..rounding import largest, rounding
from ..trace import Step, Trace
from ..utils.validation import validated
from . import checker
from .notebook import most_of, packed
from .program import comment, components, imports, lines_of
from .telling import START, unnoticed, variations

OPENING = """\
# Attention, written by you

Some lines are taken out of this notebook. Write each of them in the place of its three dots: \
one line or many, any way you like. When you run the cell it is checked, and if it is not right \
yet you are told the first step that is wrong, and what is likely wrong with it. \
Nothing leaves your computer. The notebook needs `torch`: `pip install torch`."""
CHECKS = """\
The next cell holds the checks, and what they compare with. Run it; you need not read it."""
DRAWN = """\
The embeddings are drawn here, and are not those of the lesson: on the lesson's own, some wrong \
lines would give the right numbers."""
OTHER_WAYS = "import torch.nn.functional as F  # for your lines, if you like"


@validated
def exercise(trace: Trace, title: str = "Attention, written by you") -> dict:
    """A notebook as of `notebook`, without the lines of `exercise_steps`; the title is any text."""
    lesson, trace = trace, exercise_trace(trace)
    wanted = _asked(trace)
    steps = _needed(trace, wanted)
    apart = rounding(trace)
    is_drawn = START in trace and trace[START].operation != lesson[START].operation
    first_import, *others = imports(steps)
    cells = [
        text(OPENING, *([DRAWN] if is_drawn else [])),
        code(*comment(title), *components(trace), first_import, OTHER_WAYS, *others),
        text(CHECKS),
        code(*_checks(steps, wanted, apart), hidden=True),
    ]
    runs = groupby(lines_of(steps), lambda pair: pair[0].name in wanted)
    for is_blank, run in runs:
        cells += _blanks(run) if is_blank else _given(run)
    cells.append(
        text("## Done", f"With a ✓ below each of the {len(wanted)} lines, they are all right.")
    )
    return document(cells)


@validated
def exercise_steps(trace: Trace) -> tuple[str, ...]:
    """The steps that an exercise asks for, by a rule.

    A step is asked for where exercises ask for its operation. Left alone are the steps before
    `embeddings` (unless nothing is behind them), mistakes, what is shown of a mistake beside the
    right way, and what only tells again what another step tells: the same numbers by the same kind
    of operation, such as one row of them. (Where a step that is asked for is made from such a step,
    that is asked for too: its line would be the answer to the other.) Of a loop, one round is asked
    for.
    """
    return _asked(exercise_trace(trace))


def exercise_trace(trace: Trace) -> Trace:
    """The trace that an exercise is made of: the lesson's, or one like it on drawn embeddings, with
    one round of its loop. It is the first in which every wrong line that is known gives wrong
    numbers; where there is none, the one that lets the fewest pass.
    """
    found: list[tuple[int, Trace]] = []
    for varied in variations(trace):
        for each in _with_one_round(varied):
            wanted = _asked(each)
            n_unnoticed = len(unnoticed(each, _needed(each, wanted), wanted))
            if not n_unnoticed:
                return each
            found.append((n_unnoticed, each))
    return min(found, key=lambda pair: pair[0])[1]


def _asked(trace: Trace) -> tuple[str, ...]:
    names = list(trace)
    later = names[names.index(START) + 1 :] if START in trace else names
    beside = _beside(trace)
    able = {
        name for name in later or names if name not in beside and is_asked(trace[name].operation)
    }
    users = Counter(earlier for step in trace.values() for earlier in step.earlier())
    kept: list[Step] = []
    for name in sorted(able, key=lambda name: (-users[name], names.index(name))):
        if not any(_tells_again(trace[name], other) for other in kept):
            kept.append(trace[name])
    needed = {step.name for step in _needed(trace, (step.name for step in kept))}
    return tuple(name for name in names if name in able & needed)


def _with_one_round(trace: Trace) -> Iterator[Trace]:
    """The trace with one round of its loop, each that tells something in turn: what the others come
    to is given, as numbers, since their lines would be the answers. First comes the round in which
    what was there before shrinks most tellingly: neither to 0 nor by 1, where a wrong line may give
    the right numbers. A round on a smaller tile than the others tells less: the largest of one
    number is the number.
    """
    if len(trace.rounds) < 2:
        yield trace
        return

    def size(names: tuple[str, ...]) -> int:
        return max(trace[name].value.numel() for name in names)

    def tells(names: tuple[str, ...]) -> float:
        factors = (
            trace[name].value for name in names if isinstance(trace[name].operation, Rescale)
        )
        return max(((each * (1 - each)).max().item() for each in factors), default=0.0)

    largest_size = max(map(size, trace.rounds))
    fullest = [names for names in reversed(trace.rounds) if size(names) == largest_size]
    first, *others = sorted(fullest, key=tells, reverse=True)
    for kept in (first, *(names for names in others if tells(names))):
        yield _with_round(trace, kept)


def _with_round(trace: Trace, kept: tuple[str, ...]) -> Trace:
    left_out = {name for names in trace.rounds if names is not kept for name in names}
    new = trace.emptied()
    new.rounds = [kept]
    for name, step in trace.items():
        if name in left_out:
            continue
        for operand in step.inputs:
            if operand.name not in new:
                new.again(operand, by=Given.of(operand.value))
        new.again(step, *(new[operand.name] for operand in step.inputs))
    return new


def _beside(trace: Trace) -> set[str]:
    """The mistakes shown beside the right way, what they make, and what serves nothing else."""
    right = {_kind(step) for step in trace.values() if not is_mistake(step.operation)}
    beside: set[str] = set()
    users: dict[str, set[str]] = {name: set() for name in trace}
    for name, step in trace.items():
        is_shown = is_mistake(step.operation) and _kind(step) in right
        is_shown = is_shown or name.startswith(WRONG)
        if is_shown or any(operand.name in beside for operand in step.inputs):
            beside.add(name)
        for operand in step.inputs:
            users[operand.name].add(name)
    for name in reversed(list(trace)):
        others = (users[operand.name] - beside - {name} for operand in trace[name].inputs)
        if users[name] and users[name] <= beside and all(others):
            beside.add(name)
    return beside


def _kind(step: Step) -> type:
    """The kind of its operation: a loop is a matrix product too."""
    return type(step.operation).__mro__[-3]


def _tells_again(step: Step, other: Step) -> bool:
    """Whether a step has the numbers of another, or one row of them, or all of them turned."""
    mine, theirs = step.value, other.value
    if _kind(step) != _kind(other) or mine.dtype != theirs.dtype:
        return False
    slack = 1e-5 * largest(theirs)

    def same(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        return torch.isclose(left.double(), right.double(), rtol=0.0, atol=slack, equal_nan=True)

    if mine.ndim == theirs.ndim:
        turned = [theirs, theirs.mT] if theirs.ndim > 1 else [theirs]
        return any(mine.shape == each.shape and bool(same(mine, each).all()) for each in turned)
    if mine.ndim + 1 != theirs.ndim:
        return False
    return any(
        bool(same(row, mine).all())
        for dim in range(theirs.ndim)
        for row in theirs.unbind(dim)
        if row.shape == mine.shape
    )


def _needed(trace: Trace, wanted: Iterable[str]) -> list[Step]:
    """The steps of the exercise: what is asked for, and all that it is made from."""
    needed = {name for step in wanted for name in (step, *trace[step].earlier())}
    return [step for name, step in trace.items() if name in needed]


def _given(run) -> list[dict]:
    pairs = list(run)
    names = ", ".join(f"`{step.name}`" for step, _ in pairs)
    return [text("## Given", names), code(*(line for _, lines in pairs for line in lines))]


def _blanks(run) -> list[dict]:
    """A hint and a place to write, for each step that is asked for."""
    cells = []
    for step, (*before, _) in run:
        blank = f"    {step.name} = ...  # your line: {step.shape}"
        cells += [text(*about(step)), code(*before, f'with checked("{step.name}"):', blank)]
    return cells


def _checks(steps: list[Step], wanted: tuple[str, ...], apart: dict[str, float]) -> list[str]:
    lines = [inspect.getsource(checker).rstrip(), "", "", "checked = Checks(", "    ["]
    for step in steps:
        numbers, stride = packed(step.value, most_of(step))
        is_asked = step.name in wanted
        likely = around(step, steps) if is_asked else []
        told: dict[str, Any] = {
            "name": step.name,
            "axes": list(step.axes),
            "shape": list(step.value.shape),
            "dtype": str(step.value.dtype).removeprefix("torch."),
            "stride": stride,
            "tolerance": float(f"{max(1e-5 * largest(step.value), apart[step.name]):.2g}"),
            "asked": is_asked,
            "mistakes": [(f"{each.name}: {each.words}", each.line) for each in likely],
            "numbers": numbers,
        }
        if stride > 1:
            told["sums"], _ = packed(
                checker.block_sums(step.value, stride, told["tolerance"]).float()
            )
        lines.append(f"        {told!r},")
    return [*lines, "    ],", "    globals(),", ")"]
