"""A trace whose steps know which sources were read before they were made."""

import weakref
from collections.abc import Callable, Iterator
from typing import Any

from attention_core.trace import Step, Trace, step_version

from ..reactive.isolation import Misdeclared
from ..reactive.source import Read, track_now, tracking

_KEEPS = frozenset(vars(Trace()))
"""What a trace keeps, which is not tracked by itself: who looks at it, looks at all."""


class TrackedTrace(Trace):
    """A trace whose steps, when looked at, count as reads; for all, so `branch` it first. It has
    nothing of the trace that it stands for but what tracks.
    """

    def __init__(self, untracked: Trace, reads: tuple[Read, ...], before: dict[str, int]) -> None:
        self.__untracked = untracked
        self.__reads, self.__before = reads, before

    def __getattr__(self, name: str) -> Any:
        if name in _KEEPS:
            return getattr(self.whole(), name)
        if name == "plain":
            raise Misdeclared(
                "a trace has no `plain`, which would be looked at untracked: take steps, "
                "labels and sizes from the trace itself, or all of it with `whole()`"
            )
        raise AttributeError(f"a trace has no {name!r}")

    def _track(self, name: str | None) -> Trace:
        """The trace, for one who looks at a step of this name, or with None at any."""
        track_now(self.__reads[: self.__before.get(name, len(self.__reads))])
        return self.__untracked

    def _track_axis(self, axis: str) -> Trace:
        known = self.__untracked
        if axis in known._labels_by_head:  # these may be said at any time
            return self._track(None)
        return self._track(known._sizes.get(axis, (0, None))[1])  # the first step that has it

    def whole(self) -> Trace:
        """All of it, for one who may look at any step; and no more is tracked."""
        return self._track(None)

    def __getitem__(self, name: str) -> Step:
        return self._track(name)[name]

    def __contains__(self, name: object) -> bool:
        return name in self._track(str(name))

    def get(self, name: str, default: Any = None) -> Any:  # type: ignore[override]
        return self._track(name).get(name, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self._track(None))

    def __len__(self) -> int:
        return len(self._track(None))

    @property
    def gradients(self) -> dict[str, str]:
        return self._track(None).gradients

    def branch(self) -> Trace:
        return self._track(None).branch()

    def rebuilt(self, *given: Any) -> Trace:
        return self._track(None).rebuilt(*given)

    def emptied(self) -> Trace:
        return self._track(None).emptied()

    def labels(self, axis: str, head: int | None = None) -> tuple[str, ...]:
        return self._track_axis(axis).labels(axis, head)

    def name_of(self, axis: str, place: int, head: int | None = None) -> str | None:
        return self._track_axis(axis).name_of(axis, place, head)

    def size(self, axis: str) -> int:
        return self._track_axis(axis).size(axis)

    def has_axis(self, axis: str) -> bool:
        return self._track_axis(axis).has_axis(axis)

    def components(self) -> dict[str, tuple[str, ...]]:
        return self._track(None).components()

    def formula(self, name: str, known: tuple[str, ...]) -> str:
        return self._track(name).formula(name, known)

    def step(self, name: str, *_: object, **__: Any) -> Step:
        """Raises TypeError: what all share is not added to."""
        raise TypeError(f"{name!r} would be added to a trace that all share: branch it first")


def tracked(make: Callable[[], Trace]) -> TrackedTrace:
    """A trace, with what had been read before each step; a step made before counts at the end."""
    mine = object()
    with tracking() as reads:
        token = step_version.set(lambda: (mine, len(reads)))
        try:
            trace = make()
        finally:
            step_version.reset(token)
    before = {
        name: step.version[1]
        for name, step in trace.items()
        if isinstance(step.version, tuple) and step.version[0] is mine
    }
    made = TrackedTrace(trace, tuple(reads), before)
    for step in trace.values():
        if step._home() is trace:
            step._home = weakref.ref(made)  # who asks a step for its trace gets the one that tracks
    return made


def plain(trace: Trace) -> Trace:
    """A trace that tracks nothing, for what draws steps that have been tracked."""
    return trace._TrackedTrace__untracked if isinstance(trace, TrackedTrace) else trace
