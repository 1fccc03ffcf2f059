"""Mistakes around attention in a block: layer norm, its gain and bias, and activations."""

from .. import operations as ops
from ..operations.base import written
from .base import wrong_lines

RULE = "each row is normalised alone."


@wrong_lines.register
def _(step: ops.Standardise, vectors: str, mean: str, variance: str) -> str:
    centred, epsilon = f"({vectors} - {mean})", written(step.epsilon)
    found = f"""
    divide by its root.
        {centred} / ({variance} + {epsilon})  # divided by the variance
        {centred} / {variance}  # divided by the variance
    {RULE} layer_norm takes the lengths of the last axes: {vectors}.shape[-1:].
        torch.nn.functional.layer_norm({vectors}, {vectors}.shape, eps={epsilon}) \
            # the whole matrix at once
    take {mean} away first.
        {vectors} / ({variance} + {epsilon}).sqrt()  # the mean is still in it
    divide by the root of {variance}.
        {vectors} - {mean}  # not divided"""
    if not step.epsilon:
        return found
    return f"""{found}
    add {epsilon} to {variance}, so that equal numbers do not divide by 0.
        {centred} / {variance}.sqrt()  # ε is forgotten
    add it to the variance, and take the root of both.
        {centred} / ({variance}.sqrt() + {epsilon})  # ε outside of the root"""


@wrong_lines.register
def _(_: ops.ScaleShift, vectors: str, gain: str, *bias: str) -> str:
    if not bias:
        return f"write *.\n{vectors} + {gain}  # added, not multiplied"
    return f"""
    add {bias[0]}.
        {vectors} * {gain}  # the bias is forgotten
    multiply by {gain}.
        {vectors} + {bias[0]}  # the gain is forgotten
    multiply by {gain}, then add {bias[0]}.
        {vectors} * {bias[0]} + {gain}  # gain and bias have changed places"""


@wrong_lines.register
def _(_: ops.LayerNorm, vectors: str) -> str:
    centred = f"({vectors} - {vectors}.mean(-1, keepdim=True))"
    return f"""
    {RULE}
        {ops.LayerNorm(whole=True).code(vectors)}  # the whole matrix at once
        {ops.LayerNorm().code(f"{vectors}.mT")}.mT  # the wrong axis
    divide by its root.
        {centred} / {vectors}.var(-1, correction=0, keepdim=True)  # divided by the variance"""


@wrong_lines.register
def _(_: ops.ReLU, vectors: str) -> str:
    return f"""
    negative numbers become 0, and the others stay.
        {vectors}  # ReLU is forgotten
        {vectors}.abs()  # absolute values
        {vectors}.clamp(max=0)  # the wrong way round
        {ops.GELU().code(vectors)}  # GELU in place of ReLU"""


@wrong_lines.register
def _(step: ops.GELU, vectors: str) -> str:
    other, asked = ("erf", "tanh") if step.tanh else ("tanh", "erf")
    words = "each number times the chance that a standard normal draw is smaller."
    return f"""
    {words}
        {vectors}  # GELU is forgotten
        torch.relu({vectors})  # ReLU in place of GELU
    the two differ in the fourth digit: {asked} is asked for here.
        {ops.GELU(tanh=not step.tanh).code(vectors)}  # GELU by {other}
    {words}
        {vectors} * torch.sigmoid({vectors})  # a sigmoid without the factor 1.702"""
