"""Mistakes around attention in a block: layer norm, its gain and bias, and activations."""

from .. import operations as ops
from ..operations.given import written
from .base import Mistake, mistakes

RULE = "each row is normalised alone."
ROWS = "each row by itself: dim=-1, keepdim=True."


@mistakes.register
def _(_: ops.RowMean, vectors: str) -> tuple[Mistake, ...]:
    return (
        Mistake("one mean of the whole matrix", ROWS, f"{vectors}.mean()"),
        Mistake("over the tokens, not over the entries", ROWS, f"{vectors}.mean(-2, keepdim=True)"),
        Mistake("the axis is gone", "keep it: keepdim=True.", f"{vectors}.mean(dim=-1)"),
        Mistake("a sum in place of a mean", "take the mean.", f"{vectors}.sum(-1, keepdim=True)"),
    )


@mistakes.register
def _(_: ops.RowVariance, vectors: str, mean: str) -> tuple[Mistake, ...]:
    return (
        Mistake(
            "divided by d − 1",
            "layer norm divides by d, all entries: correction=0.",
            f"{vectors}.var(dim=-1, keepdim=True)",
        ),
        Mistake("one variance of the whole matrix", ROWS, f"{vectors}.var(correction=0)"),
        Mistake(
            "over the tokens, not over the entries",
            ROWS,
            f"{vectors}.var(-2, correction=0, keepdim=True)",
        ),
        Mistake(
            "the standard deviation",
            "the root comes in the next step.",
            f"{vectors}.std(-1, correction=0, keepdim=True)",
        ),
        Mistake(
            "the mean is still in it",
            f"take {mean} away before you square.",
            f"{vectors}.square().mean(-1, keepdim=True)",
        ),
        Mistake(
            "distances that are not squared",
            "square them: else those below the mean and those above it cancel.",
            f"({vectors} - {mean}).mean(-1, keepdim=True)",
        ),
        Mistake(
            "added, not averaged",
            "take the mean of the squares.",
            f"({vectors} - {mean}).square().sum(-1, keepdim=True)",
        ),
    )


@mistakes.register
def _(step: ops.Standardise, vectors: str, mean: str, variance: str) -> tuple[Mistake, ...]:
    centred, epsilon = f"({vectors} - {mean})", written(step.epsilon)
    found = [
        Mistake(
            "divided by the variance",
            "divide by its root.",
            f"{centred} / ({variance} + {epsilon})",
        ),
        Mistake("divided by the variance", "divide by its root.", f"{centred} / {variance}"),
        Mistake(
            "the whole matrix at once",
            f"{RULE} layer_norm takes the lengths of the last axes: {vectors}.shape[-1:].",
            f"torch.nn.functional.layer_norm({vectors}, {vectors}.shape, eps={epsilon})",
        ),
        Mistake(
            "the mean is still in it",
            f"take {mean} away first.",
            f"{vectors} / ({variance} + {epsilon}).sqrt()",
        ),
        Mistake(
            "not divided",
            f"divide by the root of {variance}.",
            f"{vectors} - {mean}",
        ),
    ]
    if step.epsilon:
        found += [
            Mistake(
                "ε is forgotten",
                f"add {epsilon} to {variance}, so that equal numbers do not divide by 0.",
                f"{centred} / {variance}.sqrt()",
            ),
            Mistake(
                "ε outside of the root",
                "add it to the variance, and take the root of both.",
                f"{centred} / ({variance}.sqrt() + {epsilon})",
            ),
        ]
    return tuple(found)


@mistakes.register
def _(_: ops.ScaleShift, vectors: str, gain: str, *bias: str) -> tuple[Mistake, ...]:
    if not bias:
        return (Mistake("added, not multiplied", "write *.", f"{vectors} + {gain}"),)
    return (
        Mistake("the bias is forgotten", f"add {bias[0]}.", f"{vectors} * {gain}"),
        Mistake("the gain is forgotten", f"multiply by {gain}.", f"{vectors} + {bias[0]}"),
        Mistake(
            "gain and bias have changed places",
            f"multiply by {gain}, then add {bias[0]}.",
            f"{vectors} * {bias[0]} + {gain}",
        ),
    )


@mistakes.register
def _(_: ops.LayerNorm, vectors: str) -> tuple[Mistake, ...]:
    centred = f"({vectors} - {vectors}.mean(-1, keepdim=True))"
    variance = f"{vectors}.var(-1, correction=0, keepdim=True)"
    return (
        Mistake("the whole matrix at once", RULE, ops.LayerNorm(whole=True).code(vectors)),
        Mistake("the wrong axis", RULE, ops.LayerNorm().code(f"{vectors}.mT") + ".mT"),
        Mistake("divided by the variance", "divide by its root.", f"{centred} / {variance}"),
    )


@mistakes.register
def _(_: ops.ReLU, vectors: str) -> tuple[Mistake, ...]:
    words = "negative numbers become 0, and the others stay."
    return (
        Mistake("ReLU is forgotten", words, vectors),
        Mistake("absolute values", words, f"{vectors}.abs()"),
        Mistake("the wrong way round", words, f"{vectors}.clamp(max=0)"),
        Mistake("GELU in place of ReLU", words, ops.GELU().code(vectors)),
    )


@mistakes.register
def _(step: ops.GELU, vectors: str) -> tuple[Mistake, ...]:
    other, asked = ("erf", "tanh") if step.tanh else ("tanh", "erf")
    words = "each number times the chance that a standard normal draw is smaller."
    return (
        Mistake("GELU is forgotten", words, vectors),
        Mistake("ReLU in place of GELU", words, f"torch.relu({vectors})"),
        Mistake(
            f"GELU by {other}",
            f"the two differ in the fourth digit: {asked} is asked for here.",
            ops.GELU(tanh=not step.tanh).code(vectors),
        ),
        Mistake(
            "a sigmoid without the factor 1.702",
            words,
            f"{vectors} * torch.sigmoid({vectors})",
        ),
    )
