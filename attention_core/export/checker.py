"""An exercise's checks. The source is a cell of it: torch and the standard library alone."""

import base64
import math
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
    of them where there are many, and then the `sums` of all of them, `stride` at a time; the
    `tolerance`; whether it is `asked`; and the `mistakes`, pairs of words and the line that makes
    the mistake.
    """

    def __init__(self, steps: list[dict], names: dict) -> None:
        self.steps = {step["name"]: step for step in steps}
        self.names = names

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """`with checked("scores"):` looks at every step before it, runs the lines below, and looks
        again.

        A right tensor of another dtype, such as float64, becomes one of the lesson's: the lines
        below need it. Raises Wrong for the first step that is not the lesson's.
        """
        step = self.steps[name]
        before = list(self.steps.values())
        before = before[: before.index(step)]
        for earlier in before:
            if problem := self._fault(earlier):
                raise Wrong(f"{self._first_wrong(earlier)}\n{problem}")
        self.names.pop(name, None)
        given = dict(self.names)
        try:
            yield
        except Exception as error:
            raise Wrong(f"{name} is not right yet.\n{self._stopped(step, error)}") from None
        for earlier in before:
            if self._fault(earlier):
                is_same = self.names.get(earlier["name"]) is given[earlier["name"]]
                raise Wrong(f"{name} is not right yet.\n{_changed(earlier['name'], is_same)}")
        if problem := self._fault(step):
            raise Wrong(f"{name} is not right yet.\n{problem}")
        self.names[name] = self.names[name].to(getattr(torch, step["dtype"]))
        print(f"✓ {name} is right.")

    def _first_wrong(self, step: dict) -> str:
        if step["asked"]:
            return f"{step['name']} is the first step that is wrong: fix it before the ones below."
        return (
            f"{step['name']} is given, and is not the lesson's any more: run the notebook again "
            "from its first cell."
        )

    def _stopped(self, step: dict, error: Exception) -> str:
        """What to say of an error: a known mistake may stop with the very same one."""
        said = f"{type(error).__name__}: {error}"
        if "dtype" in said or "scalar type" in said:  # that says nothing of shapes
            return "\n".join([*self._other_dtypes(), f"Your line stopped with {said}"])
        for words, line in step["mistakes"]:
            try:
                self._made(line)
            except Exception as known:
                if said == f"{type(known).__name__}: {known}":
                    return f"Likely: {words}\nYour line stopped with {said}"
        return f"Your line stopped with {said}"

    def _other_dtypes(self) -> Iterator[str]:
        for name, step in self.steps.items():
            found = getattr(self.names.get(name), "dtype", None)
            if found not in (None, getattr(torch, step["dtype"])):
                yield f"{name} is {found}, and the lesson's is torch.{step['dtype']}."

    def _made(self, line: str) -> torch.Tensor:
        return eval(line, dict(self.names))

    def _fault(self, step: dict) -> str:
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
        if not _is_step(step, value, sums=False):
            return self._likely(step, value) + self._first_difference(step, value, wanted)
        if (block := _wrong_sum(step, value)) is not None:
            return self._likely(step, value) + self._between(step, block)
        return ""

    def _likely(self, step: dict, value: torch.Tensor) -> str:
        """The first known mistake that gives the learner's own numbers, with a line end."""
        for words, line in step["mistakes"]:
            try:
                if _same(value, self._made(line)):
                    return f"Likely: {words}\n"
            except Exception:  # a mistake that these shapes cannot make
                continue
        for name, other in self.names.items():
            is_another = name in self.steps and name != step["name"]
            if is_another and isinstance(other, torch.Tensor) and _same(value, other):
                return f"Likely: these are the numbers of {name}, unchanged.\n"
        if value.ndim > 1 and value.mT.shape == (*step["shape"],) and _is_step(step, value.mT):
            rows, columns = step["axes"][-2:]
            return (
                f"Likely: the result is transposed: {rows} is the row, and {columns} the column.\n"
            )
        return ""

    def _shapes(self, step: dict, value: torch.Tensor) -> str:
        wanted = " × ".join(f"{a} {n}" for a, n in zip(step["axes"], step["shape"], strict=True))
        yours = " × ".join(map(str, value.shape)) or "a single number"
        return f"Its shape must be {wanted}, and yours is {yours}."

    def _first_difference(self, step: dict, value: torch.Tensor, wanted: torch.Tensor) -> str:
        yours = _sampled(step, value)
        place = int(_far(yours, wanted, step["tolerance"]).nonzero()[0])
        where = _place(step, place * step["stride"])
        numbers = f"yours is {yours[place].item():.6g}, wanted {wanted[place].item():.6g}"
        told = [f"It differs first at {where}: {numbers}."]
        if (factor := _factor(yours, wanted)) is not None:
            told.append(f"Each of your numbers is {factor:.5g} times what is wanted.")
        if value.is_floating_point() and value.element_size() < wanted.element_size():
            told.append(f"Yours are {value.dtype}, which has fewer digits: use {wanted.dtype}.")
        return "\n".join(told)

    def _between(self, step: dict, block: int) -> str:
        first = block * step["stride"]
        last = min(first + step["stride"], math.prod(step["shape"])) - 1
        return f"It differs first between {_place(step, first)} and {_place(step, last)}."


