"""One token's vector on its way through the block: its stations, and what is added between them."""

from torch import Tensor

from attention_core.mechanism.residual import contributions
from attention_core.operations import Add, ScaleShift
from attention_core.rounding import largest, to_within
from attention_core.text.tokenizers import visible
from attention_core.trace import Step, Trace

from ...charts.chart import Chart
from ...picture.matrix import Matrix, names_of
from ...words import listed, number
from .lesson import added_by
from .ribbons import Reach, Station, stream

CALLED = {
    "embeddings": ("what came in", "in"),
    "attention_output": ("attention", "att."),
    "cross_output": ("cross-attention", "cross"),
    "feed_forward_output": ("feed-forward", "feed-f."),
    "biases": ("biases of the norms", "bias"),
}
"""What the parts of a stream are called, in words and in brief."""

FEW = 4
"""So many stations have room for long names."""


def parts_of(trace: Trace, token: int) -> dict[str, Tensor]:
    """What each part brought to a token's output (d_in,), in float64; norms' biases are one."""
    found: dict[str, Tensor] = {}
    for name, brought in contributions(trace, token).items():
        part = name.removeprefix("dropped_")
        if part.endswith("_norm_bias"):
            part = "biases"
            if not brought.any():
                continue
        part = part if part in CALLED else "embeddings"
        found[part] = found[part] + brought if part in found else brought
    return found


def walk(trace: Trace) -> list[Step]:
    """The steps of the stream from `embeddings` to `output`: sums, and norms in its way."""
    step, found = trace["output"], []
    while step.name != "embeddings":
        found.append(step)
        is_norm = isinstance(step.operation, ScaleShift)
        step = step.inputs[0].inputs[0] if is_norm else step.inputs[0]
    return [step, *reversed(found)]


def ribbons(trace: Trace, token: int) -> Chart:
    """The stream of one token as a chart."""
    steps = walk(trace)
    roomy, between = len(steps) <= FEW, steps[1:-1]
    stations = [
        Station("comes in", "in", _row(steps[0], token)),
        *(Station(_after(step, roomy), _after(step, False), _row(step, token)) for step in between),
        Station("goes out", "out", _row(steps[-1], token)),
    ]
    reaches = [_reach(step, token, is_short=len(steps) < FEW) for step in steps[1:]]
    lanes = names_of(trace, "d_in")
    return stream(lanes, stations, reaches, sums_of(trace, token), words_of(trace, token))


def _after(step: Step, roomy: bool) -> str:
    if not isinstance(step.operation, Add):
        return "normed"
    return f"after {CALLED[_part(step)][0]}" if roomy else "sum"


def _row(step: Step, token: int) -> list[float]:
    return step.value[token].double().tolist()


def _reach(step: Step, token: int, is_short: bool) -> Reach:
    if isinstance(step.operation, Add):
        name, short = CALLED[_part(step)]
        short = name if is_short else short
        return Reach(f"+ {name}", f"+ {short}", _row(step.inputs[1], token))
    _, mean, variance = step.inputs[0].inputs
    deviation = variance.value[token].add(step.inputs[0].operation.epsilon).sqrt().item()
    off = mean.value[token].item()
    sign = "+" if off < 0 else "−"
    return Reach("norm", "norm", told=f"{sign} {number(abs(off), 2)}, ÷ {number(deviation, 2)}")


def sums_of(trace: Trace, token: int) -> list[str]:
    """What each entry is made of: `mood: what came in 0.31 + attention −0.12 = 0.19`."""
    parts = parts_of(trace, token)
    output = trace["output"].value[token].tolist()
    begins = ", what the norms left" if is_rescaled(trace) else ""

    def sum_of(at: int) -> str:
        told = [f"{CALLED[part][0]} {number(each[at].item(), 2)}" for part, each in parts.items()]
        return f"{' + '.join(told)} = {number(output[at], 2)}"

    return [f"{name}{begins}: {sum_of(at)}" for at, name in enumerate(names_of(trace, "d_in"))]


def words_of(trace: Trace, token: int) -> str:
    """The picture in words, for who cannot see it."""
    called = visible(trace.labels("token")[token])
    way = [
        "norm" if not isinstance(step.operation, Add) else CALLED[_part(step)][0]
        for step in walk(trace)[1:]
    ]
    shown = sums_of(trace, token)[:8]
    return f"The stream of “{called}”, from left to right: {listed(way)}. {'; '.join(shown)}."


def _part(step: Step) -> str:
    return step.inputs[1].name.removeprefix("dropped_")


def adds_up(trace: Trace) -> tuple[bool, str]:
    """Whether the parts of every token add up to its output, with the largest deviation."""
    output = trace["output"].value
    gaps = [
        (sum(parts_of(trace, token).values()) - output[token].double()).abs().max().item()
        for token in range(len(output))
    ]
    off = max(gaps)
    told = "What came in and what was added sum to what goes out"
    if is_rescaled(trace):
        told = (
            "Each number that goes out is a sum of shares: what the norms left of what came in, "
            "and of what each part added"
        )
    return off <= 1e-5 * max(1.0, largest(output)), (
        f"{told}, for every token and every entry, {to_within(off)}."
    )


def is_rescaled(trace: Trace) -> bool:
    """Whether norms stand in the way of the stream."""
    return any(isinstance(step.operation, ScaleShift) for step in walk(trace))


def written_out(trace: Trace, token: int) -> list[Matrix | str]:
    """One token's sum, a row for each part; a double arrow is a norm of several steps."""

    def row(step: Step) -> Matrix:
        return Matrix(step, rows=(token,))

    steps = walk(trace)
    parts: list[Matrix | str] = [row(steps[0])]
    for step in steps[1:]:
        is_sum = isinstance(step.operation, Add)
        parts += ["+", row(step.inputs[1]), "=", row(step)] if is_sum else ["↠", row(step)]
    return parts


def widened(trace: Trace, token: int) -> list[Matrix | str]:
    """One token's feed-forward: what it reads, hidden numbers, what is left, and back."""
    step, way = added_by(trace, "feed_forward"), []
    begins = trace["hidden"].inputs[0]
    while step is not begins:  # by way of what dropout leaves, where there is any
        way += [Matrix(step, rows=(token,)), "→"]
        step = step.inputs[0]
    return [Matrix(step, rows=(token,)), *reversed(way)]
