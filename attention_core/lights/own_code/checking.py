"""Check a function or a module of a learner's own, and say what is wrong first."""

import contextlib
import copy
from collections.abc import Callable, Iterator
from operator import methodcaller
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from ..light import OF_WEIGHTS, TITLES, Light
from ..measures import MEASURES, gap, light_of, most, rows_of
from .calling import Call, Stopped, printable, stopping
from .in_use import cached, learns, mask_in_words, padding
from .naming import by_comparing, formula_when_turned, named
from .opened import opened_in
from .reading import NEAR, largest_gap
from .report import Report, line_of, to_the_screen
from .sentences import Sizes, all_sizes, drawn_at_random, even_sizes
from .subjects import Closed, Code, Open, unused_in_words

MOST_HEADS = 64
MOST_WIDE = 100_000
"""More would fill the memory before anything is found."""
HEADS_TRIED = (1, 2, 3, 4, 5, 6, 8, 12, 16)
"""So many heads are tried where a function splits its columns and was not said into how many."""
OVERWRITES = "It writes into the tensors it is given: the next call would find other numbers."
INSIDE = (*OF_WEIGHTS, "own_row", "variance", "formula")
"""The lights that a module's own attention shows where the module does not."""


def check(
    attention: Callable | nn.Module,
    causal: bool = False,
    n_heads: int | None = None,
    d_in: int | None = None,
) -> Report:
    """Look at each light, print it as it comes, then what is likely wrong, and return the report.

    `attention` is a function of (x, W_q, W_k, W_v), with x (token, d_in), or of (q, k, v), or an
    nn.Module. `causal`: whether later tokens should be hidden; it is passed on where the function
    has an argument of that name, or a mask. A window, ALiBi and rotary positions are recognised,
    and said. `n_heads`: how many heads it splits the columns into. `d_in`: how wide a module's
    vectors are, where its layers do not tell. Raises TypeError for a class, of which no module has
    been made yet, and ValueError for counts that cannot be.
    """
    return looked_at(attention, causal, n_heads, d_in, to_the_screen)


def looked_at(
    attention: Callable | nn.Module,
    causal: bool = False,
    n_heads: int | None = None,
    d_in: int | None = None,
    say: Callable[[str], object] = lambda _: None,
) -> Report:
    """As `check`, without a word unless there is something to say it by."""
    if isinstance(attention, type):
        name = attention.__name__
        raise TypeError(f"{name} is a class: make a module first, as in check({name}(…))")
    for name, number, largest in (("n_heads", n_heads, MOST_HEADS), ("d_in", d_in, MOST_WIDE)):
        if number is not None and (type(number) is not int or not 1 <= number <= largest):
            said = printable(repr(number))
            raise ValueError(f"{name} is {said}: write a number from 1 to {largest:,}")
    devices = range(torch.cuda.device_count())
    lights: list[Light] = []

    def see(light: Light) -> None:
        lights.append(light)
        say(line_of(light))

    with torch.random.fork_rng(devices), at_rest(attention):  # own draws go on as if nothing was
        try:
            subject, said = subject_of(attention, causal, n_heads, d_in)
            see(Light("runs", True, said))
            other = without_weights(subject)
            for light in lights_of_code(subject, other):
                see(light)
            ways = subject.ways.said() if isinstance(subject, Open) else ()
            if spare := tuple(e for e in subject.unused if e not in subject.missing):
                ways = (*ways, unused_in_words(spare))
            by_first = other.subject if other and other.is_first_red(lights) else subject
            mask = mask_in_words(subject)
            report = Report(tuple(lights), named(by_first, lights), ways, mask)
        except Stopped as stopped:
            again = "called again, " if lights else ""
            see(Light("runs", False, f"{again}{stopped}"))
            report = Report((lights[-1], *lights[1:-1]), (stopped.name,) if stopped.name else ())
    say("\n".join(["", *report.verdict()]))
    return report


