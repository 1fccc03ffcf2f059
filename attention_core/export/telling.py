"""Whether an exercise tells right from wrong: which wrong lines its numbers let pass."""

from collections.abc import Iterable, Iterator

import torch
from torch import Tensor

from ..mistakes.lines import around
from ..mistakes.rewriting import by, rewritten
from ..operations import Draw, Given
from ..operations.stored import Stored, StoredInGguf
from ..rounding import largest, rounding
from ..trace import Step, Trace
from .checker import _far

START = "embeddings"
"""What comes before is given, where anything comes after."""
N_DRAWS = 30
"""How often numbers are drawn before the best so far are taken."""
SIZES = (1.0, 0.2, 0.05)
"""Sizes of the other numbers with which a line is tried: large scores hide what else is done."""
DRAWS = (("uniform", None), ("normal", None), ("linear", 100))
"""What is drawn, as a distribution and `fan_in`: above 0, of both signs, and small beside ε."""
_NUMBERS = (Given, Draw, Stored, StoredInGguf)


def unnoticed(trace: Trace, steps: list[Step], wanted: Iterable[str]) -> set[tuple[str, str]]:
    """The wrong lines, each with its step, of the `wanted` steps that the numbers of a trace do not
    show: of mistakes that are known, and each operand passed on as it is. `steps` are those of the
    exercise.

    A line that is right on any numbers, such as the transpose of a table that mirrors itself, is no
    mistake: each line that gives the right numbers is tried with others too.
    """
    apart = rounding(trace)
    names = _names(steps, {step.name: step.value for step in steps})
    passing = set()
    for step in (step for step in steps if step.name in wanted):
        tolerance = max(1e-5 * largest(step.value), apart[step.name])
        lines = [mistake.line for mistake in around(step, steps)]
        lines += [each.name for each in step.inputs if each.value.shape == step.value.shape]
        passing |= {
            (step.name, line) for line in lines if _is_right(line, names, step.value, tolerance)
        }
    found: set[tuple[str, str]] = set()
    for others in _other_numbers(steps) if passing else ():
        names = _names(steps, others)
        found |= {
            (name, line)
            for name, line in passing
            if not _is_right(line, names, others[name], 1e-5 * largest(others[name]))
        }
    return found


def _names(steps: list[Step], values: dict[str, Tensor]) -> dict:
    """What a line finds: the tensors, and what stands in the lines before it."""
    names = {"torch": torch, **values}
    for line in dict.fromkeys(line for step in steps for line in step.operation.preamble()):
        if "stored" not in line:  # no asked line reads a file
            exec(line, names)
    return names


def _is_right(line: str, names: dict, wanted: Tensor, tolerance: float) -> bool:
    try:
        made = eval(line, dict(names))
    except Exception:  # it stops, and so is refused
        return False
    same_kind = made.shape == wanted.shape and made.dtype == wanted.dtype
    return same_kind and not bool(_far(made, wanted, tolerance).any())


def _other_numbers(steps: list[Step]) -> Iterator[dict[str, Tensor]]:
    """The steps on other numbers of their kinds. What is no finite number stays."""
    for seed, size in enumerate(SIZES):
        generator = torch.Generator().manual_seed(seed)
        values: dict[str, Tensor] = {}
        try:
            for step in steps:
                value = step.value
                if step.inputs:
                    value = step.operation.value(*(values[operand.name] for operand in step.inputs))
                elif value.is_floating_point() and isinstance(step.operation, _NUMBERS):
                    factor = 0.5 + torch.rand(value.shape, generator=generator)
                    added = 0.1 * torch.randn(value.shape, generator=generator)
                    value = (size * (value * factor + added)).to(value.dtype)
                values[step.name] = value
        except ValueError:  # an operation that these numbers do not suit
            continue
        yield values


def variations(trace: Trace) -> Iterator[Trace]:
    """The trace as it is; then with its embeddings, and what is one number everywhere, drawn."""
    yield trace
    if START not in [*trace][:-1] or not trace[START].value.is_floating_point():
        return
    kept = {
        operand.name for names in trace.rounds for name in names for operand in trace[name].inputs
    }
    drawn = [step for step in trace.values() if step.name not in kept and _is_flat(step)]
    drawn.append(trace[START])
    for seed in range(1, N_DRAWS + 1):
        kind, fan_in = DRAWS[seed % len(DRAWS)]
        draws = {
            step.name: Draw(kind, tuple(step.value.shape), 1_000 * seed + at, fan_in=fan_in)
            for at, step in enumerate(drawn)
        }
        nothing = {name: by(draw, of=lambda *_: ()) for name, draw in draws.items()}
        varied = rewritten(trace, nothing)
        varied.rounds = list(trace.rounds)
        yield varied


def _is_flat(step: Step) -> bool:
    value = step.value
    is_given = isinstance(step.operation, Given) and value.is_floating_point()
    return is_given and value.numel() > 1 and bool((value == value.flatten()[0]).all())
