"""Attention, step by step: traces in which every number can be taken apart.

Importing this package is quick: torch is loaded by the first name that needs it, so that a
program can show its first screen before torch is there.
"""

from importlib import import_module

_HOME = {
    "Trace": "trace",
    "Step": "trace",
    "Expression": "expression",
    "TOKENIZERS": "tokenizers",
    "Tokenizer": "tokenizers",
    "Vocabulary": "vocabulary",
    "EXAMPLES": "examples",
    "Example": "examples",
    "Inputs": "inputs",
    "embed": "embedding",
    "SimplifiedOptions": "simplified",
    "attend": "simplified",
    "expand_query": "simplified",
    "Trials": "variance",
    "few_trials": "variance",
    "measure_variance": "variance",
    "variance_theory": "variance",
    "softmax_effect": "saturation",
    "program": "export",
}
__all__ = list(_HOME)


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
