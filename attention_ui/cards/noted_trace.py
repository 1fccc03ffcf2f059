"""A trace whose steps know which sources were read before they were made."""

from collections.abc import Callable, Iterator
from typing import Any

from attention_core.trace import Step, Trace, moment

from ..controls import parts
from ..controls.parts import Source


class NotedTrace(Trace):
    """A trace whose steps, when looked at, count as reads; for all, so `branch` it first."""

    def __init__(self, plain: Trace, reads: tuple[Source, ...], before: dict[str, int]) -> None:
        self.__dict__ |= plain.__dict__
        self.plain = plain
        """The same without notes."""
        self._reads, self._before = reads, before

    def _note(self, name: str | None) -> None:
        parts.read_all(self._reads[: self._before.get(name, len(self._reads))])

    def whole(self) -> Trace:
        """All of it, for one who may look at any step; without further notes."""
        self._note(None)
        return self.plain

    def __getitem__(self, name: str) -> Step:
        self._note(name)
        return self.plain[name]

    def __contains__(self, name: object) -> bool:
        self._note(str(name))
        return name in self.plain

    def get(self, name: str, default: Any = None) -> Any:  # type: ignore[override]
        self._note(name)
        return self.plain.get(name, default)

    def __iter__(self) -> Iterator[str]:
        self._note(None)
        return iter(self.plain)

    def __len__(self) -> int:
        self._note(None)
        return len(self.plain)

    @property
    def gradients(self) -> dict[str, str]:
        self._note(None)
        return self.plain.gradients

    def branch(self) -> Trace:
        self._note(None)
        return self.plain.branch()

    def emptied(self) -> Trace:
        self._note(None)
        return self.plain.emptied()

    def labels(self, axis: str, head: int | None = None) -> tuple[str, ...]:
        self._note(self._first_with(axis))
        return self.plain.labels(axis, head)

    def size(self, axis: str) -> int:
        self._note(self._first_with(axis))
        return self.plain.size(axis)

    def has_axis(self, axis: str) -> bool:
        self._note(self._first_with(axis))
        return self.plain.has_axis(axis)

    def components(self) -> dict[str, tuple[str, ...]]:
        self._note(None)
        return self.plain.components()

    def formula(self, name: str, known: tuple[str, ...]) -> str:
        self._note(name)
        return self.plain.formula(name, known)

    def _first_with(self, axis: str) -> str | None:
        return self._sizes.get(axis, (0, None))[1]

    def step(self, name: str, *_: object, **__: Any) -> Step:
        """Raises TypeError: what all share is not added to."""
        raise TypeError(f"{name!r} would be added to a trace that all share: branch it first")


def noted(make: Callable[[], Trace]) -> NotedTrace:
    """A trace, with what had been read before each step; a step made before counts at the end."""
    mine = object()
    with parts.reading() as reads:
        token = moment.set(lambda: (mine, len(reads)))
        try:
            trace = make()
        finally:
            moment.reset(token)
    before = {
        name: step.moment[1]
        for name, step in trace.items()
        if isinstance(step.moment, tuple) and step.moment[0] is mine
    }
    return NotedTrace(trace, tuple(reads), before)


def plain(trace: Trace) -> Trace:
    """A trace without notes."""
    return trace.plain if isinstance(trace, NotedTrace) else trace
