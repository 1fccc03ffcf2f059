"""The mistakes that learners make in a step. Each file adds those of some operations."""

from . import entries, gradients, heads, norms, of_today, weights  # noqa: F401
from .base import WRONG, Mistake, is_mistake, mistakes  # noqa: F401
