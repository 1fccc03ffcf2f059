"""The lights of a trace: each property measured on its own numbers, or by computing it again."""

from torch import Tensor

from ...trace import Trace
from ..light import TITLES, Light
from .again import last_of_tokens
from .of_gradients import OF_GRADIENTS, has_gradients
from .of_ids import ids
from .of_vectors import OF_VECTORS
from .of_weights import OF_WEIGHTS
from .seen import Seen

_OF = {each.__name__: each for each in (*OF_WEIGHTS, *OF_VECTORS, *OF_GRADIENTS, ids)}
"""How each light is measured, by its name."""


def lights(
    trace: Trace,
    may_look: Tensor | None = None,
    second: Trace | None = None,
    output: str = "",
) -> tuple[Light, ...]:
    """What of all that attention should do a trace does, in the order of `TITLES`.

    `may_look` (query, key) says which keys a query is meant to see, whatever mask the trace has;
    None where all are. `second` is what a second call with the same input made, if there was one.
    Only the steps that `output` is made from are looked at; "" for the last vectors of tokens. The
    lights of a backward pass are among them where there is one.
    Raises ValueError for a trace without vectors of tokens.
    """
    seen = Seen(trace, output or last_of_tokens(trace), may_look, second)
    without = () if has_gradients(trace) else [each.__name__ for each in OF_GRADIENTS]
    return tuple(_light(name, seen) for name in TITLES if name in _OF and name not in without)


def one_light(trace: Trace, name: str, may_look: Tensor | None = None, output: str = "") -> Light:
    """One of the lights of a trace, as in `lights`. Raises KeyError for one that there is not."""
    return _light(name, Seen(trace, output or last_of_tokens(trace), may_look, None))


def _light(name: str, seen: Seen) -> Light:
    measure = _OF[name]
    if measure in OF_WEIGHTS and not seen.attentions:
        return Light(name, None, "There are no weights in it.")
    return Light(name, *measure(seen))
