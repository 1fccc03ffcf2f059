"""How the mistakes of `named` are made in a layer, and where they are seen."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from .. import operations as ops
from ..recipes import PLURAL, ROLES, HeadsRecipe
from ..text.inputs import Inputs
from ..trace import Step, Trace
from .layer import layer, next_draw, right_inputs, right_layer
from .named import NAMED, Named
from .rewriting import Make, again, by, left_out, rewritten

Makes = Mapping[str, Make]
TABLE = ("head", "query", "key")


@dataclass(frozen=True)
class Switched:
    """A mistake in a whole layer: how the layer is made with it."""

    name: str
    """A key of `NAMED`."""
    step: str
    """The step of the right layer in which it is best seen."""
    makes: Makes
    """What it makes otherwise; nothing where it is the ids."""
    called_again: Makes | None = None
    """What the next call makes otherwise, where that is not the same."""
    vocabulary: str = ""
    """How its ids come about, where they are the mistake."""
    wrong_step: str = ""
    """What takes the place of `step`; "" where it has the same name."""
    before: Makes | None = None
    """What has to be so in both layers for it to be seen, such as large scores."""
    learns: bool = False
    """Whether it is one of the backward pass, which the layer has then."""

    @property
    def named(self) -> Named:
        """What is said of it."""
        return NAMED[self.name]

    def why_not(self, inputs: Inputs, recipe: HeadsRecipe) -> str:
        """Why it cannot be shown on this text with these heads; "" where it can."""
        tokens = inputs.tokens
        given_ids = self.vocabulary and right_inputs(inputs).has_given_vectors()
        reasons = {
            len(tokens) < 2: "This mistake needs two tokens or more.",
            self.name in MANY_HEADS and recipe.n_heads < 2: "This mistake needs two heads or more.",
            self.name in WIDE and recipe.d_head < 2: "This mistake needs heads at least 2 wide.",
            self.name == "model_width_root" and recipe.n_heads == recipe.d_head: (
                "This mistake needs heads that are not as many as they are wide."
            ),
            self.name == "keys_as_values" and recipe.d_head != recipe.d_value: (
                "This mistake needs keys as wide as values."
            ),
            bool(given_ids): "The vectors of these words are given, so their ids are too.",
            self.vocabulary == "duplicates" and len(set(tokens)) == len(tokens): (
                "This mistake needs a word that occurs twice."
            ),
        }
        return reasons.get(True, "")

    def layer(self, inputs: Inputs, recipe: HeadsRecipe, call: int = 0) -> Trace:
        """The layer with this mistake, as the first call of it (0) or the next one makes it."""
        if self.vocabulary:
            seed = inputs.seed + call * (self.vocabulary == "random")
            own = {"vocabulary": self.vocabulary, "learned_from": None, "seed": seed}
            return layer(inputs.with_other_table(**own), recipe)
        makes = self.called_again if call and self.called_again else self.makes
        return rewritten(self.right(inputs, recipe), makes)

    def right(self, inputs: Inputs, recipe: HeadsRecipe) -> Trace:
        """The layer without it; nobody's to change."""
        return right_layer(inputs, recipe, self.learns)

    def pair(self, inputs: Inputs, recipe: HeadsRecipe) -> tuple[Trace, Trace]:
        """The right layer and the wrong one; or two calls, where only the second shows it."""
        if self.name == "weights_redrawn":
            return self.layer(inputs, recipe), self.layer(inputs, recipe, call=1)
        right = rewritten(self.right(inputs, recipe), self.before or {})
        wrong = self.layer(inputs, recipe) if self.vocabulary else rewritten(right, self.makes)
        return right, wrong


def _hidden_late(new: Trace, step: Step, inputs: tuple[Step, ...]) -> Step:
    """Softmax of all scores, and 0 put where the mask hides."""
    weights = new.step(step.name, ops.Softmax(), *inputs, axes=step.axes)
    return new.step(
        "head_zeroed_weights", ops.MaskedFill(0.0), weights, new["mask"], axes=step.axes
    )


def _infinite_late(new: Trace, step: Step, inputs: tuple[Step, ...]) -> Step:
    """Softmax of all scores, and −∞ put where the mask hides."""
    weights = new.step(step.name, ops.Softmax(), *inputs, axes=step.axes)
    return new.step(
        "head_overwritten_weights", ops.MaskedFill(), weights, new["mask"], axes=step.axes
    )


def _by_all_heads(new: Trace, step: Step, inputs: tuple[Step, ...]) -> Step:
    assert isinstance(step.operation, ops.Scale)
    width = new.size("head") * step.operation.width
    return new.step(step.name, ops.Scale(width), *inputs, axes=step.axes)


def _without_diagonal(new: Trace, step: Step, inputs: tuple[Step, ...]) -> Step:  # noqa: ARG001
    assert isinstance(step.operation, ops.AttentionMask)
    diagonal = tuple((at, at) for at in range(len(step.value)))
    return new.step(step.name, replace(step.operation, flipped=diagonal), axes=step.axes)


