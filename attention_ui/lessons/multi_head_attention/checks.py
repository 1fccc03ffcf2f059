"""What the lesson on several heads checks: three ways, a sum, PyTorch's own layer."""

import torch
from torch import Tensor

from attention_core.mechanism.attention import scale_of
from attention_core.mechanism.multi_head import torch_output, torch_width
from attention_core.rounding import agree, difference, to_within
from attention_core.trace import Trace

from ...frame.lights import agreement
from ...words import capital, word_at


def sum_agrees(trace: Trace) -> tuple[bool, str]:
    """The light for the output as a sum over heads."""
    pairs = [(trace["output_from_heads"].value, trace["output"].value)]
    return agreement("The sum over heads is `concat @ W_output`", pairs, (trace, "output"))


def torch_agrees(trace: Trace) -> tuple[bool, str]:
    """The light for PyTorch's own layer, loaded with the matrices above."""
    return agreement(
        "`torch.nn.MultiheadAttention`, loaded with these matrices, gives the same output",
        [(torch_output(trace), trace["output"].value)],
        (trace, "output"),
    )


def torch_words(trace: Trace) -> str:
    """What was done to load matrices into PyTorch's layer of one width; '' where they fit."""
    wide, n_heads = torch_width(trace), trace.size("head")
    d_head, d_value = (trace[f"head_W_{role}"].value.shape[-1] for role in ("query", "value"))
    sizes = {trace.size("d_in"), trace["W_output"].value.shape[-1]}
    if {d_head, d_value} == {wide} and sizes == {n_heads * wide}:
        return ""
    words = (
        f"That layer has one width for everything, here {n_heads} × {wide}. So the matrices were "
        "padded with zeros, which changes no result"
    )
    if d_head != wide or scale_of(trace, "head_") != "sqrt_d":
        words += f", and `W_query` was scaled, because that layer divides by √{wide}"
    return f"{words}."


def lost_agrees(trace: Trace, without: Trace, head: int) -> tuple[bool, str]:
    """The light for a head switched off: what is lost is what it gave, and nothing else."""
    lost = without["output_lost"].value
    pairs = [(lost, trace["head_outputs"].value[head])]
    most = int(lost.norm(dim=-1).argmax())
    loses = capital(word_at(trace.labels(without["output_lost"].axes[0]), most))
    good = agree(pairs, (trace, "head_outputs"), (without, "output_lost"))
    return good, (
        f"Lost: `head_outputs[{head}]`, and nothing else ({to_within(difference(pairs))}). "
        f"{loses} loses most: a vector of length {lost[most].norm():.2f}."
    )


def are_right(trace: Trace, made: str) -> Tensor:
    """Which rows of a split (head, row) hold what they should, by where each number comes from."""
    joined = trace["joined_queries"].value
    numbered = torch.arange(joined.numel()).reshape(joined.shape)
    rows, meant = (trace[each].operation.value(numbered) for each in (made, "split_queries"))
    return (rows == meant).all(dim=-1)


def rows_right(trace: Trace, made: str) -> tuple[bool, str]:
    """The light for a split: how many rows of all heads hold what they should."""
    is_right = are_right(trace, made)
    right, total = int(is_right.sum()), is_right.numel()
    mixes_nothing = made != "split_queries" and right == total
    return right == total, (
        f"{right} of {total} rows, in all heads, hold what they should."
        + (" With one head, or one token, there is nothing to mix up." if mixes_nothing else "")
    )
