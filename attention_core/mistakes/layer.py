"""A whole small layer, done right: what the mistakes of the lab are switched on in."""

from dataclasses import replace
from functools import lru_cache

from ..gradients import backward
from ..lights.of_trace.again import START
from ..mechanism.multi_head import attend_heads
from ..mechanism.trainable import last_draw
from ..operations import Draw, LayerNorm, MatMul, ReLU, Square, SumLast
from ..recipes import ROLES, HeadsRecipe
from ..text.embedding import embed
from ..text.inputs import Inputs
from ..trace import Step, Trace

WIDER = 2
"""How many times as wide the feed-forward part is inside."""


def right_inputs(inputs: Inputs) -> Inputs:
    """The same text with ids from a list of its distinct tokens, where its own are a mistake.

    They are looked up in the text itself: another may lack tokens that random ids do not look up.
    """
    wrong = inputs.vocabulary in ("duplicates", "random")
    own = {"vocabulary": "distinct", "learned_from": None}
    return inputs.with_other_table(**own) if wrong else inputs


def layer(inputs: Inputs, recipe: HeadsRecipe) -> Trace:
    """Causal attention of several heads, a layer norm, and two linear layers, as a trace.

    The steps of `embed` and `attend_heads`, then `normed` (query, d_model), `W_in`
    (d_model, d_hidden), `hidden`, `rectified` (query, d_hidden), `W_out` (d_hidden, d_model) and
    `layer_output` (query, d_model). Scores are divided by √d and hidden with −∞, whatever the
    recipe says: this one is right. Raises ValueError as `embed` does.
    """
    settled = replace(
        recipe, causal=True, scale="sqrt_d", temperature=1.0, normalise="softmax", dropout=0.0
    )
    trace = attend_heads(embed(inputs), settled)
    axes = ("query", "d_model")
    normed = trace.step("normed", LayerNorm(), trace["output"], axes=axes)
    d_model = settled.d_model
    hidden = _linear(trace, "W_in", "hidden", normed, ("d_model", "d_hidden"), WIDER * d_model)
    rectified = trace.step("rectified", ReLU(), hidden, axes=hidden.axes)
    _linear(trace, "W_out", "layer_output", rectified, ("d_hidden", "d_model"), d_model)
    return trace


@lru_cache(maxsize=2)
def right_layer(inputs: Inputs, recipe: HeadsRecipe, learns: bool = False) -> Trace:
    """The layer done right, with a backward pass where it `learns`; nobody's to change."""
    made = layer(right_inputs(inputs), recipe)
    return with_backward(made) if learns else made


def with_backward(trace: Trace) -> Trace:
    """The layer with a backward pass from `lengths`, squared, of the output vectors."""
    squares = trace.step("output_squares", Square(), trace["output"], axes=trace["output"].axes)
    lengths = trace.step("lengths", SumLast(), squares, axes=("query",))
    trace.step("loss", SumLast(), lengths, axes=())
    return backward(trace, "loss", (START, *(f"head_W_{role}" for role in ROLES)))


def _linear(
    trace: Trace, matrix: str, name: str, vectors: Step, axes: tuple[str, str], n_columns: int
) -> Step:
    """A linear layer without bias, drawn behind the last draw of the trace."""
    d_in = vectors.value.shape[-1]
    drawn = trace.step(matrix, next_draw(trace, (d_in, n_columns), d_in), axes=axes)
    return trace.step(name, MatMul(), vectors, drawn, axes=("query", axes[1]))


def next_draw(trace: Trace, shape: tuple[int, ...], fan_in: int, call: int = 0) -> Draw:
    """A matrix as `torch.nn.Linear` starts, after a trace's last draw; `call` came before it."""
    last = last_draw(trace)
    for _ in range(call + 1):
        start = {"seed": 0} if last is None else {"after": last}
        last = Draw("linear", shape, **start, fan_in=fan_in)
    return last