def subject_of(
    attention: Callable, causal: bool, n_heads: int | None, d_in: int | None
) -> tuple[Code, str]:
    """What is measured, and how. Raises Stopped where it does not run."""
    if isinstance(attention, nn.Module) and any(map(is_lazy, attention.parameters())):
        with stopping():
            attention = copy.deepcopy(attention)  # a first call would settle the sizes of theirs
    call = Call(attention, causal, n_heads or 1)
    if not call.is_closed:
        return _of_function(attention, causal, n_heads)
    closed = Closed(call, d_in)
    if not closed.call.meets:
        raise Stopped("no token's output depends on another token")
    closed.find_unused()
    subject = opened(attention, causal, n_heads, closed.unused) or closed
    if subject is closed and closed.unused:  # a mistake that is known may be why they play none
        whole = opened(attention, causal, n_heads)
        subject = whole if whole and by_comparing(whole) else closed
    else:
        subject.unused = closed.unused
    if subject is closed:
        closed.begin()
        closed.inside, closed.inside_name = _first_open(attention, causal, n_heads)
        if not closed.inside and (found := _one_of_alike(attention, causal, closed.d_in)):
            closed.inside, closed.inside_name = found, "each head"
    n_out = subject.output.shape[-1]
    said = f"{subject.n_tokens} × {subject.d_in} in, {subject.n_tokens} × {n_out} out"
    if subject.call.way.layout == "tokens first":
        said += "; with a batch axis in front no token looks at another: batch_first=True?"
    return subject, said


def _first_open(module: Callable, causal: bool, n_heads: int | None) -> tuple[Open | None, str]:
    """The first attention in a module whose matrices can be told, and what it is called there."""
    parts = list(module.named_modules())[1:] if isinstance(module, nn.Module) else ()
    for name, part in parts:
        with contextlib.suppress(Stopped):
            if found := opened(part, causal, n_heads):
                return found, name
    return None, ""


def _one_of_alike(module: Callable, causal: bool, d_in: int) -> Open | None:
    """One head of a module that cuts vectors first, and uses the same matrices on each part."""
    for each in opened_in(module, 1, of_one_head=True) if isinstance(module, nn.Module) else ():
        n_alike, rest = divmod(d_in, each.sizes.d_in)
        if n_alike < 2 or rest:
            continue
        sizes = each.sizes._replace(n_alike=n_alike)
        with contextlib.suppress(Stopped):
            subject = Open(Call(module, causal), sizes, each._replace(sizes=sizes))
            subject.settle()
            subject.begin()
            if not subject.unread:
                return subject
    return None


def opened(
    module: Callable, causal: bool, n_heads: int | None, unused: tuple[str, ...] = ()
) -> Open | None:
    """A module as something that is given its matrices; None where that cannot be."""
    first = None
    for each in opened_in(module, n_heads or 1, unused) if isinstance(module, nn.Module) else ():
        try:
            subject = Open(Call(module, causal, each.sizes.n_heads), each.sizes, each)
            subject.settle()
            subject.begin()
        except Stopped:
            continue
        if subject.unread and not by_comparing(subject):
            continue
        if not subject.unread and subject.formula()[0] is not False:
            return subject
        first = first or subject
    return first


def _of_function(function: Callable, causal: bool, n_heads: int | None) -> tuple[Open, str]:
    first = None
    tried: tuple[int, ...] = HEADS_TRIED
    if Call(function).takes_heads:  # with one, mistakes in how heads are split do not show
        tried = (2, 3, 1)
    for count in (n_heads,) if n_heads else tried:
        last_of_count = count == 1 or n_heads
        for sizes in (*all_sizes(count), *([even_sizes(count)] if last_of_count else ())):
            try:
                subject = Open(Call(function, causal, count), sizes)
                subject.settle()
                subject.begin()
            except Stopped as stopped:
                first, last = first or stopped, stopped
                continue
            if sizes == even_sizes(count) and formula_when_turned(subject)[0] is None:
                continue  # what runs by chance, as several heads that are taken for one, is neither
            if subject.call.is_module and (width := subject.fixed_width()):
                sizes = sizes._replace(d_head=width)  # made for one width: it is asked with that
                subject = Open(subject.call, sizes)
                subject.begin()
            return subject, _shapes(sizes)
        if not (last.__cause__ and last.is_of_shapes):
            break
    raise first


def _shapes(sizes: Sizes) -> str:
    vectors, *drawn = (" × ".join(map(str, e.shape)) for e in drawn_at_random(sizes, 7))
    heads = f", {sizes.n_heads} heads" if sizes.n_heads > 1 else ""
    return f"x {vectors}, W_q {drawn[0]}, W_v {drawn[2]}{heads}"