def _by_d(new: Trace, step: Step, inputs: tuple[Step, ...]) -> Step:
    assert isinstance(step.operation, ops.Scale)
    return new.step(step.name, ops.Scale(step.operation.width, root=False), *inputs, axes=step.axes)


def _reshaped(new: Trace, step: Step, inputs: tuple[Step, ...]) -> Step:
    """All heads in one product, which is then cut into heads by its memory order."""
    whole = new[inputs[1].name.removeprefix("head_")]
    name, axes = step.name.replace("head_", "joined_"), (step.axes[1], whole.axes[-1])
    joined = new.step(name, ops.MatMul(), inputs[0], whole, axes=axes)
    return new.step(step.name, ops.SplitWithoutTranspose(new.size("head")), joined, axes=step.axes)


def _on_tokens(new: Trace, step: Step, inputs: tuple[Step, ...]) -> Step:
    """A matrix (token, token) multiplied from the left, before the right one."""
    vectors, matrix = inputs
    n_tokens, row = len(vectors.value), step.axes[1]
    draw = next_draw(new, (n_tokens, n_tokens), n_tokens)
    mixing = new.step(matrix.name.replace("head_W_", "U_"), draw, axes=(row, "token"))
    name = step.name.replace("head_", "mixed_for_")
    mixed = new.step(name, ops.MatMul(), mixing, vectors, axes=(row, "d_in"))
    return new.step(step.name, ops.MatMul(), mixed, matrix, axes=step.axes)


def _relu_after(new: Trace, step: Step, inputs: tuple[Step, ...]) -> Step:
    product = new.step("before_rectifying", step.operation, *inputs, axes=step.axes)
    return new.step(step.name, ops.ReLU(), product, axes=step.axes)


def _drawn_at(call: int) -> Makes:
    def make(new: Trace, step: Step, inputs: tuple[Step, ...]) -> Step:  # noqa: ARG001
        shape = tuple(step.value.shape)
        fan_in = new.size("d_in") if "d_in" in step.axes else shape[0]
        return new.step(step.name, next_draw(new, shape, fan_in, call), axes=step.axes)

    return {f"W_{role}": make for role in (*ROLES, "output")}


def _mask_turned(new: Trace, step: Step, inputs: tuple[Step, ...]) -> Step:  # noqa: ARG001
    upright = new.step("upright_mask", step.operation, axes=step.axes)
    return new.step(step.name, ops.Transpose(), upright, axes=step.axes)


def _by_hand(new: Trace, step: Step, inputs: tuple[Step, ...]) -> Step:
    """e to each score, divided by the row's sum, without taking away the largest first."""
    row = ("head", "query", "one")
    powers = new.step("head_exponentials", ops.Exp(), *inputs, axes=TABLE)
    sums = new.step("head_sums", ops.RowSum(), powers, axes=row)
    return new.step(step.name, ops.Divide(), powers, sums, axes=TABLE)


def _made_large(new: Trace, step: Step, inputs: tuple[Step, ...]) -> Step:
    """The scores, so large that e to each head's largest overflows, but heads far below that."""
    scores = again(new, step, inputs)
    seen = scores.value.masked_fill(~new["mask"].value, 0.0).amax(dim=(-2, -1))
    tops = [top for top in seen.tolist() if top > max(seen.max().item() / 20, 1e-6)]
    factor = OVERFLOWS / min(tops, default=1.0)
    return new.step("head_magnified_scores", ops.ScaleBy(factor), scores, axes=step.axes)


def _one_for_all(new: Trace, step: Step, inputs: tuple[Step, ...]) -> Step:
    """The matrix of head 0 in every head."""
    name = step.name.removeprefix("head_")
    own = new.step(f"own_{name}", step.operation, *inputs, axes=step.axes)
    first = new.step(f"first_{name}", ops.Row(0), own, axes=own.axes[1:])
    return new.step(step.name, ops.RepeatHeads(new.size("head"), one=True), first, axes=step.axes)


def _by_entry(new: Trace, step: Step, inputs: tuple[Step, ...]) -> Step:
    """The gradient of a weight times the rest of its row, 1 − p, and no mean taken away."""
    less = new.step("less_head_weights", ops.ScaleBy(-1.0), new[WEIGHTS], axes=TABLE)
    rest = new.step("rest_of_head_weights", ops.Shift(1.0), less, axes=TABLE)
    return new.step(step.name, ops.Multiply(), inputs[0], rest, axes=TABLE)


def _unmasked(at: int) -> Make:
    """A product with weights that were worked out again, and not masked, for this operand."""

    def operands(new: Trace, inputs: tuple[Step, ...]) -> tuple[Step, ...]:
        name, scores = "head_unmasked_weights", new["head_scaled_scores"]
        unmasked = new.get(name) or new.step(name, ops.Softmax(), scores, axes=TABLE)
        return (*inputs[:at], unmasked, *inputs[at + 1 :])

    return by(of=operands)


def _by_matrix(role: str) -> Make:
    """The product with another role's matrix."""
    return by(of=lambda new, inputs: (inputs[0], new[f"head_W_{role}"]))


