"""A whole trace as a PyTorch program that runs by itself and gives the same tensors."""

import io
from collections.abc import Iterable, Iterator

import torch

from ..operations import Draw
from ..trace import Step, Trace
from ..utils.validation import validated

OPENING = ["# A program made by Attention Explorer: every line below is one step.", "#"]
"""Python looks for an encoding in the first two lines; a title must not be taken for one."""


@validated
def program(trace: Trace, title: str = "Attention, step by step") -> str:
    """The Python source of a trace: one line a step, and a print of every tensor. It needs torch,
    and what reads a file where a step is read from one.

    The title becomes the docstring; it is written as a comment, so it may hold any text.
    """
    lines = [*OPENING, *comment(title), *components(trace), "", *imports(trace.values()), ""]
    for _, its_lines in lines_of(trace.values()):
        lines += its_lines
    lines += [
        "",
        'if __name__ == "__main__":',
        f"    for name in {list(trace)!r}:",
        "        tensor = globals()[name]",
        '        print(name, tuple(tensor.shape), tensor, sep="\\n", end="\\n\\n")',
        "",
    ]
    return "\n".join(lines)


@validated
def tensors(trace: Trace) -> bytes:
    """All tensors of a trace as one file; `torch.load(path, weights_only=True)` gives a dict."""
    file = io.BytesIO()
    torch.save({name: step.value for name, step in trace.items()}, file)
    return file.getvalue()


def comment(text: str) -> list[str]:
    """Any text as lines that Python does not read."""
    lines = ("".join(filter(str.isprintable, line)) for line in text.splitlines())
    return [f"# {line}" for line in lines]


def components(trace: Trace) -> list[str]:
    """What the components of vectors mean, as lines that Python does not read."""
    named = trace.components().items()
    return comment("\n".join(f"{axis}: {', '.join(names)}" for axis, names in named))


def imports(steps: Iterable[Step]) -> list[str]:
    """The lines that come before all steps."""
    steps = tuple(steps)
    made = {type(step.operation) for step in steps}
    reads = [line for kind in sorted(made, key=str) for line in kind.imports]
    draws = ["", "generator = torch.Generator()"] if Draw in made else []
    each = dict.fromkeys(step.operation.constants() for step in steps)
    return ["import torch", *reads, *[line for lines in each for line in lines], *draws]


def lines_of(steps: Iterable[Step]) -> Iterator[tuple[Step, list[str]]]:
    """Each step with its lines, after what it is made of; a draw after the draws it follows."""
    drawn: tuple[Draw, ...] = ()
    for step in steps:
        operation, lines = step.operation, []
        if isinstance(operation, Draw):
            before = operation.before()
            missing = before[len(drawn) :] if before[: len(drawn)] == drawn else before
            lines += [f"{draw.code()}  # drawn before, not used here" for draw in missing]
            drawn = (*before, operation)
        shape = ", ".join(map(str, step.value.shape))
        own = f"{step.code}  # ({shape}) {' '.join(step.axes)}"
        yield step, [*lines, *operation.preamble(), own]
