"""The decoder layer of `sorry_dave`, repaired, beside what it did."""

from ..asked import answers
from ..operations import Draw, Transpose
from ..recipes import ROLES
from ..trace import Step, Trace
from .block import BlockOptions, add_block
from .options import Options
from .token_axis import decode
from .trainable import last_draw

REPAIRED = "repaired_"
"""What the names of the repaired layer's steps begin with."""


@answers
def decode_beside(trace: Trace, n_heads: int = 2) -> Trace:
    """Add the notebook's decoder layer, as `decode` does, and beside it the same layer repaired.

    Both read the same `embeddings` (token, d_in), as the target and as the source. What the
    notebook drew is used again wherever it fits: both W_output, and the two linear layers. What is
    repaired:

    - Projections: W_query, W_key and W_value (d_in, d_queries) stand on the right, so that no token
      is mixed with others, and the sentence may have any length. They are drawn anew.
    - A causal mask in the self-attention, and scores divided by √d.
    - Layer norms of each token's vector by itself, not of the whole matrix.
    - Cross-attention: the stream asks, and the source answers with both keys and values.
    - The rectifier between the two linear layers, a residual around them, and a norm behind it.

    The notebook's output is `decoded` (query, d_in), the repaired one `repaired_output`
    (token, d_in); the steps of that layer are those of `add_block` with `repaired_` before their
    names. Returns the same trace.
    """
    decode(trace, n_heads)
    stream = trace["embeddings"]
    if not trace.has_axis("other_key"):
        trace.label("other_key", trace.labels("token"))
    d_in = stream.value.shape[-1]
    made: dict[str, Step] = {}
    for own, theirs in (("", "self_"), ("cross_", "cross_")):
        for role in ROLES:
            name, width = f"{own}W_{role}", "d_concat" if role == "value" else "d_queries"
            draw = Draw("linear", (d_in, n_heads * d_in), after=last_draw(trace), fan_in=d_in)
            made[name] = trace.step(f"{REPAIRED}{name}", draw, axes=("d_in", width))
        made[f"{own}W_output"] = trace[f"{theirs}W_output"]
    for at in (1, 2):
        upright = trace[f"linear_{at}_matrix"]
        axes = upright.axes[::-1]
        made[f"W_{at}"] = trace.step(f"{REPAIRED}W_{at}", Transpose(), upright, axes=axes)
        made[f"b_{at}"] = trace[f"linear_{at}_bias"]
    shape, causal = BlockOptions(n_heads), Options(causal=True)
    add_block(trace, stream, made, shape, causal, stream, Options(), REPAIRED)
    return trace
