"""The lights of a trace: each property measured on its own numbers, or by computing it again."""

from torch import Tensor

from ...trace import Trace
from ..light import OF_GRADIENTS, TITLES, Light
from ..measures import MEASURES, light_of
from .again import last_of_tokens
from .of_gradients import gradient_rows, hidden_learn_nothing, slopes
from .of_ids import ids
from .seen import Seen

_OF = MEASURES | {e.__name__: e for e in (slopes, gradient_rows, hidden_learn_nothing, ids)}
"""How each light is measured, by its name."""


def lights(
    trace: Trace, may_look: Tensor | None = None, second: Trace | None = None, output: str = ""
) -> tuple[Light, ...]:
    """What of all that attention should do a trace does, in the order of `TITLES`.

    `may_look` (query, key) says which keys a query is meant to see, whatever mask the trace has;
    None where all are. `second` is what a second call with the same input made, if there was one.
    Only the steps that `output` is made from are looked at; "" for the last vectors of tokens. The
    lights of a backward pass are among them where there is one.
    Raises ValueError for a trace without vectors of tokens.
    """
    seen = Seen(trace, output or last_of_tokens(trace), may_look, second)
    without = () if trace.gradients else OF_GRADIENTS
    names = (name for name in TITLES if name in _OF and name not in without)
    return tuple(light_of(seen, name, _OF[name]) for name in names)


def one_light(trace: Trace, name: str, may_look: Tensor | None = None, output: str = "") -> Light:
    """One of the lights of a trace, as in `lights`. Raises KeyError for one that there is not."""
    return light_of(Seen(trace, output or last_of_tokens(trace), may_look, None), name, _OF[name])
