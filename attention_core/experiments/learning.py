"""How a layer learns, number by number: the layer of *Train it* with a loss, its backward pass, and
what moving one entry, or all, does to the loss. Source of the losses: Goodfellow et al. 2016, Deep
Learning, sections 6.2.2.3 (cross-entropy) and 4.3 (gradient descent).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from .. import operations as ops
from ..gradients import PREFIX, backward
from ..recipes import check_choice
from ..trace import Trace
from .trained import attend_given, logits_of
from .training import Matrices, next_tokens

LOSSES = {"weight": "One weight", "context": "One context vector", "next_token": "The next token"}
"""What a layer can be asked to learn."""
MATRICES = Matrices._fields


@dataclass(frozen=True)
class Goal:
    """What the layer is to do better: `weight`, query i looks more at key j; `context`, its context
    vector becomes like the value that key j starts with; `next_token`, each position predicts the
    token after it. Raises ValueError for any other.
    """

    loss: str = "weight"
    query: int = 0
    key: int = 0

    def __post_init__(self) -> None:
        check_choice("loss", self.loss, LOSSES)


def attend_to_learn(
    trace: Trace,
    matrices: Matrices,
    goal: Goal,
    temperature: float = 1.0,
    dropout: float = 0.0,
    target: Tensor | None = None,
) -> Trace:
    """Add causal attention with given matrices and a `loss` to a trace of embeddings.

    Steps: `W_query` and so on as in `attend_trained`, up to `context_vectors`. Then, by the goal:
    `wanted_weight` (); or `one_context`, `target` and `difference` (d_value), `squares`; or
    `W_output` (d_value, next), `logits` (query, next), `predicting` (position, next), `targets` and
    `losses` (position); and `loss` (), one number. `target` (d_value) is what the context vector is
    to be like; the value of the key where none is given. Returns the same trace.

    Raises ValueError where the goal's query or key is no token, or hidden by the causal mask, and
    for the next token of a sentence of one.
    """
    tokens = trace.labels("token")
    if goal.loss == "next_token" and len(tokens) < 2:
        raise ValueError("a sentence of one token has no next token to predict: add a word")
    if not 0 <= goal.key <= goal.query < len(tokens):
        raise ValueError(
            f"query {goal.query} cannot look at key {goal.key}: choose a token that stands before "
            f"it, of {len(tokens)}"
        )
    context = attend_given(trace, matrices, temperature=temperature, dropout=dropout)
    if goal.loss == "weight":
        one_weight = ops.Entry((goal.query, goal.key))
        wanted = trace.step("wanted_weight", one_weight, context.inputs[0], axes=())
        trace.step("loss", ops.ScaleBy(-1.0), wanted, axes=())
    elif goal.loss == "context":
        one = trace.step("one_context", ops.Row(goal.query), context, axes=("d_value",))
        target = trace["values"].value[goal.key] if target is None else target
        wanted = trace.step("target", ops.Given.of(target), axes=("d_value",))
        away = trace.step("difference", ops.Subtract(), one, wanted, axes=("d_value",))
        squares = trace.step("squares", ops.Square(), away, axes=("d_value",))
        trace.step("loss", ops.SumLast(), squares, axes=())
    else:
        trace.label("position", tokens[:-1])
        logits = logits_of(trace, matrices, context)
        some = ops.Rows(0, len(tokens) - 1)
        predicting = trace.step("predicting", some, logits, axes=("position", "next"))
        right = ops.Given(tuple(next_tokens(tokens).tolist()))
        targets = trace.step("targets", right, axes=("position",))
        losses = trace.step("losses", ops.CrossEntropy(), predicting, targets, axes=("position",))
        trace.step("loss", ops.Mean(), losses, axes=())
    return trace


def learned_by(trace: Trace) -> list[str]:
    """The names of the matrices that the loss of a trace depends on."""
    behind = trace["loss"].earlier()
    return [name for name in MATRICES if name in behind]


def with_gradients(trace: Trace) -> Trace:
    """The trace with its backward pass: `grad_W_query` and so on."""
    return backward(trace, "loss", learned_by(trace))


def gradients_of(trace: Trace) -> dict[str, Tensor]:
    """The gradient of each matrix that learns, from a trace that has them."""
    return {name: trace[f"{PREFIX}{name}"].value for name in learned_by(trace)}


def moved(matrices: Matrices, name: str, cell: tuple[int, int], amount: float) -> Matrices:
    """The matrices with a number added to one entry of one of them."""
    matrix = getattr(matrices, name).clone()
    matrix[cell] += amount
    return matrices._replace(**{name: matrix})


def updated(matrices: Matrices, gradients: Mapping[str, Tensor], rate: float) -> Matrices:
    """The matrices after a step of gradient descent: each entry less `rate` times its gradient."""
    return matrices._replace(
        **{name: getattr(matrices, name) - rate * each for name, each in gradients.items()}
    )


def squared_norm(gradients: Mapping[str, Tensor]) -> float:
    """The sum of the squares of all entries: by so much per rate the loss falls at first."""
    return sum(each.double().square().sum().item() for each in gradients.values())
