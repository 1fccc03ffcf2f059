"""The mistakes that can be switched on in a layer: one list for the lab, the game and exercises."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ..operations import (
    Divide,
    Exp,
    Hide,
    LayerNorm,
    Magnify,
    MatMul,
    Operation,
    ReLU,
    Repeat,
    Row,
    RowSum,
    Scale,
    Softmax,
    SoftmaxOfSeen,
    SplitWithoutTranspose,
    SumNormalise,
    Transpose,
)
from ..recipes import PLURAL, ROLES, HeadsRecipe
from ..rounding import largest
from ..text.inputs import Inputs
from ..trace import Step, Trace
from .layer import layer, next_draw, right_inputs
from .rewriting import Make, again, left_out, rewritten

Makes = Mapping[str, Make]
TABLE = ("head", "query", "key")


@dataclass(frozen=True)
class Switched:
    """A mistake in a whole layer: how the layer is made with it, and what is said of it."""

    name: str
    """In addresses, and wherever it is named in code."""
    title: str
    right: str
    """The line, as it is often written, done right."""
    wrong: str
    """The same line with the mistake."""
    words: str
    """What happens, and what to do about it, in a few sentences of ours."""
    step: str
    """The step of the right layer in which it is best seen."""
    makes: Callable[[int], Makes] | None = None
    """What it makes otherwise, at the first call (0) and the next; None where it is the ids."""
    vocabulary: str = ""
    """How its ids come about, where they are the mistake."""
    unseen: str = ""
    """Why no light sees it; "" where one does."""
    wrong_step: str = ""
    """What takes the place of `step`; "" where it has the same name."""
    before: Makes | None = None
    """What has to be so in both layers for it to be seen, such as large scores."""

    def applies(self, inputs: Inputs, recipe: HeadsRecipe) -> str:
        """Why it cannot be shown on this text with these heads; "" where it can."""
        tokens = inputs.tokens
        given_ids = self.vocabulary and right_inputs(inputs).has_given_vectors()
        reasons = {
            len(tokens) < 2: "It takes two tokens or more.",
            self.name in MANY_HEADS and recipe.n_heads < 2: "It takes two heads or more.",
            self.name in WIDE and recipe.d_head < 2: "It takes heads that are 2 wide or more.",
            self.name == "keys_as_values" and recipe.d_head != recipe.d_value: (
                "It takes keys and values of one width."
            ),
            bool(given_ids): "The vectors of these words are given, so their ids are too.",
            self.vocabulary == "duplicates" and len(set(tokens)) == len(tokens): (
                "It takes a word that stands there twice."
            ),
        }
        return reasons.get(True, "")

    def layer(self, inputs: Inputs, recipe: HeadsRecipe, call: int = 0) -> Trace:
        """The layer with this mistake, as the first call of it (0) or the next one makes it."""
        if self.makes is None:
            seed = inputs.seed + call * (self.vocabulary == "random")
            return layer(replace(inputs, vocabulary=self.vocabulary, seed=seed), recipe)
        return rewritten(layer(right_inputs(inputs), recipe), self.makes(call))

    def pair(self, inputs: Inputs, recipe: HeadsRecipe) -> tuple[Trace, Trace]:
        """The right layer and the one with this mistake, so that it is seen; of a mistake that is
        seen only when it is called again, the first call and the second.
        """
        if self.name == "weights_redrawn":
            return self.layer(inputs, recipe), self.layer(inputs, recipe, call=1)
        right, wrong = layer(right_inputs(inputs), recipe), self.layer(inputs, recipe)
        if self.before is None:
            return right, wrong
        right = rewritten(right, self.before)
        return right, rewritten(right, self.makes(0))


def by(operation: Operation) -> Make:
    """A step by another operation on the same operands."""

    def make(new: Trace, step: Step, inputs: tuple[Step, ...]) -> Step:
        return new.step(step.name, operation, *inputs, axes=step.axes, symbol=step.symbol)

    return make


def _always(makes: Makes) -> Callable[[int], Makes]:
    return lambda _: makes


def _hidden_late(new: Trace, step: Step, inputs: tuple[Step, ...]) -> Step:
    """Softmax of all scores, and 0 put where the mask hides."""
    weights = new.step(step.name, Softmax(), *inputs, axes=step.axes)
    return new.step("head_zeroed_weights", Hide(0.0), weights, new["mask"], axes=step.axes)


def _by_d(new: Trace, step: Step, inputs: tuple[Step, ...]) -> Step:
    divide = Scale(step.operation.width, root=False)
    return new.step(step.name, divide, *inputs, axes=step.axes)


def _reshaped(role: str) -> Make:
    """All heads in one product, which is then cut into heads by its memory order."""

    def make(new: Trace, step: Step, inputs: tuple[Step, ...]) -> Step:
        token, whole = step.axes[1], new[f"W_{role}"]
        axes = (token, whole.axes[-1])
        joined = new.step(f"joined_{PLURAL[role]}", MatMul(), inputs[0], whole, axes=axes)
        cut = SplitWithoutTranspose(new.size("head"))
        return new.step(step.name, cut, joined, axes=step.axes)

    return make


def _on_tokens(role: str) -> Make:
    """A matrix (token, token) multiplied from the left, before the right one."""

    def make(new: Trace, step: Step, inputs: tuple[Step, ...]) -> Step:
        vectors, matrix = inputs
        n_tokens, row = len(vectors.value), step.axes[1]
        draw = next_draw(new, (n_tokens, n_tokens), n_tokens)
        mixing = new.step(f"U_{role}", draw, axes=(row, "token"))
        axes = (row, "d_in")
        mixed = new.step(f"mixed_for_{PLURAL[role]}", MatMul(), mixing, vectors, axes=axes)
        return new.step(step.name, MatMul(), mixed, matrix, axes=step.axes)

    return make


def _relu_after(new: Trace, step: Step, inputs: tuple[Step, ...]) -> Step:
    product = new.step("before_rectifying", step.operation, *inputs, axes=step.axes)
    return new.step(step.name, ReLU(), product, axes=step.axes)


def _drawn_at(call: int) -> Makes:
    """Matrices that are drawn inside the call."""

    def make(new: Trace, step: Step, inputs: tuple[Step, ...]) -> Step:  # noqa: ARG001
        shape = tuple(step.value.shape)
        fan_in = new.size("d_in") if "d_in" in step.axes else shape[0]
        return new.step(step.name, next_draw(new, shape, fan_in, call), axes=step.axes)

    return {f"W_{role}": make for role in (*ROLES, "output")}


def _mask_turned(new: Trace, step: Step, inputs: tuple[Step, ...]) -> Step:  # noqa: ARG001
    upright = new.step("upright_mask", step.operation, axes=step.axes)
    return new.step(step.name, Transpose(), upright, axes=step.axes)


def _swapped(new: Trace, step: Step, inputs: tuple[Step, ...]) -> Step:
    queries, keys = inputs
    return new.step(step.name, step.operation, keys, queries, axes=step.axes)


def _by_hand(new: Trace, step: Step, inputs: tuple[Step, ...]) -> Step:
    """e to each score, divided by the row's sum, without taking away the largest first."""
    row = ("head", "query", "one")
    powers = new.step("head_exponentials", Exp(), *inputs, axes=TABLE)
    sums = new.step("head_sums", RowSum(), powers, axes=row)
    return new.step(step.name, Divide(), powers, sums, axes=TABLE)


