"""A whole trace as a PyTorch program that runs by itself and gives the same tensors."""

from collections.abc import Iterator

from .operations import Draw
from .trace import Trace

OPENING = ["# A program made by Attention Explorer: every line below is one step.", "#"]
"""Python looks for an encoding in the first two lines; a title must not be taken for one."""


def program(trace: Trace, title: str = "Attention, step by step") -> str:
    """The Python source of a trace: torch alone, one line a step, and a print of every tensor.

    The title becomes the docstring; it is written as a comment, so it may hold any text.
    """
    lines = [*OPENING, *_comment(title), "", "import torch", ""]
    if any(isinstance(step.operation, Draw) for step in trace.values()):
        lines += ["generator = torch.Generator()", ""]
    lines += _steps(trace)
    lines += [
        "",
        'if __name__ == "__main__":',
        f"    for name in {list(trace)!r}:",
        "        tensor = globals()[name]",
        '        print(name, tuple(tensor.shape), tensor, sep="\\n", end="\\n\\n")',
        "",
    ]
    return "\n".join(lines)


def _comment(text: str) -> list[str]:
    lines = ("".join(filter(str.isprintable, line)) for line in text.splitlines())
    return [f"# {line}" for line in lines]


def _steps(trace: Trace) -> Iterator[str]:
    """The lines of the steps. A draw comes after the draws it follows, used here or not."""
    drawn: tuple[Draw, ...] = ()
    for step in trace.values():
        operation = step.operation
        if isinstance(operation, Draw):
            before = operation.before()
            missing = before[len(drawn) :] if before[: len(drawn)] == drawn else before
            for draw in missing:
                yield f"{draw.code()}  # drawn before, not used here"
            drawn = (*before, operation)
        yield from operation.preamble()
        comment = ", ".join(map(str, step.value.shape))
        yield f"{step.code}  # ({comment}) {' '.join(step.axes)}"