class Other(NamedTuple):
    """The code as it is called where other numbers come out, which they should not."""

    subject: Code | None
    """None where it stops."""
    said: str
    """How it is called."""
    fault: str
    """By how much that differs, or that it stops."""

    def is_first_red(self, lights: list[Light]) -> bool:
        """Whether the first red light is one of these."""
        first = next((light for light in lights if light.holds is False), None)
        return bool(self.subject and first and first.evidence.startswith(self.said))


def without_weights(subject: Code) -> Other | None:
    """The same where weights are not asked for, if it is another: training takes that way."""
    name = subject.call.asked_for_weights_by
    if not name or not subject.is_repeatable or not subject.output.isfinite().all():
        return None
    said = f"Called with {name}=False: "
    other = subject.called_otherwise(asks_weights=False)
    try:
        other.begin()
    except Stopped as stopped:
        return Other(None, said, f"{said}{stopped}.")
    far = largest_gap(other.output, subject.output)
    fault = f"{said}the output differs by up to {far:.4g} from that with {name}=True."
    return None if far <= NEAR else Other(other, said, fault)


def lights_of_code(subject: Code, other: Other | None = None) -> Iterator[Light]:
    """Every light of a function or module that runs, each as it comes."""
    for light in _lights_of(subject):
        if other:
            again = next(_lights_of(other.subject, light.name)) if other.subject else light
            if again.holds is False and light.holds is not False:
                light = again._replace(evidence=f"{other.said}{again.evidence}")
            elif light.holds is False and again.holds:
                asked = other.said.replace("False", "True")
                light = light._replace(evidence=f"{asked}{light.evidence}")
            if light.name == "repeatable" and light.holds is not False:
                light = Light("repeatable", False, other.fault)
        if light.name == "no_leak" and light.holds and (said := _leak_in_training(subject)):
            light = Light("no_leak", False, said)
        yield light


def _leak_in_training(subject: Code) -> str:
    """What is wrong where a module is trained, with what it drops drawn alike; "" for nothing."""
    module = subject.call.function
    if not isinstance(module, nn.Module):
        return ""
    with contextlib.suppress(Exception):  # what cannot be copied is left alone
        trained = subject.called_otherwise(
            function=copy.deepcopy(module).train(), asks_weights=False
        )
        for place in reversed(subject.places):
            vectors = subject.draw()
            torch.manual_seed(0)
            before = trained.of(vectors)
            vectors[place] = subject.draw(seed=1)[place]
            torch.manual_seed(0)
            moved = rows_of(gap(trained.of(vectors), before))
            far = max(moved[~subject.seen[:, place]].tolist(), default=0.0)
            if far > subject.same * most(before):
                return (
                    f"In training, after module.train(): change token {place}, and the output of "
                    f"tokens that may not see it moves by up to {far:.4g}."
                )
    return ""


def _lights_of(subject: Code, only: str = "") -> Iterator[Light]:
    inside = subject.inside
    own = ("formula", "second_text", "texts_apart")
    measures = MEASURES | {name: methodcaller(name) for name in own}
    measures |= {measure.__name__: measure for measure in (padding, cached, learns)}
    for name in [only] if only else filter(measures.__contains__, TITLES):
        measure = measures[name]
        is_inside = inside and name in INSIDE and not (name == "formula" and subject.missing)
        asked = inside if inside and is_inside else subject
        if name == "rows_sum_to_1" and isinstance(asked, Closed) and asked.unread:
            measure = Closed.equal_tokens
        try:
            if name == "formula" and isinstance(asked, Open) and asked.ways.turns:
                measure = formula_when_turned
            light = light_of(asked, name, measure)
            if asked is inside:
                light = light._replace(evidence=f"In {subject.inside_name}: {light.evidence}")
            if name == "repeatable" and subject.call.overwrites:
                light = Light(name, False, OVERWRITES)
        except Stopped as stopped:
            light = Light(name, False, str(stopped))
        yield light


@contextlib.contextmanager
def at_rest(module: Any) -> Iterator[None]:
    """The module in eval mode, as after `module.eval()`; each of its parts is then as it was."""
    modes = (
        {part: part.training for part in module.modules()} if isinstance(module, nn.Module) else {}
    )
    if modes:
        module.eval()
    try:
        yield
    finally:
        for part, mode in modes.items():
            part.training = mode