def _is_step(step: dict, value: torch.Tensor, sums: bool = True) -> bool:
    """Whether these are a step's numbers, as far as it keeps them one by one, and their sums."""
    wanted = unpacked(step["dtype"], step["numbers"])
    far = _far(_sampled(step, value), wanted, step["tolerance"]).any()
    return not far and not (sums and _wrong_sum(step, value) is not None)


def _place(step: dict, at: int) -> str:
    index: list[int] = []
    for size in reversed(step["shape"]):
        at, place = divmod(at, size)
        index.insert(0, place)
    return ", ".join(f"{a} {n}" for a, n in zip(step["axes"], index, strict=True))


def block_sums(value: torch.Tensor, n_terms: int, unit: float) -> torch.Tensor:
    """The sums of so many numbers at a time, in reading order. Each number of a sum has a factor
    of its own, from 1 to 2, so that two that change places change it. What is no finite number
    counts as a number far larger than those whose tolerance is `unit`.
    """
    far = 1e6 * unit
    flat = value.detach().double().reshape(-1).nan_to_num(3 * far, 2 * far, -far)
    filled = torch.nn.functional.pad(flat, (0, -len(flat) % n_terms)).reshape(-1, n_terms)
    return filled @ (1 + torch.arange(n_terms, dtype=torch.double) / n_terms)


def _wrong_sum(step: dict, value: torch.Tensor) -> int | None:
    """The first sum that is further off than all of its numbers may be; None for none."""
    if step["stride"] == 1:
        return None
    wanted = unpacked("float32", step["sums"])
    yours = block_sums(value, step["stride"], step["tolerance"])
    wrong = _far(yours, wanted, 2 * step["stride"] * step["tolerance"]).nonzero()
    return int(wrong[0]) if len(wrong) else None


def _changed(name: str, is_same: bool) -> str:
    """What to say of an earlier tensor that is right no more: written into, or another one."""
    how = (
        "a call that ends in _, such as masked_fill_, does, and so do += and /="
        if is_same
        else f"{name} = … gives its name to another tensor, so choose a new name"
    )
    return f"Your line has changed {name} itself: {how}. Run its cell again."


def _factor(yours: torch.Tensor, wanted: torch.Tensor) -> float | None:
    """The number, neither 0 nor 1, that all of `wanted` is multiplied by; None where none is."""
    if not (wanted.is_floating_point() and yours.isfinite().all() and wanted.isfinite().all()):
        return None
    ratio = (yours.double() / wanted.double())[wanted != 0]
    if len(ratio) < 2:
        return None
    factor = float(ratio.mean())
    is_plain = min(abs(factor), abs(factor - 1)) <= 1e-6
    slack = 1e-5 * abs(factor)
    if is_plain or ratio.std() > slack or _far(yours, factor * wanted, _slack(yours)).any():
        return None
    return factor


def _sampled(step: dict, value: torch.Tensor) -> torch.Tensor:
    return value.detach().reshape(-1)[:: step["stride"]]


def _slack(value: torch.Tensor) -> float:
    """How far two ways to the same numbers may be apart."""
    sizes = value.detach().double().abs()
    return 1e-5 * float(sizes[sizes.isfinite()].max()) if sizes.isfinite().any() else 0.0


def _same(yours: torch.Tensor, other: torch.Tensor) -> bool:
    return yours.shape == other.shape and not _far(yours, other, _slack(other)).any()


def _far(yours: torch.Tensor, wanted: torch.Tensor, tolerance: float) -> torch.Tensor:
    """Which entries are not the same: True and False, as long as either is."""
    return ~torch.isclose(
        yours.detach().double(), wanted.double(), rtol=0.0, atol=tolerance, equal_nan=True
    )
