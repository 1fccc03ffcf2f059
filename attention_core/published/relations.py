"""Printed results that are no tensor of a trace, but a relation between other printed numbers."""

from collections.abc import Callable

from .printed import Notebook


def _variance_ratios(printed: Notebook) -> list[float]:
    """Variance before division by √d, over the variance after it, for each printed d: (width,)."""
    return [
        printed.results[f"var_before_{width}"].values / printed.results[f"var_after_{width}"].values
        for width in printed.results["var_ratio"].values
    ]


RELATIONS: dict[str, dict[str, Callable[[Notebook], list[float]]]] = {
    "journey_123": {"var_ratio": _variance_ratios},
}
