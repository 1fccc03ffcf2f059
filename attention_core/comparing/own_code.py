"""Code of one's own against a reference: both are called alike, with vectors drawn at random."""

import copy
from collections.abc import Callable

import torch
from torch import Tensor, nn

from ..lights.own_code.calling import Call, Stopped
from ..lights.own_code.checking import subject_of
from ..lights.own_code.sentences import all_sizes, even_sizes
from ..lights.own_code.subjects import Code, Open
from .compare import compare
from .comparison import Comparison

HEADS = (2, 3, 1)
SEED = 5


def compare_code(
    mine: Callable,
    theirs: Callable,
    causal: bool = False,
    n_heads: int | None = None,
    d_in: int | None = None,
) -> Comparison:
    """Compare two functions of (x, W_q, W_k, W_v) or of (q, k, v), or two modules, as the check of
    own code calls them. Modules get the same matrices: those of theirs, or drawn ones. Raises
    Stopped, in words, where one of them does not run, and ValueError where they cannot be compared.
    """
    with torch.random.fork_rng(range(torch.cuda.device_count())):
        both = _of_functions(mine, theirs, causal, n_heads) or _as_they_are(
            mine, theirs, causal, n_heads, d_in
        )
        own, yours = both

        def one(_: Tensor) -> Tensor:
            return own()

        def other(_: Tensor) -> Tensor:
            return yours()

        return compare(one, other, torch.zeros(1))


def _of_functions(
    mine: Callable, theirs: Callable, causal: bool, n_heads: int | None
) -> tuple[Callable[[], Tensor], Callable[[], Tensor]] | None:
    """Two functions, or modules without matrices, with the first sizes that both can take."""
    calls = [Call(each, causal) for each in (mine, theirs)]
    if any(each.is_closed for each in calls):
        return None
    first = None
    for count in (n_heads,) if n_heads else HEADS:
        for sizes in (*all_sizes(count), even_sizes(count)):
            try:
                subjects = [Open(Call(each, causal, count), sizes) for each in (mine, theirs)]
                for each in subjects:
                    each.settle()
                n_tokens = min(each.n_tokens for each in subjects)
                for each in subjects:
                    each.n_tokens = n_tokens
                    each.of_random()
            except Stopped as stopped:
                first = first or stopped
                continue
            return _given_at_random(subjects[0]), _given_at_random(subjects[1])
    assert first is not None
    raise first


def _given_at_random(subject: Open) -> Callable[[], Tensor]:
    return lambda: subject.of_random()[1]


def _as_they_are(
    mine: Callable, theirs: Callable, causal: bool, n_heads: int | None, d_in: int | None
) -> tuple[Callable[[], Tensor], Callable[[], Tensor]]:
    """Two modules, or functions that make their own matrices."""
    if isinstance(mine, nn.Module) and isinstance(theirs, nn.Module):
        mine = _with_matrices_of(theirs, mine)
    subjects: list[Code] = []
    for each in (theirs, mine):
        subjects.append(subject_of(each, causal, n_heads, d_in)[0])
        d_in = d_in or subjects[0].call.n_alike * subjects[0].d_in
    yours, own = subjects
    n_tokens = min(own.n_tokens, yours.n_tokens)
    if own.d_in != yours.d_in:
        raise ValueError(
            f"the vectors of mine are {own.d_in} wide, and those of theirs {yours.d_in}: both need "
            "the same, such as --d-in 12"
        )
    vectors = torch.randn(n_tokens, own.d_in, generator=torch.Generator().manual_seed(SEED))

    def of(subject: Code, module: Callable) -> Callable[[], Tensor]:
        subject.call = copy.copy(subject.call)
        subject.call.function = module
        subject.given, subject.parameters = (), None
        return lambda: Code.of(subject, vectors)

    return of(own, mine), of(yours, theirs)


def _with_matrices_of(theirs: nn.Module, mine: nn.Module) -> nn.Module:
    """A copy of mine with the matrices of theirs. Raises ValueError where they do not fit."""
    made = copy.deepcopy(mine)
    own, yours = made.state_dict(), theirs.state_dict()
    if {name: each.shape for name, each in own.items()} != {
        name: each.shape for name, each in yours.items()
    }:
        only = sorted({*own} ^ {*yours})
        named = f" (one alone has {', '.join(only[:3])})" if only else " (their shapes differ)"
        raise ValueError(
            f"the matrices of the two modules are not the same{named}, so their numbers say "
            "nothing: give both the same names and shapes, or compare functions of x, W_q, W_k, W_v"
        )
    made.load_state_dict(yours)
    return made
