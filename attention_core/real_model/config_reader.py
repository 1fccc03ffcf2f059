"""What a file says of a model: each setting is taken once and checked, the rest refused."""

from collections.abc import Callable, Mapping
from typing import Any

from ..files.refused import ModelRefused
from ..files.tensor_file import quoted
from ..mechanism.builder import BASES, is_base
from ..mechanism.options import is_number
from .missing import missing

_REQUIRED = object()


class ConfigReader:
    """Settings by name, from `place`. `None` is as good as nothing."""

    def __init__(self, values: Mapping[str, Any], place: str) -> None:
        self.place = place
        self.values = {name: value for name, value in values.items() if value is not None}
        self._left = set(self.values)
        self.named = frozenset(values)
        """What is said, null or not."""

    def take(
        self, name: str, words: str, fits: Callable[[Any], bool], default: Any = _REQUIRED
    ) -> Any:
        """A setting that fits. Raises ModelRefused where not, or missing without a `default`."""
        self._left.discard(name)
        if name not in self.values:
            if default is _REQUIRED:
                raise ModelRefused(f"{self.place} does not say {name}")
            return default
        value = self.values[name]
        if not fits(value):
            raise ModelRefused(f"{name} in {self.place} is {written(value)}, but must be {words}")
        return value

    def count(self, name: str, default: object = _REQUIRED, most: int = 2**24) -> int:
        """A number of layers, heads, columns."""
        words = f"a whole number from 1 to {most:,}"
        return self.take(name, words, lambda n: is_number(n, int) and 1 <= n <= most, default)

    def number(self, name: str, default: object = _REQUIRED) -> float:
        """A number above 0; one that is written without a point too, as large as it may be."""
        fits = lambda n: is_number(n, float) and 1e-30 < n < 1e30  # noqa: E731
        found = self.take(name, "a number above 0, and below 1e30", fits, default)
        return found if found is None else float(found)

    def base(self, name: str, default: object = _REQUIRED) -> float | None:
        """The base of rotary positions."""
        found = self.take(name, BASES, is_base, default)
        return found if found is None else float(found)

    def flag(self, name: str, default: object = _REQUIRED) -> bool:
        """True or false."""
        return self.take(name, "true or false", lambda value: isinstance(value, bool), default)

    def group(self, name: str, over: Mapping[str, Any] | None = None) -> "ConfigReader":
        """Settings within a setting; none where it is missing. What `over` says counts more."""
        values = self.take(name, "settings by name", lambda value: isinstance(value, dict), {})
        return ConfigReader(values | (over or {}), f"{name} of {self.place}")

    def must(self, name: str, value: object, why: str) -> None:
        """A setting that is computed in one way only. Raises ModelRefused where it says another."""
        fits = lambda said: type(said) is type(value) and said == value  # noqa: E731
        self.take(name, f"{written(value)}: {why}", fits, value)

    def rest(self, is_harmless: Callable[[str, Any], bool] = lambda _name, _value: False) -> None:
        """Raises ModelRefused for what is left, and what it says is not harmless."""
        left = [name for name in sorted(self._left) if not is_harmless(name, self.values[name])]
        if left:
            raise ModelRefused(
                f"{self.place} says {quoted(left[0])} = {written(self.values[left[0]])}, which is "
                f"not known here: it may change what the model computes{missing(left[:1])}"
            )

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def __len__(self) -> int:
        return len(self.values)


def written(value: object) -> str:
    """A value as the file has it, in short."""
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{quoted(value)}"' if isinstance(value, str) else quoted(value)
