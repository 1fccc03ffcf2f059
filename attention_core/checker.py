"""The checks of an exercise notebook: which step is wrong first, and what is likely wrong with it.

The source of this file is a cell of every exercise. It therefore needs torch and the standard
library alone, and is run on the learner's machine.
"""

import base64
from collections.abc import Iterator
from contextlib import contextmanager

import torch


class Wrong(AssertionError):
    """A step is not right. In a notebook its words stand alone, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()


def unpacked(dtype: str, numbers: str) -> torch.Tensor:
    """The numbers of a tensor, in reading order, from the text that holds them."""
    return torch.frombuffer(bytearray(base64.b64decode(numbers)), dtype=getattr(torch, dtype))


class Checks:
    """The steps of the lesson, in order, and the notebook's names, in which they are looked up.

    Each step is a dict: its `name`, `axes`, `shape` and `dtype`; its `numbers`, every `stride`th
    of them where there are many; the `tolerance`; whether it is `asked`; and the `mistakes`, pairs
    of words and the line that makes the mistake.
    """

    def __init__(self, steps: list[dict], names: dict) -> None:
        self.steps = {step["name"]: step for step in steps}
        self.names = names

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """`with checked("scores"):` looks at every step before it, runs the lines below, and looks
        again.

        Raises Wrong for the first step that is not the lesson's.
        """
        step = self.steps[name]
        before = list(self.steps.values())
        before = before[: before.index(step)]
        for earlier in before:
            if problem := self._fault(earlier):
                raise Wrong(f"{self._first_wrong(earlier)}\n{problem}")
        self.names.pop(name, None)
        try:
            yield
        except Exception as error:
            raise Wrong(f"{name} is not right yet.\n{self._stopped(step, error)}") from None
        for earlier in before:
            if self._fault(earlier):
                raise Wrong(
                    f"{name} is not right yet.\nYour line has changed {earlier['name']} itself: a "
                    f"call that ends in _, such as masked_fill_, does. Run its cell again."
                )
        if problem := self._fault(step):
            raise Wrong(f"{name} is not right yet.\n{problem}")
        print(f"✓ {name} is right.")

    def _first_wrong(self, step: dict) -> str:
        if step["asked"]:
            return f"{step['name']} is the first step that is wrong: mend it before those below."
        return (
            f"{step['name']} is given, and is not the lesson's any more: run the notebook again "
            "from its first cell."
        )

    def _stopped(self, step: dict, error: Exception) -> str:
        """What to say of an error: a known mistake may stop with the very same one."""
        said = f"{type(error).__name__}: {error}"
        for words, line in step["mistakes"]:
            try:
                self._made(line)
            except Exception as known:
                if said == f"{type(known).__name__}: {known}":
                    return f"Likely: {words}\nYour line stopped with {said}"
        return f"Your line stopped with {said}"

    def _made(self, line: str) -> torch.Tensor:
        """What a line of the lesson's own gives, from the notebook's tensors."""
        return eval(line, dict(self.names))

    def _fault(self, step: dict) -> str:
        """What is wrong with a step; "" for nothing."""
        name, wanted = step["name"], unpacked(step["dtype"], step["numbers"])
        value = self.names.get(name)
        if name not in self.names:
            return f"There is no tensor called {name}: give your result this name."
        if value is ...:
            return "It is still to be written: put your line in the place of the three dots."
        if not isinstance(value, torch.Tensor):
            return f"It must be a tensor, and yours is of type {type(value).__name__}."
        if tuple(value.shape) != tuple(step["shape"]):
            return self._likely(step, value) + self._shapes(step, value)
        if value.is_floating_point() != wanted.is_floating_point() or (
            wanted.dtype == torch.bool != value.dtype
        ):
            return (
                self._likely(step, value)
                + f"Its numbers must be {wanted.dtype}, and yours are {value.dtype}."
            )
        if not _far(_sampled(step, value), wanted, step["tolerance"]).any():
            return ""
        return self._likely(step, value) + self._first_difference(step, value, wanted)

    def _likely(self, step: dict, value: torch.Tensor) -> str:
        """The first known mistake that gives the learner's own numbers, with a line end."""
        for words, line in step["mistakes"]:
            try:
                made = self._made(line)
                if made.shape == value.shape and not _far(value, made, _slack(made)).any():
                    return f"Likely: {words}\n"
            except Exception:  # a mistake that these shapes cannot make
                continue
        return ""

    def _shapes(self, step: dict, value: torch.Tensor) -> str:
        wanted = " × ".join(f"{a} {n}" for a, n in zip(step["axes"], step["shape"], strict=True))
        yours = " × ".join(map(str, value.shape)) or "a single number"
        return f"Its shape must be {wanted}, and yours is {yours}."

    def _first_difference(self, step: dict, value: torch.Tensor, wanted: torch.Tensor) -> str:
        yours = _sampled(step, value)
        place = int(_far(yours, wanted, step["tolerance"]).nonzero()[0])
        rest, index = place * step["stride"], []
        for size in reversed(step["shape"]):
            rest, at = divmod(rest, size)
            index.insert(0, at)
        where = ", ".join(f"{a} {at}" for a, at in zip(step["axes"], index, strict=True))
        numbers = f"yours is {yours[place].item():.6g}, wanted {wanted[place].item():.6g}"
        ratio = (yours.double() / wanted)[wanted.isfinite() & (wanted != 0)]
        found = f"It differs first at {where}: {numbers}."
        if len(ratio) > 1 and ratio.isfinite().all() and ratio.std() <= 1e-5 * ratio.mean().abs():
            found += f"\nEach of your numbers is {ratio.mean():.5g} times what is wanted."
        return found


def _sampled(step: dict, value: torch.Tensor) -> torch.Tensor:
    return value.detach().reshape(-1)[:: step["stride"]]


def _slack(value: torch.Tensor) -> float:
    """How far two ways to the same numbers may be apart."""
    sizes = value.detach().double().abs()
    return 1e-5 * float(sizes[sizes.isfinite()].max()) if sizes.isfinite().any() else 0.0


def _far(yours: torch.Tensor, wanted: torch.Tensor, tolerance: float) -> torch.Tensor:
    """Which entries are not the same: True and False, as long as either is."""
    return ~torch.isclose(
        yours.detach().double(), wanted.double(), rtol=0.0, atol=tolerance, equal_nan=True
    )
