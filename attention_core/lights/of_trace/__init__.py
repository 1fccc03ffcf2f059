"""The lights of a trace: each property measured on its own numbers, or by computing it again."""

from collections.abc import Callable

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


class Lights(dict[str, Light]):
    """The lights of a trace by name, each measured when it is first asked for.

    `may_look` (query, key) says which keys a query is meant to see, whatever mask the trace has;
    None where all are. `second` makes it again from the same input, if it can be called twice.
    Only the steps that `output` is made from are looked at; "" for the last vectors of tokens. The
    lights of a backward pass are among them where there is one.
    Raises ValueError for a trace without vectors of tokens, KeyError for a light that there is not.
    """

    def __init__(
        self,
        trace: Trace,
        may_look: Tensor | None = None,
        second: Callable[[], Trace] | None = None,
        output: str = "",
    ) -> None:
        self._seen = Seen(trace, output or last_of_tokens(trace), may_look, second)
        without = () if trace.gradients else OF_GRADIENTS
        self.names = [name for name in TITLES if name in _OF and name not in without]

    def __missing__(self, name: str) -> Light:
        self[name] = light_of(self._seen, name, _OF[name])
        return self[name]


def lights(trace: Trace, may_look: Tensor | None = None, output: str = "") -> tuple[Light, ...]:
    """What of all that attention should do a trace does, as `Lights`, in the order of `TITLES`."""
    made = Lights(trace, may_look, output=output)
    return tuple(made[name] for name in made.names)
