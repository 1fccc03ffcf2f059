"""Multi-head attention: several attentions side by side, joined, and mixed by W_output."""

import torch
from torch import Tensor

from .. import operations as ops
from ..recipes import CAUSAL, HEADS, PLURAL, ROLES, GivenHeads, HeadsRecipe
from ..trace import JOINED, Step, Trace
from ..utils.validation import validated
from .attention import attention, divisor_of
from .builder import project, times
from .masking import mask_of
from .own_tensors import Vectors, trace_of
from .trainable import last_draw


@validated
def attend_heads(
    trace: Vectors,
    recipe: HeadsRecipe = HEADS,
    softmax_dim: int = -1,
    joined: bool = True,
    mixes: bool = True,
) -> Trace:
    """Add multi-head self-attention to a trace that has `embeddings` (token, d_in).

    Steps: for each of query, key, value `W_query` (d_in, d_queries) and `head_W_query`
    (head, d_in, d_head), one made from the other; `head_queries` (head, query, d_head),
    `head_keys`, `head_values`; `mask` if causal; the steps of `attention` with `head_` before each
    name; and, if `joined`, `concat` (query, d_concat), `W_output` (d_concat, d_model), `output`
    (query, d_model). With `mixes` off, `W_output` is the identity, and the output the joined heads,
    cut off or filled up with 0 to the width of the output. Returns the same trace.

    Source: Vaswani et al. 2017, Attention Is All You Need, section 3.2.2.
    """
    trace = trace_of(trace)
    given = recipe.given_for(trace["embeddings"].value.shape[-1])
    _label_columns(trace, recipe, given)
    draws = _draws(trace, recipe) if given is None else _given(given)
    made = project(
        trace,
        trace["embeddings"],
        lambda role: (_matrices(trace, role, draws[role], recipe), None),
        "head_",
    )
    mask = None
    if recipe.causal:
        causal = mask_of(CAUSAL, len(trace["embeddings"].value))
        mask = trace.step("mask", causal, axes=("query", "key"))
    between = ("scale", "temperature", "normalise", "dropout", "dropout_seed")
    chosen = {name: getattr(recipe, name) for name in between}
    context = attention(trace, *made, mask=mask, prefix="head_", softmax_dim=softmax_dim, **chosen)
    if not joined:
        return trace
    concat = trace.step("concat", ops.JoinHeads(), context, axes=("query", "d_concat"))
    identity = torch.eye(concat.value.shape[-1], recipe.d_model)
    made_by = draws["output"] if mixes else ops.Given.of(identity)
    times(trace, "output", concat, trace.step("W_output", made_by, axes=("d_concat", "d_model")))
    return trace


def _label_columns(trace: Trace, recipe: HeadsRecipe, given: GivenHeads | None) -> None:
    """Name the columns by head: `h1·d2` is column 2 of head 1; heads set by hand have names."""
    for axis, width in zip(JOINED, (recipe.d_head, recipe.d_value), strict=True):
        plain = [[f"d{column}" for column in range(width)]] * recipe.n_heads
        names = given.components if given is not None and given.components else plain
        trace.label(axis, [f"h{head}·{name}" for head, own in enumerate(names) for name in own])
    if given is not None:
        trace.label("head", given.names)
        if given.components:
            for axis in dict.fromkeys(map(recipe.axis, ROLES)):
                trace.label_by_head(axis, given.components)
        if given.outputs and not trace.has_axis("d_model"):
            trace.label("d_model", given.outputs)


def _given(heads: GivenHeads) -> dict[str, ops.Given]:
    joined = {role: heads.joined(role) for role in ROLES} | {"output": heads.output}
    return {name: ops.Given(table) for name, table in joined.items()}


def _draws(trace: Trace, recipe: HeadsRecipe) -> dict[str, ops.Draw]:
    d_in = trace["embeddings"].value.shape[-1]
    last = last_draw(trace) if recipe.seed is None else None
    for shape in recipe.skipped:
        last = ops.Draw.behind(last, "uniform", shape, seed=recipe.seed)
    d_concat = recipe.n_heads * recipe.d_value
    draws = {}
    for role in (*ROLES, "output"):
        n_rows, shape = d_concat, (d_concat, recipe.d_model)
        if role != "output":
            n_rows, width = d_in, recipe.width(role)
            joined = (d_in, recipe.n_heads * width)
            shape = (recipe.n_heads, width, d_in) if recipe.by_head else joined
        kind, fan_in = ("uniform", None) if recipe.start == "rand" else ("linear", n_rows)
        draws[role] = last = ops.Draw.behind(last, kind, shape, fan_in, recipe.seed)
    return draws


def _matrices(trace: Trace, role: str, draw: ops.Draw | ops.Given, recipe: HeadsRecipe) -> Step:
    name, axis = f"W_{role}", recipe.axis(role)
    joined = ("d_in", "d_concat" if role == "value" else "d_queries")
    by_head = ("head", "d_in", axis)
    if recipe.by_head:
        upright = trace.step(f"head_{role}_layer", draw, axes=("head", axis, "d_in"))
        matrix = trace.step(f"head_{name}", ops.Transpose(), upright, axes=by_head)
        trace.step(name, ops.JoinHeads(), matrix, axes=joined)
        return matrix
    whole = trace.step(name, draw, axes=joined)
    return trace.step(f"head_{name}", ops.SplitHeads(recipe.n_heads), whole, axes=by_head)


