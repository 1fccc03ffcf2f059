"""Layer norm by its numbers: mean 0 and variance 1 in every row, whatever its length was."""

from torch import Tensor

from attention_core.rounding import to_within
from attention_core.trace import Step, Trace

from ...cards.common_questions import one_of
from ...cards.questions import Pick
from ...picture.equation_parts import Parts, equation_of
from ...picture.matrix import Matrix
from ...words import number

LONGER = 4.0
"""So many times as long the question makes a vector."""
WAYS = {
    "Its numbers become four times as large": LONGER,
    "Its numbers become twice as large": LONGER**0.5,
    "It stays the same, except for a tiny change due to ε": 1.0,
    "Its numbers become a quarter as large": 1 / LONGER,
}
"""What could become of a standardised vector, and the factor that this is."""
LEAST = 1e-3
"""Below this variance ε is no longer small beside it, and there is no simple answer."""
OFF = 1e-4


def learned(trace: Trace, token: int) -> Parts:
    """A token's standardised row times the gain of each column, plus its bias."""
    normed = trace["attention_normed"]
    standardised, gain, bias = normed.inputs
    drawn = [Matrix(each, rows=(token,)) for each in (standardised, normed)]
    drawn += [Matrix(each, transposed=True) for each in (gain, bias)]
    return equation_of(normed, drawn=drawn)


def every_row_is_standard(trace: Trace) -> tuple[bool, str]:
    """Whether every row of every norm has mean 0 and variance 1, with the largest deviations."""
    rows = [step for name, step in trace.items() if name.endswith("_norm_standardised")]
    mean = max(step.value.mean(dim=-1).abs().max().item() for step in rows)
    apart = max((_variance(step.value) - _wanted(step)).abs().max().item() for step in rows)
    most = max((1 - _variance(step.value)).abs().max().item() for step in rows)
    good = mean < OFF and apart < OFF
    told = f"Every row that a layer norm gives has mean 0 ({to_within(mean)}) and variance 1"
    if most <= OFF:
        return good, f"{told} ({to_within(most)})."
    return good, f"{told}, but for rows of nearly equal numbers: what is left of these is ε’s."


def _variance(rows: Tensor) -> Tensor:
    return rows.var(dim=-1, correction=0)


def _wanted(step: Step) -> Tensor:
    """The variance that ε leaves of 1."""
    variance = step.inputs[2].value[..., 0]
    return variance / (variance + step.operation.epsilon)


def of_factor(trace: Trace, token: int) -> list[Matrix | str]:
    """The row of a token that was stretched, its mean and variance, and what is left of it."""

    def row(name: str, title: str) -> Matrix:
        return Matrix(trace[f"stretched_{name}"], rows=(token,), title=title)

    return [
        row("embeddings", "vector × factor"),
        *("−", row("mean", "mean")),
        *("÷ √", row("variance", "variance")),
        *("=", row("standardised", "standardised")),
    ]


def longer_question(trace: Trace, row: int) -> Pick | None:
    """What becomes of a token's standardised vector, stretched by LONGER; None where ε decides."""
    if trace["variance"].value[row, 0] < LEAST:
        return None
    before, after = (trace[f"{each}standardised"].value[row] for each in ("", "stretched_"))
    factor = (after.norm() / before.norm()).item()
    choices = list(WAYS)
    right = min(range(len(choices)), key=lambda at: abs(WAYS[choices[at]] - factor))
    apart = (after - before).abs().max().item()
    return one_of(
        "Make the vector of your token four times as long. What happens to its standardised "
        "version?",
        choices,
        right,
        f"{choices[right]}: no number of it moves by more than {number(apart)}.",
        teaches="Its mean and its standard deviation become four times as large too: the mean is "
        "subtracted and the deviation divided out. So the next part's input keeps its size, "
        "however much was added.",
    )


def stays_words(trace: Trace, token: int) -> str:
    """How far the two standardised versions are apart."""
    before, after = (trace[f"{each}standardised"].value[token] for each in ("", "stretched_"))
    apart = (after - before).abs().max().item()
    return (
        "Made four times as long, the vector keeps its standardised numbers to within "
        f"{number(apart)}. The difference comes from ε, 0.00001, which keeps a row of equal "
        "numbers from being divided by 0. A factor below 0 flips every sign."
    )
