"""An nn.Module as something that takes vectors and gives vectors, and weights if it has them."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product

import torch
from torch import Tensor, nn

from .calling import (
    CAUSAL,
    FEWEST_DIGITS,
    Stopped,
    numbers_of,
    parameters_of,
    stopping,
    tensors_in,
    too_few_digits,
)
from .reading import is_near, may_look

LENGTHS = (7, 6, 5, 4, 3, 2)
"""The numbers of tokens to begin with: a module may have a longest sentence."""

ANY_WIDTH = 12
"""How wide the vectors are for a module without parameters, to which any width is the same."""


class Layer:
    """A module as something that takes vectors (token, d_in) and gives (token, d_out), with the
    weights (head, query, key) where it returns them.
    """

    def __init__(self, module: nn.Module, causal: bool, d_in: int | None = None) -> None:
        self.module, self.causal = module, causal
        self.kind = _kind(module)
        self.places: tuple[int | None, ...] = (0, None, 1)
        if self.kind:
            attention = next(e for e in module.modules() if isinstance(e, nn.MultiheadAttention))
            self.places = (0,) if attention.batch_first else (1,)
        self.place: int | None = None
        """Where the batch axis stands; None for none."""
        self.meets = True
        """Whether a token's output depends on another token."""
        self.takes_batch_for_tokens = False
        """Whether tokens look at each other in another way, and not with a batch axis in front."""
        self.overwrites = False
        """Whether a call has left other numbers in what it was given."""
        self.d_in, self.n_tokens = 0, 0
        self._settle(d_in)

    def draw(self, n_tokens: int | None = None, seed: int = 0) -> Tensor:
        """Vectors (token, d_in) at random."""
        generator = torch.Generator().manual_seed(seed)
        return torch.randn(n_tokens or self.n_tokens, self.d_in, generator=generator)

    def with_token(self, token: int, seed: int = 1) -> Tensor:
        """The vectors that it draws first, with another one in the place of one token."""
        vectors = self.draw()
        vectors[token] = self.draw(seed=seed)[token]
        return vectors

    def look(self) -> None:
        """Call it twice, and keep what it gives: the lights are measured against that."""
        self.output, self.weights = self.both(self.draw())
        self.seen = may_look(self.n_tokens, self.causal)
        again = self(self.draw()).nan_to_num()
        self.is_repeatable = is_near(again, self.output.nan_to_num())

    def __call__(self, vectors: Tensor, queries: Tensor | None = None) -> Tensor:
        """The output (token, d_out), in float64."""
        return self.both(vectors, queries)[0]

    def both(self, vectors: Tensor, queries: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        """The output and the weights, if any. Raises Stopped where the module does."""
        asked = (vectors if queries is None else queries, vectors)
        with stopping():
            given = [self._batched(each) for each in asked]
            result = self._forward(given[0], given[1], len(vectors))
            both = self._read(result, len(vectors))
            self.overwrites |= not all(map(torch.equal, given, map(self._batched, asked)))
        return both

    def _batched(self, vectors: Tensor) -> Tensor:
        like = next(self.module.parameters(), vectors)
        vectors = vectors.detach().clone().to(like)
        return vectors if self.place is None else vectors.unsqueeze(self.place)

    def _forward(self, queries: Tensor, vectors: Tensor, n_tokens: int) -> object:
        # For these, True hides.
        mask = ~may_look(n_tokens, True).to(vectors.device) if self.causal else None
        if self.kind == "attention":
            return self.module(
                queries, vectors, vectors, attn_mask=mask, average_attn_weights=False
            )
        if self.kind == "layer":
            return self.module(vectors, src_mask=mask)
        if self.kind == "layers":
            return self.module(vectors, mask=mask)
        required, named = parameters_of(self.module.forward)
        options = {name: self.causal for name in CAUSAL if name in named}
        n_given = 3 if len(required) == 3 else 1
        return self.module(*[vectors] * n_given, **options)

    def _read(self, result: object, n_tokens: int) -> tuple[Tensor, Tensor | None]:
        first, *others = tensors_in(result)
        output = numbers_of(first)
        yours = " × ".join(map(str, output.shape))
        if self.place is not None and output.ndim == 3 and output.shape[self.place] == 1:
            output = output.squeeze(self.place)
        if output.ndim != 2 or len(output) != n_tokens:
            raise Stopped(f"its output is {yours}, with no vector for each of {n_tokens} tokens")
        square = [e for e in others if e.ndim > 1 and e.shape[-2:] == (n_tokens, n_tokens)]
        square = [e for e in square if e.is_floating_point()]
        weights = numbers_of(square[0]).reshape(-1, n_tokens, n_tokens) if square else None
        return output, weights

    def _settle(self, d_in: int | None) -> None:
        """Find a length, a width and a batch axis with which it runs, and in which tokens look at
        each other if there are such. Raises Stopped for none.
        """
        first, alone = None, None
        for parameter in self.module.parameters():
            kind = str(parameter.dtype).removeprefix("torch.")
            if not parameter.is_floating_point():
                raise Stopped(f"it has parameters that are {kind}, not real numbers")
            if torch.finfo(parameter.dtype).eps > FEWEST_DIGITS:
                raise Stopped(too_few_digits(kind))
        widths = [d_in] if d_in else list(dict.fromkeys(_widths(self.module)))
        if not widths and not any(True for _ in self.module.parameters()):
            widths = [ANY_WIDTH]
        if not widths:
            raise Stopped("nothing tells how wide its vectors are: add d_in, as in d_in=12")
        for way in product(LENGTHS, widths, self.places):
            self.n_tokens, self.d_in, self.place = way
            try:
                self.meets = self._meets()
            except Stopped as stopped:
                first = first or stopped
                continue
            if self.meets:
                self.takes_batch_for_tokens = alone is not None and alone[2] == 0
                return
            alone = alone or way
        if not alone:
            raise first
        self.n_tokens, self.d_in, self.place = alone

    def _meets(self) -> bool:
        """Whether another first or last token changes any output but its own."""
        output, moved = self(self.draw()), []
        for token in (0, -1):
            others = torch.arange(self.n_tokens) != token % self.n_tokens
            moved.append(not torch.equal(self(self.with_token(token))[others], output[others]))
        return any(moved)


def _kind(module: nn.Module) -> str:
    """Which of torch's own layers it is; "" for another."""
    kinds = {
        nn.MultiheadAttention: "attention",
        nn.TransformerEncoderLayer: "layer",
        nn.TransformerEncoder: "layers",
    }
    return next((name for kind, name in kinds.items() if isinstance(module, kind)), "")


def _widths(module: nn.Module) -> Iterator[int]:
    """The widths that its vectors may have, most likely first."""
    for name in ("d_in", "d_model", "embed_dim"):
        if isinstance(getattr(module, name, None), int):
            yield getattr(module, name)
    for each in module.modules():
        if isinstance(each, nn.MultiheadAttention):
            yield each.embed_dim
        elif isinstance(each, nn.Linear):
            yield each.in_features
    for parameter in module.parameters():
        if parameter.ndim == 2:
            yield from parameter.shape


@contextmanager
def at_rest(module: nn.Module) -> Iterator[None]:
    """The module in eval mode, as after `module.eval()`; each of its parts is then as it was."""
    modes = {part: part.training for part in module.modules()}
    module.eval()
    try:
        yield
    finally:
        for part, mode in modes.items():
            part.training = mode
