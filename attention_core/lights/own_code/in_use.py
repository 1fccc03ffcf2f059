"""What code does in use: with padded texts, with a cache, and in training."""

import copy
import re
from collections.abc import Callable, Iterator
from contextlib import suppress

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from ..measures import Measured
from .calling import Stopped, parameters_of, role_of, stopping
from .reading import NEAR, largest_gap, may_look
from .sentences import drawn_at_random
from .subjects import Code, Open, instead

N_PADDED, FEWEST_TOKENS = 2, 4
CONVENTIONS = {
    "may": "True may look",
    "hide": "True hides",
    "may, as 1": "1 may look, 0 hides",
    "hide, as 1": "1 hides, 0 may look",
    "added": "added to the scores (0 may look, −∞ hides)",
    "lengths": "how many tokens of each text are real",
}
"""How a mask may be meant, in words."""
NUDGE, MOVES = 2e-3, 1e-5
"""By how much a matrix is changed to see whether it is used, and when the output has moved."""
NO_CAUSE = "Only with causal=True: without a mask, one pass sees later tokens too."
NO_TORCH = "Its numbers leave torch, which then has no gradients."
LEAVES_TORCH = ("tolist", "item", "numpy", "__array__", "__float__", "tensor")
"""What takes numbers out of torch, and so away from its gradients."""


def mask_in_words(subject: Code) -> str:
    """How its mask was understood; "" where it was given none."""
    call = subject.call
    kind = call.way.mask or call.padding
    if not kind:
        return ""
    if call.understood:
        return f"Mask: {CONVENTIONS[kind]}."
    tried = ", ".join(CONVENTIONS[each] for each in ("may", "hide", "added"))
    return (
        f"Mask: none of the usual conventions hides later tokens ({tried}). "
        f"The lights were measured with: {CONVENTIONS[kind]}."
    )


def padding(subject: Code) -> Measured:
    """Whether tokens that a mask says are padding move any other."""
    name = _takes_padding(subject)
    if not name:
        return None, "It takes no mask that could say which tokens are padding."
    n_tokens, is_plain = subject.n_tokens, subject.call.way.layout == "plain"
    if n_tokens < FEWEST_TOKENS:
        return None, "Its sentences are too short for padding."
    # A causal mask hides the last ones already; and without a first one, rows would be empty.
    padded = slice(1, 1 + N_PADDED) if subject.causal else slice(n_tokens - N_PADDED, n_tokens)
    real = torch.ones(2, n_tokens, dtype=torch.bool)
    real[1, padded] = False
    texts = torch.stack([subject.draw(), subject.draw(seed=2)])
    others, asked = texts.clone(), texts.clone()
    others[1, padded] = subject.draw(seed=3)[padded]
    asked[1, 0] = subject.draw(seed=3)[0]
    kept = slice(1, 2) if is_plain else slice(0, 2)

    def out(given: Tensor) -> Tensor:
        """What comes out for the tokens that are real, (token, width)."""
        output, _ = subject.call(given[kept], *subject.given, parameters=subject.parameters)
        whole = output[0, :, : subject.output.shape[-1]]
        if not is_plain and not largest_gap(whole, subject.output) <= NEAR:
            raise Stopped("the text without padding comes out otherwise")  # another kind of mask
        return output[real[kept]]

    least, ran = torch.inf, False
    for kind, mask in _padding_masks(name, real[kept], subject.causal, is_plain):
        with suppress(Stopped), instead(subject.call, put={name: mask}):
            before = out(texts)
            far, ran = largest_gap(out(others), before), True
            if far <= NEAR < largest_gap(out(asked)[-1:], before[-1:]):
                subject.call.padding = kind
                return True, "Change the padded tokens, and no other token moves."
            least = min(least, far) if far > NEAR else least
    if not ran:
        return None, "It takes a mask, but ran with none that says which tokens are padding."
    if least == torch.inf:
        return None, "No mask that was tried hides the padding and nothing else."
    return False, (
        f"Change the padded tokens, and others move by {least:.2g}, whatever its mask says."
    )


