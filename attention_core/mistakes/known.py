"""The mistakes that learners make in a step. Each file adds those of some operations."""

from . import entries, heads, norms, of_today, products, running, weights
from .base import WRONG, Mistake, is_mistake, mistakes

__all__ = [
    "WRONG",
    "Mistake",
    "entries",
    "heads",
    "is_mistake",
    "mistakes",
    "norms",
    "of_today",
    "products",
    "running",
    "weights",
]