_SWAPPED = by(of=lambda _, inputs: inputs[::-1])
_OF_QUERIES = by(of=lambda new, inputs: (inputs[0], new["head_queries"]))
_ONE_USE = by(ops.Copied(), of=lambda _, inputs: inputs[-1:])
"""What comes back through the queries alone."""
OVERFLOWS = 120.0
"""e to the power of 88.8 is more than float32 holds."""
MANY_HEADS = (
    *("heads_without_transpose", "heads_normalised", "one_head_repeated", "model_width_root"),
)
"""Mistakes that one head alone cannot show."""
WIDE = ("divided_by_d", "no_scaling", "no_scaling_back")
"""Mistakes that heads of one number cannot show: √1 is 1."""
WEIGHTS, MASKED = "head_weights", "head_masked_scores"
_TO_0 = {MASKED: by(ops.MaskedFill(0.0))}
_LATE = {MASKED: left_out, WEIGHTS: _hidden_late}
_LATE_INFINITY = {MASKED: left_out, WEIGHTS: _infinite_late}
_CUT = {f"head_{PLURAL[role]}": _reshaped for role in ROLES}
_MIXED = {f"head_{PLURAL[role]}": _on_tokens for role in ("query", "key")}
CENTRED, SCORES_BACK = "centred_grad_head_weights", "grad_head_masked_scores"
QUERIES_BACK = "grad_head_queries"
_UNMASKED = {
    "weighed_grad_head_weights": _unmasked(1),
    SCORES_BACK: _unmasked(0),
    "grad_head_scaled_scores": left_out,
}
_LARGE = {"head_scaled_scores": _made_large}
_ALL = (
    Switched("softmax_over_queries", WEIGHTS, {WEIGHTS: by(ops.MaskedSoftmax(-2))}),
    Switched("heads_normalised", WEIGHTS, {WEIGHTS: by(ops.MaskedSoftmax(-3))}),
    Switched("mask_after_softmax", WEIGHTS, _LATE, wrong_step="head_zeroed_weights"),
    Switched(
        "infinity_after_softmax", WEIGHTS, _LATE_INFINITY, wrong_step="head_overwritten_weights"
    ),
    Switched("zero_in_place_of_infinity", WEIGHTS, {**_TO_0, WEIGHTS: by(ops.Softmax())}),
    Switched("mask_transposed", WEIGHTS, {"mask": _mask_turned}),
    Switched("hides_itself", WEIGHTS, {"mask": _without_diagonal}),
    Switched("mask_ignored", WEIGHTS, {MASKED: left_out, WEIGHTS: by(ops.Softmax())}),
    Switched("mask_added", WEIGHTS, {MASKED: by(ops.Add()), WEIGHTS: by(ops.Softmax())}),
    Switched("no_scaling", WEIGHTS, {"head_scaled_scores": left_out}),
    Switched("divided_by_d", WEIGHTS, {"head_scaled_scores": _by_d}),
    Switched("model_width_root", WEIGHTS, {"head_scaled_scores": _by_all_heads}),
    Switched("query_and_key_swapped", WEIGHTS, {"head_scores": _SWAPPED}),
    Switched("divided_by_the_sum", WEIGHTS, {**_TO_0, WEIGHTS: by(ops.SumNormalise())}),
    Switched("softmax_overflow", WEIGHTS, {WEIGHTS: _by_hand}, before=_LARGE),
    Switched("heads_without_transpose", "head_queries", _CUT),
    Switched("matrices_on_tokens", "head_queries", _MIXED),
    Switched("whole_matrix_norm", "normed", {"normed": by(ops.LayerNorm(whole=True))}),
    Switched("relu_last", "layer_output", {"rectified": left_out, "layer_output": _relu_after}),
    Switched("weights_redrawn", "output", _drawn_at(0), called_again=_drawn_at(1)),
    Switched("dictionary_with_gaps", "token_ids", {}, vocabulary="duplicates"),
    Switched("random_tokenizer", "token_ids", {}, vocabulary="random"),
    Switched("queries_as_keys", "head_keys", {"head_keys": _by_matrix("query")}),
    Switched("keys_as_values", "head_values", {"head_values": _by_matrix("key")}),
    Switched("one_head_repeated", WEIGHTS, {f"head_W_{role}": _one_for_all for role in ROLES}),
    Switched("softmax_back_by_entry", SCORES_BACK, {CENTRED: _by_entry}, learns=True),
    Switched("no_scaling_back", QUERIES_BACK, {"grad_head_scores": left_out}, learns=True),
    Switched("mask_forgotten_back", "grad_head_scores", _UNMASKED, learns=True),
    Switched("keys_swapped_back", QUERIES_BACK, {QUERIES_BACK: _OF_QUERIES}, learns=True),
    Switched("one_use_back", "grad_embeddings", {"grad_embeddings": _ONE_USE}, learns=True),
)
MISTAKES = {each.name: each for each in _ALL}
"""By name, in the order of `NAMED`."""
