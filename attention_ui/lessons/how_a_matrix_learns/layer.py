"""The layer that learns, and what it would be with other matrices; one is kept for all."""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from torch import Tensor

from attention_core import operations as ops
from attention_core.experiments.learning import (
    Goal,
    attend_to_learn,
    gradients_of,
    moved,
    squared_norm,
    updated,
    with_gradients,
)
from attention_core.experiments.training import Matrices, TrainingSettings, start
from attention_core.gradients import backward
from attention_core.mechanism.builder import times
from attention_core.mechanism.multi_head import attend_heads
from attention_core.recipes import HeadsRecipe
from attention_core.text.embedding import embed
from attention_core.text.inputs import Inputs
from attention_core.trace import Step, Trace

DROPOUT = 0.3
Place = tuple[int, int]


@dataclass(frozen=True)
class Layer:
    """A sentence, what is to be learned, and a layer's width and seed, as *Train it* begins."""

    inputs: Inputs
    goal: Goal
    width: int
    seed: int

    @cached_property
    def embedded(self) -> Trace:
        """The sentence as vectors."""
        return embed(self.inputs)

    @cached_property
    def matrices(self) -> Matrices:
        """The matrices before anything is learned."""
        vectors = self.embedded["embeddings"].value
        settings = TrainingSettings(width=self.width, seed=self.seed)
        n_distinct = len(dict.fromkeys(self.inputs.tokens))
        return start(vectors.shape[1], n_distinct, settings, vectors.dtype)

    @cached_property
    def _target(self) -> Tensor:
        """What a context vector is to be like: it stays when the matrices move."""
        return self.embedded["embeddings"].value[self.goal.key] @ self.matrices.W_value

    def forward(self, matrices: Matrices, temperature: float = 1.0, dropout: float = 0.0) -> Trace:
        """The layer with other matrices, up to its loss."""
        made = self.embedded.branch()
        return attend_to_learn(made, matrices, self.goal, temperature, dropout, self._target)

    def trace(
        self, matrices: Matrices | None = None, temperature: float = 1.0, dropout: float = 0.0
    ) -> Trace:
        """The same with its backward pass; with its own matrices where no others are given."""
        return with_gradients(self.forward(matrices or self.matrices, temperature, dropout))

    def loss(self, matrices: Matrices) -> float:
        """The loss with other matrices, of one real pass."""
        return self.forward(matrices)["loss"].value.item()

    @cached_property
    def before(self) -> float:
        """The loss before anything is learned."""
        return self.loss(self.matrices)

    @cached_property
    def gradients(self) -> dict[str, Tensor]:
        """Those of all matrices, before anything is learned."""
        return gradients_of(self.trace())

    @cached_property
    def falls(self) -> float:
        """By how much the loss falls for each unit of the learning rate, as the gradients say."""
        return squared_norm(self.gradients)

    def with_entry(self, name: str, cell: Place, change: float) -> Matrices:
        """The matrices with a number added to one entry."""
        return moved(self.matrices, name, cell, change)

    def after(self, rate: float) -> Matrices:
        """The matrices after one update."""
        return updated(self.matrices, self.gradients, rate)

    def row(self, temperature: float) -> Trace:
        """The query's row of the softmax: `query_weights`, `grad_query_weights` and `…scores`."""
        made, key = self.trace(temperature=temperature), ("key",)
        p, g = (
            made.step(name, ops.Row(self.goal.query), made[of], axes=key)
            for name, of in (("query_weights", "weights"), ("grad_query_weights", "grad_weights"))
        )
        products = made.step("weighed_grad_query_weights", ops.Multiply(), g, p, axes=key)
        mean = made.step("mean_grad_query_weights", ops.RowSum(), products, axes=("one",))
        centred = made.step("centred_grad_query_weights", ops.Subtract(), g, mean, axes=key)
        made.step("grad_query_scores", ops.Multiply(), p, centred, axes=key)
        return made

    @cached_property
    def three_ways(self) -> Trace:
        """The layer with gradients to `embeddings` as queries, keys and values, and their sum."""
        goal = replace(self.goal, loss="context")  # it asks something of all three
        other = layer(self.inputs, goal, self.width, self.seed)
        return backward(other.forward(self.matrices), "loss", ("embeddings",))

    def way(self, which: str) -> Trace:
        """A trace with gradients that shows what a way of building a layer does to them."""
        if which == "heads":
            return self._of_heads()
        if which == "residual":
            return self._with_residual()
        return self.trace(dropout=DROPOUT if which == "dropout" else 0.0)

    def _of_heads(self) -> Trace:
        """Two heads, of which the first is to look more at the key."""
        made = attend_heads(self.embedded.branch(), HeadsRecipe(causal=True), joined=False)
        place = ops.Entry((0, self.goal.query, self.goal.key))
        wanted = made.step("wanted_weight", place, made["head_weights"], axes=())
        made.step("loss", ops.ScaleBy(-1.0), wanted, axes=())
        return backward(made, "loss", ("W_query", "W_key"))

    def _with_residual(self) -> Trace:
        """Attention whose output is added to what it read; the query's row is to become larger."""
        made = self.forward(self.matrices)
        d_in, width = self.matrices.W_value.shape
        mixes = ops.Draw("linear", (width, d_in), seed=0)
        back = made.step("W_back", mixes, axes=("d_value", "d_in"))
        added = times(made, "attention_output", made["context_vectors"], back)
        both, axes = (made["embeddings"], added), ("token", "d_in")
        stream = made.step("after_attention", ops.Add(), *both, axes=axes)
        one = made.step("one_row", ops.Row(self.goal.query), stream, axes=("d_in",))
        made.step("grows", ops.SumLast(), one, axes=())
        made = backward(made, "grows", ("embeddings",))
        _, *ways = made["grad_embeddings"].inputs
        made.step("grad_through_attention", ops.Total(len(ways)), *ways, axes=axes)
        return made


layer = lru_cache(maxsize=32)(Layer)


@lru_cache(maxsize=64)
def losses_along(of: Layer, name: str, cell: Place, changes: tuple[float, ...]) -> list[float]:
    """The loss at each change of one entry."""
    return [of.loss(of.with_entry(name, cell, change)) for change in changes]


@lru_cache(maxsize=64)
def after_each(of: Layer, rates: tuple[float, ...], name: str) -> dict[float, tuple[float, Step]]:
    """The loss after one update with each learning rate, and a matrix then."""
    passes = {rate: of.forward(of.after(rate)) for rate in rates}
    return {rate: (made["loss"].value.item(), made[name]) for rate, made in passes.items()}