def _takes_padding(subject: Code) -> str:
    """The argument that says which tokens are padding; "" for none."""
    found = {"padding": "", "mask": ""}
    for each in parameters_of(subject.call.function):
        role = role_of(each.name)
        # A mask that is True or False says that there is one; one of heads is of no tokens.
        if role in found and type(each.default) is not bool and "head" not in each.name:
            found[role] = found[role] or each.name
    return found["padding"] or found["mask"]


def _padding_masks(
    name: str, real: Tensor, causal: bool, is_plain: bool
) -> Iterator[tuple[str, Tensor]]:
    """Masks for these tokens (text, token), each with what it means."""
    n_tokens = real.shape[-1]
    of_keys = [real, real[:, None], real[:, None, None], real[:, None, None, None]]
    both = real[:, None] & may_look(n_tokens, causal)
    tables = [both, both[:, None], both[:, None, None]]
    if role_of(name) == "padding":
        tables = []
        if not causal:
            yield "lengths", real.sum(-1)
    # One that is given for the future too needs both in it.
    for may in (*tables, *of_keys):
        shown = may[0] if is_plain else may
        yield "may", shown
        yield "hide", ~shown
        yield "may, as 1", shown.float()
        yield "hide, as 1", (~shown).float()
        yield "added", torch.zeros(shown.shape).masked_fill(~shown, -torch.inf)


class Broken(Stopped):
    """It ran, and does not with what it has kept itself."""


