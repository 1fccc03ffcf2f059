"""RESULTS.md from the figures that are kept."""

from pathlib import Path

from .figures import Figure, Part, kept

RESULTS = Path(__file__).parent / "RESULTS.md"
HEAD = """# Measured

Written by `make bench`; do not edit. `make bench ARGS="moves layer"` measures some parts again and
leaves the others, `make bench ARGS="--quick moves"` prints a short run and writes nothing.

A figure that misses its goal is **bold**, with the goal in brackets. *× empty* is the ratio to the
least page of Streamlit's that answers a slider (`benchmarks/empty/app.py`), measured in the same
run: a slow or busy machine moves both.
"""


def write(order: list[str]) -> None:
    """Write RESULTS.md, the parts in this order."""
    found = kept()
    lines = [HEAD]
    for name in order:
        if name in found:
            machine, parts = found[name]
            for part in parts:
                lines += [table(part)]
            lines += [
                f"<sub>`{name}`, {machine['day']}: {machine['processor']}, {machine['cores']} "
                f"cores, load {machine['load']}; {machine['system']}; {machine['versions']}.</sub>"
                "\n"
            ]
    RESULTS.write_text("\n".join(lines), encoding="utf-8")


def table(part: Part) -> str:
    """One table, as Markdown."""
    columns = list(dict.fromkeys(name for each in part.figures for name in each.numbers))
    notes = any(each.note for each in part.figures)
    heads = [f"in {part.unit}" if part.unit else "", *columns, *(["note"] if notes else [])]
    lines = [f"## {part.title}\n", f"{part.how}\n", row(heads), row(["---"] * len(heads))]
    for each in part.figures:
        cells = [number(each, name) for name in columns]
        lines.append(row([each.what, *cells, *([each.note] if notes else [])]))
    missed = sum(bool(each.missed) for each in part.figures)
    with_goal = sum(bool(each.most) for each in part.figures)
    if with_goal:
        lines.append(f"\n{with_goal - missed} of {with_goal} rows reach their goal.")
    return "\n".join(lines) + "\n"


def number(figure: Figure, column: str) -> str:
    """A number as it is written, and the goal where it misses it."""
    if column not in figure.numbers:
        return ""
    value = written(figure.numbers[column])
    if column in figure.missed:
        return f"**{value}** ({written(figure.most[column])})"
    return value


def written(value: float) -> str:
    """Three digits, or all before the point."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def row(cells: list[str]) -> str:
    """One line of a table."""
    return "| " + " | ".join(cells) + " |"
