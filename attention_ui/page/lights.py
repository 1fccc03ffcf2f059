"""What the lights say of a trace on a page of the older kind."""

from torch import Tensor

from attention_core.lights.of_trace import lights, one_light
from attention_core.trace import Trace

from ..frame.lights import as_taught, draw_lights
from .show import folded
from .view import View


def sums_verdict(trace: Trace, output: str) -> tuple[bool, str]:
    """Whether every row of the weights that an output is made with sums to 1, in words."""
    found = one_light(trace, "rows_sum_to_1", _mask(trace), output)
    return found.holds is not False, f"{found.title}. {found.evidence}"


def show_checks(view: View, output: str) -> None:
    """Folded away: every property that can be measured on the way to an output."""
    with folded("What holds of this attention", "checks", ":material/fact_check:") as is_open:
        if is_open:
            found = lights(view.trace, _mask(view.trace), output=output)
            draw_lights([as_taught(each, view.page) for each in found if each.holds is not None])


def _mask(trace: Trace) -> Tensor | None:
    return trace["mask"].value if "mask" in trace else None
