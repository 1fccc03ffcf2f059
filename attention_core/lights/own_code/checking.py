"""Check a function or a module of a learner's own, and say what is wrong first."""

from collections.abc import Callable

import torch
from torch import nn

from ..light import OF_FUNCTIONS, Light
from .calling import Caller, Stopped, parameters_of, printable
from .diagnosis import diagnosed
from .function_lights import function_lights
from .layer import Layer, at_rest
from .module_lights import likely_in_module, module_lights
from .other_shapes import is_turned, on_tokens
from .probe import Probe
from .report import Report, say, stopped_report
from .sentences import Sentence, all_widths, matrices

MOST_HEADS = 64
MOST_WIDE = 100_000
"""More would fill the memory before anything is found."""


def check(
    attention: Callable | nn.Module, causal: bool = False, n_heads: int = 1, d_in: int | None = None
) -> Report:
    """Look at each light, print what was found, and return it.

    `attention` is a function of (x, W_q, W_k, W_v), with x (token, d_in), or of (q, k, v), or an
    nn.Module. `causal`: whether later tokens should be hidden; it is passed on where the function
    has an argument of that name. A window, and a bias that grows with the distance (ALiBi), are
    recognised, and said. `n_heads`: how many heads a function splits the columns into.
    `d_in`: how wide a module's vectors are, where its layers do not tell. Raises TypeError for a
    class, of which no module has been made yet, and ValueError for counts that cannot be.
    """
    report = looked_at(attention, causal, n_heads, d_in)
    say(report.text())
    return report


def looked_at(
    attention: Callable | nn.Module, causal: bool = False, n_heads: int = 1, d_in: int | None = None
) -> Report:
    """As `check`, without a word."""
    if isinstance(attention, type):
        name = attention.__name__
        raise TypeError(f"{name} is a class: make a module first, as in check({name}(…))")
    _insist_on_count("n_heads", n_heads, MOST_HEADS)
    if d_in is not None:
        _insist_on_count("d_in", d_in, MOST_WIDE)
    devices = range(torch.cuda.device_count())
    with torch.random.fork_rng(devices):  # the learner's own draws go on as if nothing had been
        if not isinstance(attention, nn.Module):
            return _of_function(attention, causal, n_heads)
        with at_rest(attention):
            if _is_function(attention):
                return _of_function(attention, causal, n_heads)
            return _of_module(attention, causal, d_in)


def _insist_on_count(name: str, number: int, most: int) -> None:
    if type(number) is not int or not 1 <= number <= most:
        raise ValueError(f"{name} is {printable(repr(number))}: write a number from 1 to {most:,}")


def _is_function(module: nn.Module) -> bool:
    """Whether it has nothing of its own, and is given its matrices, or q, k and v."""
    required, _ = parameters_of(module.forward)
    return len(required) > 1 and not any(True for _ in module.parameters())


def _of_module(module: nn.Module, causal: bool, d_in: int | None) -> Report:
    try:
        layer = Layer(module, causal, d_in)
        output = layer(layer.draw())
    except Stopped as stopped:
        return stopped_report(str(stopped), without=OF_FUNCTIONS)
    if not layer.meets:
        said = "no token's output depends on another token"
        return stopped_report(said, ("tokens_never_meet",), without=OF_FUNCTIONS)
    runs = f"{layer.n_tokens} × {layer.d_in} in, {' × '.join(map(str, output.shape))} out"
    if layer.takes_batch_for_tokens:
        runs += "; with a batch axis in front no token looks at another: batch_first=True?"
    try:
        lights = [Light("runs", True, runs), *module_lights(layer)]
        return Report(tuple(lights), tuple(likely_in_module(layer, lights)))
    except Stopped as stopped:
        return stopped_report(f"called again, {stopped}", without=OF_FUNCTIONS)


def _of_function(function: Callable, causal: bool, n_heads: int) -> Report:
    call, first = Caller(function, causal, n_heads), None
    for widths in all_widths(n_heads):
        given = (Sentence.drawn(n_heads).vectors(widths), *matrices(widths))
        try:
            call.settle(*given)
        except Stopped as stopped:
            first = first or stopped
            continue
        try:
            probe = Probe(call, widths, causal)
        except Stopped as stopped:
            return stopped_report(f"called again, {stopped}")
        if probe.unread and widths.d_in == widths.d_value * n_heads and is_turned(probe):
            return stopped_report(str(first), ("matrices_turned",))
        shapes = [" × ".join(map(str, each.shape)) for each in given]
        said = f"x {shapes[0]}, W_q {shapes[1]}, W_v {shapes[3]}"
        try:
            lights = [Light("runs", True, said), *function_lights(probe)]
            return Report(tuple(lights), tuple(diagnosed(probe, lights)), probe.ways.said())
        except Stopped as stopped:
            return stopped_report(f"called again, {stopped}")
    if lights := on_tokens(call, causal, n_heads):
        return Report(tuple(lights), ("matrices_on_tokens",))
    splits = n_heads == 1 and ("shape" in str(first) or "divis" in str(first))
    hint = " (If it splits heads, say how many: check(attention, n_heads=3).)" if splits else ""
    return stopped_report(f"{first}{hint}")
