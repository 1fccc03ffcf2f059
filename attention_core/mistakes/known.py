"""The mistakes that learners make in a step. Each file adds those of some operations."""

from . import entries, heads, of_today, products, weights
from .base import WRONG, Mistake, is_mistake, mistakes

__all__ = [
    "WRONG",
    "Mistake",
    "entries",
    "heads",
    "is_mistake",
    "mistakes",
    "of_today",
    "products",
    "weights",
]
