"""What the steps of every lesson's trace are, in a file that `python tests/steps_of_lessons.py`
writes anew: look at what differs.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from attention_core.trace import Meaning, Trace
from attention_ui.controls.shared import FIRST
from attention_ui.frame.contents import LESSONS
from attention_ui.reactive.control import understood
from serving import ROOT
from visiting import lesson_module

STEPS = ROOT / "tests" / "steps_of_lessons.txt"
NAMES = [each.name for each in LESSONS if each.name != "real_model"]
"""But for one, whose sizes are those of the model that is installed."""


def steps_of(trace: Trace) -> list[str]:
    """A line a step: its axes and sizes, the operation and what that takes, and what it means."""
    lines = []
    for step in trace.values():
        axes = ", ".join(f"{axis} {n}" for axis, n in zip(step.axes, step.value.shape, strict=True))
        taken = ", ".join(each.name for each in step.inputs)
        of = f" of {taken}" if taken else ""
        means = "" if step.meaning is Meaning.NUMBERS else f": {step.meaning.name.lower()}"
        lines.append(f"{step.name} ({axes}): {type(step.operation).__name__}{of}{means}")
    return lines


def steps_of_lesson(name: str) -> list[str]:
    """The steps of a lesson as its page opens with the first example."""
    module = lesson_module(name)
    values, _ = understood({"example": FIRST}, module.CONTROLS)
    return steps_of(module.trace_of(values))


def known() -> dict[str, list[str]]:
    """The lines of each lesson, as the file has them."""
    parts = STEPS.read_text(encoding="utf-8").split("\n\n")
    return {part.partition("\n")[0]: part.splitlines()[1:] for part in parts}


if __name__ == "__main__":
    told = ("\n".join([name, *steps_of_lesson(name)]) for name in NAMES)
    STEPS.write_text("\n\n".join(told) + "\n", encoding="utf-8")