def _made_large(new: Trace, step: Step, inputs: tuple[Step, ...]) -> Step:
    """The scores, so many times as large that e to the largest overflows in float32."""
    scores = again(new, step, inputs)
    factor = OVERFLOWS / max(largest(scores.value), 1e-6)
    return new.step("head_magnified_scores", Magnify(factor), scores, axes=step.axes)


def _other_matrix(role: str) -> Make:
    """The product with another role's matrix."""

    def make(new: Trace, step: Step, inputs: tuple[Step, ...]) -> Step:
        matrix = new[f"head_W_{role}"]
        return new.step(step.name, MatMul(), inputs[0], matrix, axes=step.axes)

    return make


def _one_for_all(role: str) -> Make:
    """The matrix of head 0 in every head."""

    def make(new: Trace, step: Step, inputs: tuple[Step, ...]) -> Step:
        own = again(new, step, inputs)
        first = new.step(f"first_W_{role}", Row(0), own, axes=own.axes[1:])
        repeat = Repeat(new.size("head"))
        return new.step(f"repeated_W_{role}", repeat, first, axes=own.axes)

    return make


OVERFLOWS = 120.0
"""e to the power of 88.8 is more than float32 holds."""
MANY_HEADS = ("heads_without_transpose", "heads_normalised", "one_head_repeated")
"""Mistakes that one head alone cannot show."""
WIDE = ("divided_by_d", "no_scaling")
"""Mistakes that heads of one number cannot show: √1 is 1."""
MISTAKES = {
    each.name: each
    for each in (
        Switched(
            "softmax_over_queries",
            "Softmax over the queries",
            "weights = scores.softmax(dim=-1)",
            "weights = scores.softmax(dim=-2)",
            "Each column shares out its 1 among the queries, in place of each row among the keys. "
            "The whole matrix sums to the same number, so a check of the total sees nothing. "
            "Write dim=-1.",
            "head_weights",
            _always({"head_weights": by(SoftmaxOfSeen(-2))}),
        ),
        Switched(
            "heads_normalised",
            "Softmax over the heads",
            "weights = scores.softmax(dim=-1)",
            "weights = scores.softmax(dim=-3)",
            "For each query and key, the heads share out one 1. They compete with each other, and "
            "the keys do not. The softmax belongs on the last axis, dim=-1.",
            "head_weights",
            _always({"head_weights": by(SoftmaxOfSeen(-3))}),
        ),
        Switched(
            "mask_after_softmax",
            "The mask after softmax",
            "weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)",
            "weights = scores.softmax(dim=-1) * mask",
            "The hidden keys have taken their share before they are set to 0. What is left of a "
            "row sums to less than 1, so early tokens nearly vanish, and the future has had its "
            "say in the sum. Hide with −∞ before softmax.",
            "head_weights",
            _always({"head_masked_scores": left_out, "head_weights": _hidden_late}),
            wrong_step="head_zeroed_weights",
        ),
        Switched(
            "zero_in_place_of_infinity",
            "0 in place of −∞",
            "scores = scores.masked_fill(~mask, -torch.inf)",
            "scores = scores.masked_fill(~mask, 0)",
            "A score of 0 is a vote like any other: e⁰ = 1. Rows still sum to 1, so the usual "
            "check is blind to it. Fill with −∞, and e to the −∞ is exactly 0.",
            "head_weights",
            _always({"head_masked_scores": by(Hide(0.0)), "head_weights": by(Softmax())}),
        ),
        Switched(
            "mask_transposed",
            "The mask turned over",
            "mask = torch.ones(n, n, dtype=torch.bool).tril()",
            "mask = torch.ones(n, n, dtype=torch.bool).triu()",
            "Each token sees itself and what comes after it, and nothing before. One .T too many, "
            "or a triu where a tril belongs.",
            "head_weights",
            _always({"mask": _mask_turned}),
        ),
        Switched(
            "mask_ignored",
            "The mask is made and never used",
            "context = attend(queries, keys, values, mask)",
            "context = attend(queries, keys, values)",
            "The flag causal=True is accepted, and nobody passes it on. Everything runs, and every "
            "token sees the future.",
            "head_weights",
            _always({"head_masked_scores": left_out, "head_weights": by(Softmax())}),
        ),
        Switched(
            "no_scaling",
            "Nothing divides the scores",
            "scores = queries @ keys.mT / d ** 0.5",
            "scores = queries @ keys.mT",
            "A dot product of d terms spreads √d times as far as its terms do. Softmax then gives "
            "nearly all to one key, and learning stalls. Divide by √d.",
            "head_weights",
            _always({"head_scaled_scores": left_out}),
        ),
        Switched(
            "divided_by_d",
            "d in place of √d",
            "scores = queries @ keys.mT / d ** 0.5",
            "scores = queries @ keys.mT / d",
            "Dividing by d makes the scores smaller, the wider the heads are: the weights become "
            "alike, whoever asks. Divide by the square root of the width of a key.",
            "head_weights",
            _always({"head_scaled_scores": _by_d}),
        ),
        Switched(
            "query_and_key_swapped",
            "Queries and keys changed places",
            "scores = queries @ keys.mT",
            "scores = keys @ queries.mT",
            "The scores are transposed: each row holds what others ask of a token, and not what it "
            "asks. The rows still sum to 1. Write queries @ keys.mT.",
            "head_weights",
            _always({"head_scores": _swapped}),
        ),
        Switched(
            "divided_by_the_sum",
            "Divided by the sum, without e",
            "weights = scores.softmax(dim=-1)",
            "weights = scores / scores.sum(dim=-1, keepdim=True)",
            "Shares of a sum that may be negative: the order turns over, weights fall below 0 and "
            "explode where the sum is near 0. They still sum to 1. Use softmax.",
            "head_weights",
            _always({"head_masked_scores": by(Hide(0.0)), "head_weights": by(SumNormalise())}),
        ),
        Switched(
            "softmax_overflow",
            "Softmax without taking away the largest",
            "e = (scores - scores.amax(-1, True)).exp()\nweights = e / e.sum(-1, True)",
            "e = scores.exp()\nweights = e / e.sum(-1, True)",
            "e to the power of 89 is more than float32 can hold. While the scores are small "
            "nothing is wrong; one large score makes a row of nan. Subtract the largest score of "
            "the row first, or call softmax, which does.",
            "head_weights",
            _always({"head_weights": _by_hand}),
            before={"head_scaled_scores": _made_large},
        ),
        Switched(
            "heads_without_transpose",
            "Heads split without the transpose",
            "heads = queries.view(n, n_heads, d).transpose(0, 1)",
            "heads = queries.view(n_heads, n, d)",
            "A reshape cuts the numbers in the order in which they lie in memory, so a head's row "
            "holds pieces of several tokens. The shape is right, which is why nobody notices. "
            "Split the columns first, then bring the heads to the front.",
            "head_queries",
            _always({f"head_{PLURAL[role]}": _reshaped(role) for role in ROLES}),
        ),
        Switched(
            "matrices_on_tokens",
            "Matrices on the token axis",
            "queries = x @ W_query  # W_query: (d_in, d)",
            "queries = U_query @ x  # U_query: (n, n)",
            "A matrix of (token, token), multiplied from the left, mixes all tokens before any "
            "attention. A mask then hides nothing, and another sentence does not fit. Multiply "
            "from the right, with a matrix that has a row for each component.",
            "head_queries",
            _always({"head_queries": _on_tokens("query"), "head_keys": _on_tokens("key")}),
        ),
        Switched(
            "whole_matrix_norm",
            "Layer norm over the whole matrix",
            "x = F.layer_norm(x, x.shape[-1:])",
            "x = F.layer_norm(x, x.shape)",
            "The mean and the variance are those of all tokens together, so every token's vector "
            "depends on all the others, also on later ones. Normalise each row: the last axis.",
            "normed",
            _always({"normed": by(LayerNorm(whole=True))}),
        ),
        Switched(
            "relu_last",
            "ReLU after the last linear layer",
            "x = torch.relu(x @ W_in) @ W_out",
            "x = torch.relu(x @ W_in @ W_out)",
            "Two linear layers with nothing in between are one linear layer, and half of what "
            "comes out is cut to 0. ReLU belongs between them.",
            "layer_output",
            _always({"rectified": left_out, "layer_output": _relu_after}),
        ),
        Switched(
            "weights_redrawn",
            "Matrices drawn at every call",
            "def __init__(self): self.W_query = nn.Parameter(torch.rand(d_in, d))",
            "def forward(self, x): W_query = torch.rand(d_in, d)",
            "They are made inside forward, so the same sentence gives another output each time, "
            "and nothing can be learned. Make them once, as parameters.",
            "output",
            _drawn_at,
        ),
        Switched(
            "dictionary_with_gaps",
            "A dictionary with gaps",
            "ids = {word: i for i, word in enumerate(sorted(set(words)))}",
            "ids = {word: i for i, word in enumerate(sorted(words))}",
            "The list of words was sorted with its duplicates and then numbered, so some ids "
            "belong to nobody: rows of the table are wasted, or the largest id lies outside of it. "
            "Take the distinct words first.",
            "token_ids",
            vocabulary="duplicates",
        ),
        Switched(
            "random_tokenizer",
            "Ids drawn at random",
            "token_ids = torch.tensor([ids[word] for word in words])",
            "token_ids = torch.randint(20_000, (len(words),))",
            "The same word gets another id each time it stands there, so its vector says nothing "
            "about it. Give each distinct word an id of its own.",
            "token_ids",
            vocabulary="random",
        ),
        Switched(
            "queries_as_keys",
            "One matrix for queries and keys",
            "keys = x @ W_key",
            "keys = x @ W_query",
            "keys = x @ W_query: what a token asks for is also how it is found, so a token likes "
            "itself best, and scores before the mask are the same both ways.",
            "head_keys",
            _always({"head_keys": _other_matrix("query")}),
            unseen="It is attention, only a poorer one: nothing that holds of every attention is "
            "broken. Look at head_queries and head_keys, which are equal.",
        ),
        Switched(
            "keys_as_values",
            "Keys handed on in place of values",
            "values = x @ W_value",
            "values = x @ W_key",
            "values = x @ W_key: a line copied and not changed. The token hands on how it is "
            "found, and W_value never learns.",
            "head_values",
            _always({"head_values": _other_matrix("key")}),
            unseen="A value may be anything, so no property of attention is broken. Compare "
            "head_keys with head_values: they are equal.",
        ),
        Switched(
            "one_head_repeated",
            "The same head, several times",
            "heads = [Head() for _ in range(n_heads)]",
            "heads = [Head()] * n_heads",
            "[head] * n makes a list with one head in it n times. All look the same way, so n "
            "heads see no more than one. Make each anew: [Head() for _ in range(n)].",
            "head_weights",
            _always({f"head_W_{role}": _one_for_all(role) for role in ROLES}),
            unseen="Each head is right, taken by itself. Compare the heads: their weights are "
            "equal.",
        ),
    )
}
"""By name, in the order of a layer."""
