"""How a learner's function is called: what it takes, with a batch axis or without, and what it
gives.

The source of this file is part of the file that checks a learner's own code. It therefore needs
torch and the standard library alone.
"""

import inspect
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

CAUSAL = ("causal", "is_causal")
HEADS = ("n_heads", "num_heads", "n_head")


class Stopped(Exception):
    """The learner's code stopped, or gave something that is no output. Says so in words."""


class Caller:
    """A function of (x, W_q, W_k, W_v), or of (q, k, v), as something that always takes (token,
    d_in) and three matrices, and always gives (token, d_v) in float64.

    It is given `causal` and `n_heads` where it takes arguments of such names. A fifth matrix that
    it insists on, that of the output, is the identity.
    """

    def __init__(self, function: Callable, causal: bool = False, n_heads: int = 1) -> None:
        self.function = function
        self.is_batched = False
        required, named = parameters_of(function)
        self.options = {name: causal for name in CAUSAL if name in named}
        self.options |= {name: n_heads for name in HEADS if name in named}
        is_torchs = function is F.scaled_dot_product_attention
        if is_torchs:
            self.options = {"is_causal": causal}
        self.takes_vectors = is_torchs or [name[:1] for name in required] == ["q", "k", "v"]
        matrices = [name for name in required if name not in self.options]
        self.takes_output = len(matrices) == 5 and "mask" not in matrices[4]

    def __call__(self, vectors: Tensor, *matrices: Tensor) -> Tensor:
        """The output (token, d_v). Raises Stopped where the function does, or gives no such."""
        given = [vectors, *matrices]
        if self.takes_vectors:
            given = [vectors @ matrix for matrix in matrices]
        elif self.takes_output:
            given.append(torch.eye(matrices[-1].shape[-1]))
        # Copies: a function that writes into its input must not change the next call's.
        given = [each.clone() for each in given]
        n_batched = (3 if self.takes_vectors else 1) if self.is_batched else 0
        given = [each[None] if at < n_batched else each for at, each in enumerate(given)]
        try:
            with torch.no_grad():
                result = self.function(*given, **self.options)
        except Exception as error:
            raise Stopped(stop_of(error)) from error
        return self._output(result, (len(vectors), matrices[-1].shape[-1]))

    def settle(self, *given: Tensor) -> None:
        """Find out whether it wants a batch axis. Raises Stopped where it runs neither way."""
        self.is_batched = False
        try:
            self(*given)
        except Stopped as plain:
            self.is_batched = True
            try:
                self(*given)
            except Stopped as batched:
                self.is_batched = "unpack" in str(plain) or "Dimension out of" in str(plain)
                raise (batched if self.is_batched else plain) from None

    def _output(self, result: object, shape: tuple[int, int]) -> Tensor:
        wanted = (1, *shape) if self.is_batched else shape
        found = result if isinstance(result, tuple | list) else (result,)
        tensors = [each for each in found if isinstance(each, Tensor)]
        for each in tensors:
            if tuple(each.shape) == wanted:
                return each.detach().double().reshape(shape)
        if not tensors:
            raise Stopped(f"it returned {type(result).__name__}, not a tensor")
        yours = " × ".join(map(str, tensors[0].shape)) or "a single number"
        raise Stopped(
            f"its output is {yours}, where {' × '.join(map(str, wanted))} belongs: for each token, "
            "a vector as wide as a value"
        )


def stop_of(error: Exception) -> str:
    """That it stopped with this error, in one line."""
    first = str(error).strip().partition("\n")[0]
    return f"it stopped with {type(error).__name__}{f': {first}' if first else ''}"


def parameters_of(function: Callable) -> tuple[list[str], list[str]]:
    """The names of the parameters that must be given by place, and of all."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some that are written in C tell nothing of themselves
        return [], []
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    required = [e.name for e in found if e.kind in by_place and e.default is e.empty]
    return required, [e.name for e in found]
