"""What cards, questions and traces have come to, cached for everybody; and what the engine has to
know of this app (`attention_ui/reactive`).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from attention_core.trace import Step, Trace
from attention_core.utils.caching import digest

from ..frame.of_the_system import share_of_memory
from ..reactive.cache import CALLED, Cache, while_made
from ..reactive.code_check import ROOMS, never_reached
from ..reactive.control import Values
from ..reactive.function_identity import never_closed_over, told_apart_by
from ..reactive.isolation import READABLE, say_instead
from . import tracked_trace

UI = __package__.rpartition(".")[0]
MOST_BYTES = share_of_memory()
"""Of all that is cached together: what was asked for longest ago goes first."""
cache = Cache(MOST_BYTES)

say_instead(
    "What it makes is kept for everybody by what it has read, so it can read what is noted: `v`, "
    "the values of its controls; `trace`; `is_covered(…)`; `run_so_far(…)`; `settings.fixed()`, "
    "what a teacher’s link hides or locks; or a source of its own "
    "(attention_ui/reactive/source.py). What runs for one visitor alone, such as what a button "
    "does, or what stands in "
    "`ui.alive(…)`, may ask for anything.",
    *(f"{UI}.{room}." for room in ("controls", "cards", "frame")),
)
CALLED |= {
    "ask": "The question {2!r} of {1}",
    "hides": "What the question {2!r} of {1} covers",
    "answers": "A closing answer of {1}",
    "trace": "The trace of {1}",
    "marks": "What is printed of {1}",
    "positions": "The picture {3!r} of the card {2!r} of {1}",
}
told_apart_by[torch.Tensor] = lambda one: digest(one.detach())
never_closed_over |= dict.fromkeys((Values, Trace, Step), "`v` or `trace`")
READABLE.add(str(Path(__file__).parents[2]))
ROOMS += [f"{UI}.{room}" for room in ("lessons", "charts", "picture", "words")]
never_reached(vars(Trace)["of"].__func__, tracked_trace.plain)


@contextmanager
def same_chance() -> Iterator[None]:
    """Whatever draws torch's own random numbers within draws the same at each run: so does a layer
    of torch's when it is made, though others take the place of its numbers.
    """
    before = torch.random.get_rng_state()
    torch.default_generator.manual_seed(0)
    try:
        yield
    finally:
        torch.random.set_rng_state(before)


while_made[0] = same_chance
