"""Attention with trainable queries, keys and values: three matrices before the comparison."""

from .. import operations as ops
from ..recipes import PLURAL, PROJECTIONS, ROLES, Edits, Projections
from ..trace import Step, Trace
from ..utils.validation import validated
from .attention import attention, scale_of
from .builder import project as project_with
from .own_tensors import Vectors, trace_of


def project(
    trace: Trace, recipe: Projections = PROJECTIONS, own_keys: float = 1.0
) -> tuple[Step, Step, Step]:
    """Add queries, keys and values to a trace that has `embeddings` (token, d_in).

    Steps: `W_query` and `W_key` (d_in, d_query), `W_value` (d_in, d_value), before each of them
    `query_layer` (d_query, d_in) where it is drawn upright and `drawn_W_query` where cells were
    typed; `b_query` (d_query) and so on with bias; `queries` (query, d_query), `keys`
    (key, d_query), `values` (key, d_value). Returns these three.

    Where `own_keys` is not 1, keys are made by a mixture, so much of W_key and the rest of W_query:
    with 0 they are the queries once more. Then there are `share_of_W_query`, `share_of_W_key` and
    `mixed_W_key` (d_in, d_query) as well, and the same of the biases.
    """
    matrices = draw_matrices(trace, recipe)
    if own_keys != 1:
        both = zip(*matrices[:2], strict=True)
        matrix, bias = (_mixed(trace, one, other, own_keys) if one else None for one, other in both)
        matrices[1] = matrix, bias
    made = project_with(trace, trace["embeddings"], dict(zip(ROLES, matrices, strict=True)).get)
    return made[0], made[1], made[2]


def _mixed(trace: Trace, of_query: Step, of_key: Step, own: float) -> Step:
    """So much of what makes keys, and the rest of what makes queries."""
    parts = [
        trace.step(f"share_of_{each.name}", ops.ScaleBy(share), each, axes=each.axes)
        for each, share in ((of_query, 1 - own), (of_key, own))
    ]
    return trace.step(f"mixed_{of_key.name}", ops.Add(), *parts, axes=of_key.axes)


def draw_matrices(trace: Trace, recipe: Projections) -> list[tuple[Step, Step | None]]:
    """Record the three matrices, and their biases or None, in the order of their draws."""
    d_in = trace["embeddings"].value.shape[-1]
    given = {role: recipe.given_for(role, d_in) for role in ROLES}
    for role, names in zip(("query", "value"), recipe.components, strict=False):
        if given[role] is not None:
            trace.label(recipe.axis(role), names)
    last = last_draw(trace)
    upright = recipe.upright or recipe.start == "linear"
    distribution = "linear" if recipe.start == "linear" else "uniform"
    drawn: list[ops.Draw | ops.Given] = []
    biases: list[ops.Operation] = []

    def draw(shape: tuple[int, ...], seed: int | None) -> ops.Draw:
        nonlocal last
        fan_in = d_in if distribution == "linear" and len(shape) == 1 else None
        last = ops.Draw.behind(last, distribution, shape, fan_in, recipe.seed)
        # A seed of its own takes a matrix out of the order, and leaves the order as it is.
        return last if seed is None else ops.Draw(distribution, shape, seed=seed, fan_in=fan_in)

    if recipe.seed is not None:
        skipped = recipe.skipped_draws
        last = ops.Draw("uniform", (skipped,), seed=recipe.seed) if skipped else None
    for role, seed in zip(ROLES, recipe.seeds, strict=True):
        shape = (d_in, recipe.width(role))
        if given[role] is not None:
            drawn.append(ops.Given(given[role]))
            continue
        drawn.append(draw(shape[::-1] if upright else shape, seed))
        if recipe.bias and recipe.start == "linear":  # as nn.Linear: each bias after its matrix
            biases.append(draw(shape[1:], None))
    if recipe.bias and recipe.start != "linear":
        biases = [draw((recipe.width(role),), None) for role in ROLES]

    made = []
    for at, role in enumerate(ROLES):
        axis = recipe.axis(role)
        matrix = _matrix(trace, f"W_{role}", drawn[at], axis, upright, recipe.edits[at])
        bias = trace.step(f"b_{role}", biases[at], axes=(axis,)) if biases else None
        made.append((matrix, bias))
    return made