@validated
def add_batched(trace: Trace) -> Trace:
    """Add the projections as batched products, each stage a step, to a trace of `attend_heads`.
    Steps: `repeated_embeddings` (head, d_in, token), `batched_queries` (head, d_head, query) by
    `torch.bmm`, `permuted_queries` (head, query, d_head); likewise keys and values.
    """
    axes, every = ("d_in", "token"), ops.RepeatHeads(trace.size("head"), one=True)
    columns = trace.step("embeddings_as_columns", ops.Transpose(), trace["embeddings"], axes=axes)
    repeated = trace.step("repeated_embeddings", every, columns, axes=("head", *axes))
    for role in ROLES:
        of_head = trace[f"head_W_{role}"]
        head, d_in, width = of_head.axes
        name = f"head_{role}_layer"
        upright = trace.get(name)
        if upright is None:
            upright = trace.step(name, ops.Permute(), of_head, axes=(head, width, d_in))
        token = "query" if role == "query" else "key"
        name, axes_of_head = f"batched_{PLURAL[role]}", (head, width, token)
        batched = trace.step(name, ops.BatchedMatMul(), upright, repeated, axes=axes_of_head)
        trace.step(f"permuted_{PLURAL[role]}", ops.Permute(), batched, axes=(head, token, width))
    return trace


@validated
def add_big_projection(trace: Trace) -> Trace:
    """Add the one big projection that is split, and the wrong split, to a trace of `attend_heads`.
    Steps: `joined_queries` (query, d_queries), `split_queries` (head, query, d_head), and
    `mixed_queries`, of the same shape, by a reshape without transposing.
    """
    n_heads = trace.size("head")
    vectors, W_query = trace["embeddings"], trace["W_query"]
    joined = times(trace, "joined_queries", vectors, W_query, lead=("query",))
    axes = trace["head_queries"].axes
    trace.step("split_queries", ops.SplitHeads(n_heads), joined, axes=axes)
    trace.step("mixed_queries", ops.SplitWithoutTranspose(n_heads), joined, axes=axes)
    return trace


@validated
def add_head_parts(trace: Trace) -> Trace:
    """Add what each head gives to the output, to a trace of `attend_heads`. Steps: `head_W_output`
    (head, d_value, d_model), `head_outputs` (head, query, d_model), and `output_from_heads` (query,
    d_model), their sum.
    """
    context = trace["head_context_vectors"]
    deal, axes = ops.RowsOfHeads(trace.size("head")), ("head", context.axes[-1], "d_model")
    rows = trace.step("head_W_output", deal, trace["W_output"], axes=axes)
    parts = times(trace, "head_outputs", context, rows)
    trace.step("output_from_heads", ops.SumHeads(), parts, axes=("query", "d_model"))
    return trace


@validated
def switch_off(trace: Trace, head: int) -> Trace:
    """Add the output without one head, to a trace of `attend_heads`. Steps:
    `head_context_vectors_left` (head, query, d_value), `concat_left` (query, d_concat),
    `output_left` (query, d_model).
    """
    context = trace["head_context_vectors"]
    left = trace.step("head_context_vectors_left", ops.SwitchOff(head), context, axes=context.axes)
    concat = trace.step("concat_left", ops.JoinHeads(), left, axes=("query", "d_concat"))
    times(trace, "output_left", concat, trace["W_output"])
    return trace


@validated
def expand_word(trace: Trace, token: int) -> Trace:
    """Add one token's query, key and value in every head, to a trace of `attend_heads`. Steps:
    `one_embedding` (d_in), `one_head_query` and `one_head_key` (head, d_head), `one_head_value`
    (head, d_value).
    """
    one = trace.step("one_embedding", ops.Row(token), trace["embeddings"], axes=("d_in",))
    for role in ROLES:
        times(trace, f"one_head_{role}", one, trace[f"head_W_{role}"], lead=("head",))
    return trace


def torch_width(trace: Trace) -> int:
    """The one width of a head that `nn.MultiheadAttention` needs for all parts of a trace."""
    n_heads, d_in, d_head = trace["head_W_query"].value.shape
    d_value, d_model = trace["head_W_value"].value.shape[-1], trace["W_output"].value.shape[-1]
    return max(d_head, d_value, -(-d_in // n_heads), -(-d_model // n_heads))


@torch.no_grad()
def torch_output(trace: Trace) -> Tensor:
    """The output (query, d_model) of `torch.nn.MultiheadAttention` with this trace's matrices.

    torch's module has one width for everything. Narrower matrices are filled up with zeros, and
    W_query is stretched to make up for the larger √d_head; neither changes the result.
    """
    vectors = trace["embeddings"].value
    heads = {role: trace[f"head_W_{role}"].value for role in ROLES}
    n_heads, d_in, _ = heads["query"].shape
    d_value, d_model = heads["value"].shape[-1], trace["W_output"].value.shape[-1]
    wide = torch_width(trace)
    module = torch.nn.MultiheadAttention(n_heads * wide, n_heads, bias=False, batch_first=True)
    stretch = wide**0.5 / divisor_of(trace, "head_")
    projections = []
    for role, factor in zip(ROLES, (stretch, 1.0, 1.0), strict=True):
        filled = torch.zeros(n_heads, wide, n_heads * wide)
        filled[:, : heads[role].shape[-1], :d_in] = heads[role].mT * factor
        projections.append(filled.flatten(0, 1))
    module.in_proj_weight.copy_(torch.cat(projections))
    output = torch.zeros(n_heads * wide, n_heads, wide)
    by_head = trace["W_output"].value.unflatten(0, (n_heads, -1))  # (head, d_value, d_model)
    output[:d_model, :, :d_value] = by_head.permute(2, 0, 1)
    module.out_proj.weight.copy_(output.flatten(1))
    padded = torch.zeros(1, len(vectors), n_heads * wide)
    padded[0, :, :d_in] = vectors
    mask = ~trace["mask"].value if "mask" in trace else None
    return module(padded, padded, padded, attn_mask=mask, need_weights=False)[0][0, :, :d_model]