def cached(subject: Code) -> Measured:
    """Whether tokens one by one, with what is kept of those before, come out as in one pass."""
    names = _cache_arguments(subject)
    if not any(names):
        return None, "It takes no cache."
    if not subject.causal:
        return None, NO_CAUSE
    whole, vectors = subject.output, subject.draw()
    stop: Stopped | None = None
    for start in (None, dict, list):
        firsts = (1, max(1, len(vectors) // 2))
        try:
            rows = {n: _with_cache(subject, vectors, n, names, start) for n in firsts}
        except Broken as broken:
            return False, str(broken)
        except Stopped as stopped:
            stop = stop or stopped
            continue
        for n_first, made in rows.items():
            far = largest_gap(made, whole)
            if not far <= NEAR:
                how = (
                    "One token at a time" if n_first == 1 else f"{n_first} tokens, then one by one"
                )
                return False, f"{how}, the vectors are up to {far:.2g} away from those of one pass."
        return True, "One token at a time, or after a prompt, the same vectors come out."
    return None, f"How its cache is given is not told: {stop}."


def _cache_arguments(subject: Code) -> tuple[list[str], list[str], list[str]]:
    """The arguments that take a cache, that switch it on, and that say how much is in it."""
    caches: list[str] = []
    flags: list[str] = []
    places: list[str] = []
    for each in parameters_of(subject.call.function):
        role = role_of(each.name)
        is_flag = type(each.default) is bool or bool(re.match("use|return", each.name.lower()))
        if role == "cache":
            (flags if is_flag else caches).append(each.name)
        elif role == "at":
            places.append(each.name)
    return caches, flags, places


def _with_cache(
    subject: Code,
    vectors: Tensor,
    n_first: int,
    names: tuple[list[str], list[str], list[str]],
    start: Callable[[], object] | None,
) -> Tensor:
    """The output (token, d_out) of the first tokens, then of one after another.

    Raises Stopped where it does not run, or keeps nothing that could be handed back.
    """
    caches, flags, places = names
    function = subject.call.function
    if isinstance(function, nn.Module):
        function = copy.deepcopy(function)  # which may keep tokens in itself
    kept: list[object] = [start() if start else None for _ in caches]
    rows = []
    with instead(subject.call, function=function):
        at = 0
        while at < len(vectors):
            n = n_first if at == 0 else 1
            put = dict(zip(caches, kept, strict=True)) | dict.fromkeys(flags, True)
            put |= dict.fromkeys(places, at)
            new = vectors[None, at : at + n]
            try:
                with instead(subject.call, put=put):
                    result, output, _ = subject.call.called(
                        new, *subject.given, parameters=subject.parameters
                    )
            except Stopped as stopped:
                if at == 0 or any(isinstance(each, Tensor) for each in kept):
                    raise  # the tensor that was handed back may be no cache
                told = f"Handed what it kept after {at} of {len(vectors)} tokens, {stopped}"
                raise Broken(told) from stopped
            rows.append(output[0])
            at += n
            if caches:
                kept = _kept_of(result, kept)
    return torch.cat(rows)[:, : subject.output.shape[-1]]


def _kept_of(result: object, before: list[object]) -> list[object]:
    """What a call returned beside its output, to be handed to the next one."""
    parts = list(result.values()) if isinstance(result, dict) else result
    beside = list(parts)[1:] if isinstance(parts, tuple | list) else []
    beside = [each for each in beside if each is not None]
    nested = [each for each in beside if not isinstance(each, Tensor)]
    if len(before) == 1 and beside:
        return [(nested or beside)[-1]]
    flat = [e for part in beside for e in (part if isinstance(part, tuple | list) else (part,))]
    if len(before) > 1 and len(flat) >= len(before):
        return flat[-len(before) :]
    if all(each is None for each in before) or not any(before):
        raise Stopped("it returns nothing beside its output")
    return before  # it has put them in what it was given


class _Watched(TorchFunctionMode):
    """Notes whether numbers leave torch."""

    def __init__(self) -> None:
        super().__init__()
        self.left = False

    def __torch_function__(self, func: Callable, types: object, args=(), kwargs=None) -> object:
        self.left |= getattr(func, "__name__", "") in LEAVES_TORCH
        return func(*args, **(kwargs or {}))


def learns(subject: Code) -> Measured:
    """Whether a gradient comes back to every number of a matrix that the output depends on."""
    call = subject.call
    if call.takes_arrays:
        return None, NO_TORCH
    for names, matrices, run in _trained(subject):
        watched = _Watched()
        try:
            with watched, instead(call, with_gradients=True), torch.enable_grad():
                leaves = [each.detach().clone().requires_grad_() for each in matrices]
                output = run(leaves)
            if watched.left and not call.is_module:
                return None, NO_TORCH
            with stopping(with_gradients=True):
                ahead = torch.randn(output.shape, dtype=output.dtype)
                found: list[Tensor | None] = [None] * len(leaves)
                if output.requires_grad:
                    loss = (output * ahead).sum()
                    found = [*torch.autograd.grad(loss, leaves, allow_unused=True)]
        except Stopped as stopped:
            return False if call.is_module else None, f"With gradients, {stopped}."
        for at, (name, gradient) in enumerate(zip(names, found, strict=True)):
            own = matrices[at]
            none = torch.ones_like(own) if gradient is None else (gradient == 0).to(own)
            moved = own + NUDGE * torch.randn(none.shape).to(none) * none
            if not none.any() or _stays(run, matrices, at, moved):
                continue
            of = name if none.all() else f"a part of {name}"
            return False, f"The output depends on {of}, and no gradient comes back to it."
    return True, "Each matrix that the output depends on gets a gradient."


Run = Callable[[list[Tensor]], Tensor]
"""The output (token, d_out) with other matrices."""


def _stays(run: Run, matrices: list[Tensor], at: int, moved: Tensor) -> bool:
    """Whether the output is the same with one of the matrices moved."""
    before, after = run(matrices), run([*matrices[:at], moved, *matrices[at + 1 :]])
    return largest_gap(after, before) <= MOVES


def _trained(subject: Code) -> Iterator[tuple[list[str], list[Tensor], Run]]:
    """Matrices that may learn, by their names, and how the output is made with others."""
    call = subject.call
    if isinstance(subject, Open):
        vectors, *drawn = drawn_at_random(subject.sizes, subject.n_tokens)

        def with_chosen(matrices: list[Tensor]) -> Tensor:
            own = subject.opened.parameters(*matrices) if subject.opened else None
            return call(vectors[None], *matrices, parameters=own)[0][0]

        takes = "qkv" if call.takes_vectors and not call.is_closed else ("W_q", "W_k", "W_v")
        yield [*takes], drawn, with_chosen
    if call.is_module and call.is_closed:
        named = {name: e for name, e in call.function.named_parameters() if e.requires_grad}
        vectors_in = subject.draw(seed=4)

        def with_own(matrices: list[Tensor]) -> Tensor:
            own = dict(zip(named, matrices, strict=True))
            return call(vectors_in[None], parameters=own)[0][0]

        yield [*named], [each.detach() for each in named.values()], with_own
