"""A score of a real model taken apart, as a trace: from what parts wrote to a table of pairs."""

from collections.abc import Sequence

import torch

from .. import operations as ops
from ..recipes import PLURAL
from ..trace import Step, Trace
from ..utils.validation import validated
from .layer_trace import PartsOfLayer
from .run import Run
from .score_parts import read_by_head, visible_keys
from .written import Reading, Writer


@validated
def score_trace(run: Run, layer: int, head: int, query: int, key: int) -> Trace:
    """The score of a query and a key of a head, taken apart: `score_parts` as a trace.

    Steps, for each of the roles query and key: `query_written` (query_part, d_model), what each
    part wrote to the stream there, of biases nothing yet; `query_stream`, their sum, by which a
    norm divides, its steps and `query_normed`; `W_query` as stored, `query_rows`, the head's own,
    and `query_vectors` (query_part, d_head), with a bias, a norm of their own and rotary positions
    where there are any. Then `pair_products`, `pair_scores` (query_part, key_part), `by_query`
    (query_part, one) and `score`, what all add up to, and `capped_score` where there is a cap.
    Raises ValueError as `score_parts` does.
    """
    visible_keys(run, layer, head, query, key)
    parts, _ = read_by_head(run, layer, head, "query", [query])
    names, settings = labels_of(parts), run.model.settings
    trace = Trace(query_part=names, key_part=names)
    at = {"query": (query, head), "key": (key, head // (settings.n_heads // settings.n_key_heads))}
    sides = [_Side(trace, run, layer, role, *each).made(len(names)) for role, each in at.items()]
    score = pairs(trace, ops.ScaleBy(settings.scale(layer)), *sides)
    if settings.score_cap is not None:
        trace.step("capped_score", ops.SoftCap(settings.score_cap), score, axes=score.axes)
    return trace


def labels_of(parts: Sequence[Writer]) -> tuple[str, ...]:
    """What parts are called along an axis: a blank in a token would be shown as ␣."""
    return tuple(each.name.replace(" ", "·") for each in parts)


def pairs(trace: Trace, scaling: ops.Operation, queries: Step, keys: Step) -> Step:
    """From what each part wrote, as queries and as keys (part, d_head), to the score."""
    axes = ("query_part", "key_part")
    products = trace.step("pair_products", ops.MatMul(transpose=True), queries, keys, axes=axes)
    made = trace.step("pair_scores", scaling, products, axes=axes)
    rows = trace.step("by_query", ops.RowSum(), made, axes=("query_part", "one"))
    return trace.step("score", ops.RowSum(-2), rows, axes=("all_parts", "one"))


def standardised(
    trace: Trace, vectors: Step, whole: str, made: str, epsilon: float, norm: str = "layer"
) -> Step:
    """Parts (part, …) of `whole`, each divided by the size of the sum; less its mean in a norm."""
    one, part = ("all_parts", "one"), vectors.axes[0]
    total = trace.step(whole, ops.RowSum(-2), vectors, axes=("all_parts", vectors.axes[-1]))
    if norm == "layer":
        mean = trace.step(f"{whole}_mean", ops.RowMean(), total, axes=one)
        square = trace.step(f"{whole}_variance", ops.RowVariance(), total, mean, axes=one)
        own = trace.step(f"{whole}_means", ops.RowMean(), vectors, axes=(part, "one"))
        return trace.step(made, ops.Standardise(epsilon), vectors, own, square, axes=vectors.axes)
    square = trace.step(f"{whole}_mean_square", ops.RowMeanSquare(), total, axes=one)
    return trace.step(made, ops.DivideByRoot(epsilon), vectors, square, axes=vectors.axes)


class _Side:
    """What each part wrote to the query, or to the key."""

    def __init__(
        self, trace: Trace, run: Run, layer: int, role: str, token: int, head: int
    ) -> None:
        self.trace, self.found, self.layer, self.role = trace, run, layer, role
        self.token, self.part = token, f"{role}_part"
        d_head = run.model.settings.d_head
        self.columns = head * d_head, (head + 1) * d_head
        self.making = PartsOfLayer(trace, run.model, layer)

    def made(self, n_parts: int) -> Step:
        """From the stream to queries or keys, part by part."""
        role, settings, trace = self.role, self.found.model.settings, self.trace
        _, written = Reading(self.found, [self.token], torch.eye(settings.d_model)).back(self.layer)
        wrote = torch.zeros(n_parts, settings.d_model)
        wrote[: len(written)] = written[:, 0]
        made = trace.step(f"{role}_written", ops.Given.of(wrote), axes=(self.part, "d_model"))
        if settings.norms_read:
            made = self._norm("attention_norm", made, f"{role}_stream", f"{role}_normed")
            if settings.norm == "layer":
                bias = self.making.stored("attention_norm_bias", ("d_model",), f"{role}_norm_bias")
                made = self._with_bias(made, bias, len(written), f"{role}_normed_and_bias")
        made = self._times(made, n_parts - 1)
        if settings.query_key_norms:
            made = self._norm(f"{role}_norm", made, f"{role}_whole", f"normed_{PLURAL[role]}")
        if settings.query_key_norms == "all":
            own = ops.Columns(*self.columns)
            made = trace.step(f"{role}_of_head", own, made, axes=(self.part, "d_head"))
        heads = self.making.heads
        if heads.rotary_base is not None:
            n_pairs = (settings.d_head - heads.rest) // 2
            turn = ops.RotaryAngles(1, n_pairs, heads.rotary_base, self.token, heads.rates)
            once = trace.step(f"{role}_angles", turn, axes=("one", "d_pairs"))
            ones = ops.Given.of(torch.ones(n_parts, 1))
            each = trace.step(f"{role}_each_part", ones, axes=(self.part, "one"))
            axes = (self.part, "d_pairs")
            angles = trace.step(f"{role}_part_angles", ops.MatMul(), each, once, axes=axes)
            turned = ops.Rotate(heads.neighbours, heads.rest, heads.stretch)
            made = trace.step(f"turned_{PLURAL[role]}", turned, made, angles, axes=made.axes)
        return made

    def _times(self, vectors: Step, last: int) -> Step:
        """Vectors times the head's own rows of the stored matrix, and its bias as a part."""
        role, settings = self.role, self.found.model.settings
        joined, name = self.making.heads.joined(role), f"{role}_vectors"
        matrix = self.making.stored(f"W_{role}", (joined, "d_model"))
        is_turned, width = matrix.axes[0] == "d_model", joined
        if settings.query_key_norms != "all":
            width, pick = "d_head", (ops.Columns if is_turned else ops.Rows)(*self.columns)
            axes = tuple(width if axis == joined else axis for axis in matrix.axes)
            matrix = self.trace.step(f"{role}_rows", pick, matrix, axes=axes)
        product = ops.MatMul() if is_turned else ops.Linear()
        made = self.trace.step(name, product, vectors, matrix, axes=(self.part, width))
        if f"b_{role}" not in settings.biases:
            return made
        bias = self.making.stored(f"b_{role}", (joined,))
        if width == "d_head":
            pick = ops.Columns(*self.columns)
            bias = self.trace.step(f"{role}_bias", pick, bias, axes=(width,))
        return self._with_bias(made, bias, last, f"{name}_and_bias")

    def _with_bias(self, vectors: Step, bias: Step, row: int, made: str) -> Step:
        """The bias as a row among those of the other parts."""
        put = ops.PutBack(row, len(vectors.value), one=True)
        own = self.trace.step(f"{bias.name}_as_part", put, bias, axes=vectors.axes)
        return self.trace.step(made, ops.Add(), vectors, own, axes=vectors.axes)

    def _norm(self, stored: str, vectors: Step, whole: str, made: str) -> Step:
        """A norm that divides every part by the size of what they add up to."""
        settings, name = self.found.model.settings, f"{made}_standardised"
        of = self.trace, vectors, whole, name, settings.epsilon, settings.norm
        standard = standardised(*of)
        gain = self.making.stored(f"{stored}_gain", vectors.axes[-1:], f"{made}_gain")
        if settings.norm_adds_one:
            gain = self.trace.step(f"{made}_gain_and_one", ops.Shift(1.0), gain, axes=gain.axes)
        return self.trace.step(made, ops.ScaleShift(), standard, gain, axes=vectors.axes)
