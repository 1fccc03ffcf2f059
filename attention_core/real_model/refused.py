"""What is said where a model cannot be opened."""

from ..files.refused import ModelRefused, needed

__all__ = ["ModelRefused", "needed"]
