"""A notebook's cells: a dict for `json`, nbformat 4.5 (https://nbformat.readthedocs.io)."""

from .trace import Step


def document(cells: list[dict]) -> dict:
    """Cells as a notebook."""
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {
        "cells": [{"id": f"cell-{at}", **cell} for at, cell in enumerate(cells)],
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def text(*paragraphs: str) -> dict:
    """A cell of Markdown. Never holds a person's text."""
    return {"cell_type": "markdown", "metadata": {}, "source": "\n\n".join(paragraphs)}


def code(*lines: str, hidden: bool = False) -> dict:
    """A cell of Python; a hidden one is folded away where the notebook program can do that."""
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {"jupyter": {"source_hidden": True}} if hidden else {},
        "outputs": [],
        "source": "\n".join(lines),
    }


def about(step: Step) -> list[str]:
    """A step's heading with its shape, its formula, what stands for what in it, and its words."""
    named = dict.fromkeys(step.inputs)
    legend = ", ".join(f"${operand.symbol}$ is `{operand.name}`" for operand in named)
    return [
        f"## `{step.name}` ({step.shape})",
        f"$${_once(step)}$$",
        *([f"Here {legend}."] if legend else []),
        step.words,
    ]


def _once(step: Step) -> str:
    """The formula; once alone where the symbol is the formula itself, as in q ⊙ X."""
    made = step.operation.formula(*(operand.symbol for operand in step.inputs))
    return made if made == step.symbol else step.formula