def _matrix(
    trace: Trace, name: str, draw: ops.Draw | ops.Given, axis: str, upright: bool, edits: Edits
) -> Step:
    axes = ("d_in", axis)
    drawn_name = f"drawn_{name}" if edits else name
    if upright:
        layer = trace.step(f"{name.removeprefix('W_')}_layer", draw, axes=axes[::-1])
        matrix = trace.step(drawn_name, ops.Transpose(), layer, axes=axes)
    else:
        matrix = trace.step(drawn_name, draw, axes=axes)
    return trace.step(name, ops.Edit(edits), matrix, axes=axes) if edits else matrix


def last_draw(trace: Trace) -> ops.Draw | None:
    """The last random draw of a trace, behind which the generator may go on; None for none."""
    draws = [step.operation for step in trace.values() if isinstance(step.operation, ops.Draw)]
    return draws[-1] if draws else None


@validated
def attend_trainable(
    trace: Vectors, recipe: Projections = PROJECTIONS, softmax_dim: int = -1, own_keys: float = 1.0
) -> Trace:
    """Add the steps of `project` and `attention` to a trace with `embeddings`: the same trace."""
    trace = trace_of(trace)
    attention(trace, *project(trace, recipe, own_keys), scale=recipe.scale, softmax_dim=softmax_dim)
    return trace


@validated
def expand_token(trace: Trace, token: int) -> Trace:
    """Add one token's way through a trace made by `attend_trainable`, a row at a time. Steps:
    `one_embedding` (d_in); `one_query`, `one_key` (d_query), `one_value` (d_value); `query_scores`,
    `scaled_query_scores` where divided, `query_weights` (key), `query_context` (d_value). Raises
    ValueError where the weights are shared along another axis than the keys.
    """
    if getattr(trace["weights"].operation, "dim", -1) != -1:
        raise ValueError(
            "these weights are shared out along another axis than the keys, so each needs the "
            "scores of other tokens too: one row by itself has no weights"
        )
    one = trace.step("one_embedding", ops.Row(token), trace["embeddings"], axes=("d_in",))
    for role in ROLES:
        whole = trace[PLURAL[role]]
        operands = (one, *whole.inputs[1:])
        trace.step(f"one_{role}", whole.operation, *operands, axes=whole.axes[1:])
    operands = (trace["one_query"], trace["keys"])
    scores = trace.step("query_scores", ops.MatMul(transpose=True), *operands, axes=("key",))
    if "scaled_scores" in trace:
        scale = trace["scaled_scores"].operation
        scores = trace.step("scaled_query_scores", scale, scores, axes=("key",))
    weights = trace.step("query_weights", trace["weights"].operation, scores, axes=("key",))
    operands = (weights, trace["values"])
    trace.step("query_context", ops.MatMul(), *operands, axes=trace["values"].axes[1:])
    return trace


@validated
def add_other_ways(trace: Trace) -> Trace:
    """Add the same projections written in two other ways, to a trace made by `attend_trainable`.
    Steps: `queries_upright` (query, d_query), for tokens as columns: (Wᵀ xᵀ)ᵀ; `linear_queries`,
    `linear_keys`, `linear_values` through `torch.nn.functional.linear` with the transposed
    matrices, and attention on these, with `linear_` before each name.
    """
    vectors = trace["embeddings"]
    operands = (vectors, *trace["queries"].inputs[1:])
    trace.step("queries_upright", ops.MatMulUpright(), *operands, axes=trace["queries"].axes)
    made = []
    for role in ROLES:
        matrix = trace[f"W_{role}"]
        axes = matrix.axes[::-1]
        known = f"{role}_layer"
        if known not in trace or f"drawn_W_{role}" in trace:
            known = f"linear_{role}"
            trace.step(known, ops.Transpose(), matrix, axes=axes)
        bias = [trace[f"b_{role}"]] if f"b_{role}" in trace else []
        name = PLURAL[role]
        operands = (vectors, trace[known], *bias)
        made.append(trace.step(f"linear_{name}", ops.Linear(), *operands, axes=trace[name].axes))
    attention(trace, *made, scale=scale_of(trace), prefix="linear_")
    return trace
