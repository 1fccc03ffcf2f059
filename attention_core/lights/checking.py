"""Check a function or a module of a learner's own, and say what is wrong first.

The source of this file is part of the file that checks a learner's own code. It therefore needs
torch and the standard library alone.
"""

from collections.abc import Callable

import torch
from torch import nn

from .calling import Caller, Stopped
from .diagnosis import diagnosed
from .function_lights import function_lights
from .layer import Layer, at_rest
from .light import Light
from .module_lights import likely_in_module, module_lights
from .other_shapes import is_turned, on_tokens
from .probe import Probe
from .report import Report, say, stopped_report
from .sentences import Sentence, all_widths, matrices


def check(
    attention: Callable | nn.Module,
    causal: bool = False,
    n_heads: int = 1,
    d_in: int | None = None,
) -> Report:
    """Look at each light, print what was found, and return it.

    `attention` is a function of (x, W_q, W_k, W_v), with x (token, d_in), or of (q, k, v), or an
    nn.Module. `causal`: whether later tokens should be hidden; it is passed on where the function
    has an argument of that name. `n_heads`: how many heads a function splits the columns into.
    `d_in`: how wide a module's vectors are, where its layers do not tell. Raises TypeError for a
    class, of which no module has been made yet.
    """
    report = looked_at(attention, causal, n_heads, d_in)
    say(report.text())
    return report


def looked_at(
    attention: Callable | nn.Module,
    causal: bool = False,
    n_heads: int = 1,
    d_in: int | None = None,
) -> Report:
    """As `check`, without a word."""
    if isinstance(attention, type):
        name = attention.__name__
        raise TypeError(f"{name} is a class: make a module first, as in check({name}(…))")
    devices = range(torch.cuda.device_count())
    with torch.random.fork_rng(devices):  # the learner's own draws go on as if nothing had been
        if isinstance(attention, nn.Module):
            return _of_module(attention, causal, d_in)
        return _of_function(attention, causal, n_heads)


def _of_module(module: nn.Module, causal: bool, d_in: int | None) -> Report:
    with at_rest(module):
        try:
            layer = Layer(module, causal, d_in)
        except Stopped as stopped:
            return stopped_report(str(stopped))
        if not layer.meets:
            said = "no token's output depends on another token"
            return stopped_report(said, ("tokens_never_meet",))
        output = layer(layer.draw())
        runs = f"{layer.n_tokens} × {layer.d_in} in, {' × '.join(map(str, output.shape))} out"
        if layer.takes_batch_for_tokens:
            runs += "; with a batch axis in front no token looks at another: batch_first=True?"
        lights = [Light("runs", True, runs), *module_lights(layer)]
        return Report(tuple(lights), tuple(likely_in_module(layer, lights)))


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
        lights = [Light("runs", True, said), *function_lights(probe)]
        return Report(tuple(lights), tuple(diagnosed(probe, lights)))
    if lights := on_tokens(call, causal, n_heads):
        return Report(tuple(lights), ("matrices_on_tokens",))
    splits = n_heads == 1 and ("shape" in str(first) or "divis" in str(first))
    hint = " (If it splits heads, say how many: check(attention, n_heads=3).)" if splits else ""
    return stopped_report(f"{first}{hint}")
