"""What the lesson has in common with its published notebook, checked on the live tensors."""

from .view import View


def proof(view: View, lesson: str) -> None:
    """later"""
