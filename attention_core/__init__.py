"""Attention, step by step: traces in which every number can be taken apart.

Importing this package is quick: torch is loaded by the first name that needs it, so that a
program can show its first screen before torch is there.
"""

from importlib import import_module

_HOME = {
    "Trace": "trace",
    "Step": "trace",
    "Expression": "expression",
    "TOKENIZERS": "text.tokenizers",
    "Tokenizer": "text.tokenizers",
    "Vocabulary": "text.vocabulary",
    "EXAMPLES": "examples",
    "Example": "examples",
    "Inputs": "text.inputs",
    "embed": "text.embedding",
    "SimplifiedOptions": "mechanism.simplified",
    "attend": "mechanism.simplified",
    "expand_query": "mechanism.simplified",
    "Trials": "experiments.variance",
    "few_trials": "experiments.variance",
    "measure_variance": "experiments.variance",
    "variance_theory": "experiments.variance",
    "softmax_effect": "experiments.saturation",
    "program": "export.program",
}
__all__ = list(_HOME)


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
