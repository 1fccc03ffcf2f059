"""Whether the tiles come to the same context vectors as the plain way, and as torch."""

import torch
from torch.nn.functional import scaled_dot_product_attention

from attention_core.mechanism.attention import scale_of
from attention_core.rounding import agree, difference
from attention_core.trace import Trace

from .building import contexts


def same_as_plain(whole: Trace, plain: Trace) -> tuple[bool, str]:
    """Whether all blocks together are what the whole table gives, with the largest difference."""
    return _compared(whole, plain, plain["context_vectors"].value, "the whole table of weights")


def same_as_torch(whole: Trace, plain: Trace) -> tuple[bool, str]:
    """The same compared with `scaled_dot_product_attention`."""
    queries, keys, values = (plain[name].value for name in ("queries", "keys", "values"))
    width = keys.shape[-1]
    scale = {"none": 1.0, "sqrt_d": width**-0.5, "d": 1 / width}[scale_of(plain)]
    made = scaled_dot_product_attention(
        queries, keys, values, is_causal="mask" in plain, scale=scale
    )
    return _compared(whole, plain, made, "`torch.nn.functional.scaled_dot_product_attention`")


def _compared(whole: Trace, plain: Trace, wanted: torch.Tensor, called: str) -> tuple[bool, str]:
    pairs = [(torch.cat([step.value for step in contexts(whole)]), wanted)]
    made = [(whole, step.name) for step in contexts(whole)]
    good = agree(pairs, (plain, "context_vectors"), *made)
    words = f"Compared with {called}: largest difference {difference(pairs):.1g}"
    return good, f"{words}, which is rounding." if good else f"{words}."
