"""The symbol of every named tensor: one glossary for the project, in `symbols.toml`."""

from functools import lru_cache

from .utils.toml_file import read_toml

_TOLD = read_toml(__package__, "symbols.toml")
SYMBOLS: dict[str, str] = _TOLD["symbols"]
"""By the name of a step; of each part of a transformer block, too, and of its layer norm."""
for _part, _short in _TOLD["parts"].items():
    for _name, _symbol in _TOLD["of_a_part"].items():
        SYMBOLS[_name.replace("PART", _part)] = _symbol.replace("SHORT", _short)
VARIANTS: dict[str, str] = _TOLD["variants"]
"""How the symbol of a variant is written, by the beginning of its name."""
GRADIENTS: dict[str, str] = _TOLD["gradients"]
"""How the gradient by a tensor is written, dW for ∂loss/∂W, and what its softmax is made of."""
GRADIENT = next(iter(GRADIENTS))
"""What the name of a gradient begins with, and the names of what it is made of hold."""
OUTER: dict[str, str] = _TOLD["outer"]
"""How the symbols of a whole part of a trace are written, its variants too: a sign on the left."""


@lru_cache(maxsize=4_096)
def symbol_of(name: str) -> str:
    """The LaTeX symbol of a tensor; a name that the glossary does not know stands for itself."""
    known = _known(name)
    return r"\mathrm{" + name.replace("_", r"\_") + "}" if known is None else known


def _known(name: str) -> str | None:
    if name in SYMBOLS:
        return SYMBOLS[name]
    for beginning, pattern in VARIANTS.items():
        if name.startswith(beginning) and (known := SYMBOLS.get(name.removeprefix(beginning))):
            return pattern.format(known)
    for beginning, pattern in OUTER.items():
        if name.startswith(beginning) and (known := _known(name.removeprefix(beginning))):
            return pattern.format(known)
    for beginning, pattern in GRADIENTS.items():
        if name.startswith(beginning):
            of, _, way = name.removeprefix(beginning).partition("_by_")
            known, by = _known(of), _known(way)
            if known and bool(way) == bool(by):
                return pattern.format(known) + (rf"^{{({by})}}" if by else "")
    return None
