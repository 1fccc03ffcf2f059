"""How a learner's function is called: what it takes, in batches or not, and what it gives."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
import torch.nn.functional as F
from torch import Tensor

CAUSAL = ("causal", "is_causal")
HEADS = ("n_heads", "num_heads", "n_head")


FEWEST_DIGITS = 1e-5
"""The coarsest rounding of a kind of number with which a check can tell right from wrong."""
MOST_SAID = 200
"""How many characters of a message of somebody else's are repeated."""


class Stopped(Exception):
    """The learner's code stopped, or gave something that is no output. Says so in words."""

    def __init__(self, words: str) -> None:
        super().__init__(printable(words))


class Caller:
    """A function of (x, W_q, W_k, W_v), or of (q, k, v), as something that always takes (token,
    d_in) and three matrices, and always gives (token, d_value) in float64.

    It is given `causal` and `n_heads` where it takes arguments of such names. A fifth matrix that
    it insists on, that of the output, is the identity.
    """

    def __init__(self, function: Callable, causal: bool = False, n_heads: int = 1) -> None:
        self.function = function
        self.is_batched = False
        self.overwrites = False
        """Whether a call has left other numbers in what it was given."""
        required, named = parameters_of(getattr(function, "forward", function))
        self.options = {name: causal for name in CAUSAL if name in named}
        self.options |= {name: n_heads for name in HEADS if name in named}
        is_torchs = function is F.scaled_dot_product_attention
        if is_torchs:
            self.options = {"is_causal": causal}
        self.takes_vectors = is_torchs or [name[:1] for name in required] == ["q", "k", "v"]
        matrices = [name for name in required if name not in self.options]
        self.takes_output = len(matrices) == 5 and "mask" not in matrices[4]

    def __call__(self, vectors: Tensor, *matrices: Tensor) -> Tensor:
        """The output (token, d_value). Raises Stopped where the function does, or gives no such."""
        given = [vectors, *matrices]
        if self.takes_vectors:
            given = [vectors @ matrix for matrix in matrices]
        elif self.takes_output:
            given.append(torch.eye(matrices[-1].shape[-1]))
        # Copies: a function that writes into its input must not change the next call's.
        copies = [each.clone() for each in given]
        n_batched = (3 if self.takes_vectors else 1) if self.is_batched else 0
        handed = [each[None] if at < n_batched else each for at, each in enumerate(copies)]
        with stopping():
            result = self.function(*handed, **self.options)
            output = self._output(result, (len(vectors), matrices[-1].shape[-1]))
            self.overwrites |= not all(map(torch.equal, copies, given))
        return output

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
        tensors = tensors_in(result)
        for each in tensors:
            if tuple(each.shape) == wanted:
                return numbers_of(each).reshape(shape)
        yours = " × ".join(map(str, tensors[0].shape)) or "a single number"
        raise Stopped(
            f"its output is {yours}, where {' × '.join(map(str, wanted))} belongs: for each token, "
            "a vector as wide as a value"
        )


@contextmanager
def stopping() -> Iterator[None]:
    """Without gradients; whatever the code within raises comes out as Stopped. A learner's
    Ctrl-C alone goes through.
    """
    try:
        with torch.no_grad():
            yield
    except (Stopped, KeyboardInterrupt):
        raise
    except BaseException as error:  # SystemExit too: it would end the check without a verdict
        raise Stopped(f"it {stop_of(error)}") from error


def stop_of(error: BaseException) -> str:
    """That something stopped with this error, in one line."""
    try:
        first = str(error).strip().partition("\n")[0]
    except Exception:  # what an error says of itself is the learner's code too
        first = "(its message cannot be read)"
    return f"stopped with {type(error).__name__}{f': {first}' if first else ''}"


def printable(text: str) -> str:
    """On one line, not too long, and with a code in place of what a terminal would act on."""
    shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
    return shown if len(shown) <= MOST_SAID else f"{shown[:MOST_SAID]}…"


def tensors_in(result: object) -> list[Tensor]:
    """The tensors that it returned. Raises Stopped for none, and for nested ones, which have no
    shape.
    """
    found = result if isinstance(result, tuple | list) else (result,)
    tensors = [each for each in found if isinstance(each, Tensor)]
    if not tensors:
        raise Stopped(f"it returned {type(result).__name__}, not a tensor")
    if any(each.is_nested for each in tensors):
        raise Stopped("its output is a nested tensor: return an ordinary one, (token, d_value)")
    return tensors


def numbers_of(tensor: Tensor) -> Tensor:
    """Its numbers, as a float64 copy that no later call can change. Raises Stopped where it has
    none, or none that can be compared.
    """
    kind = str(tensor.dtype).removeprefix("torch.")
    if tensor.is_complex():
        raise Stopped(f"its output is {kind}: attention of real numbers gives real numbers")
    if tensor.is_meta:
        raise Stopped("its output is on the device “meta”, where tensors have no numbers")
    if tensor.layout is not torch.strided:
        raise Stopped("its output is sparse: return an ordinary tensor, output.to_dense()")
    if not tensor.is_floating_point():
        raise Stopped(f"its output is {kind}, where numbers with a fraction belong")
    if torch.finfo(tensor.dtype).eps > FEWEST_DIGITS:
        raise Stopped(f"its output is {kind}: {too_few_digits(kind)}")
    return tensor.detach().to("cpu", torch.float64, copy=True)


def too_few_digits(kind: str) -> str:
    """That numbers of this kind are too coarse to tell √d from a little more, and what to do."""
    return f"{kind} has too few digits: check a copy of it in float32, .float()"


def parameters_of(function: Callable) -> tuple[list[str], list[str]]:
    """The names of the parameters that must be given by place, and of all."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some that are written in C tell nothing of themselves
        return [], []
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    required = [e.name for e in found if e.kind in by_place and e.default is e.empty]
    return required, [e.name for e in found]
