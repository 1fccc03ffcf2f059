"""What was measured of each head, and where one looks in this beginning."""

from attention_core.small_models.figures import TEXTS, UNSHARPENED, shipped_figures
from attention_core.small_models.heads import BAR, FAR, KINDS

from ...charts.head_scores import head_scores, spreads
from ...page.show import show
from ...picture.equation_parts import Parts, equation_of
from ...picture.matrix import Matrix
from ...settings.choices import head_briefly
from ...settings.control import control, control_row
from ...settings.settings import Settings
from ...words import listed
from .beginning import build, head_of


def choose_head() -> None:
    with control_row():
        control("tiny_head", elsewhere=True, width=430)


def weights_of(settings: Settings) -> Matrix:
    """The weights of the head that is watched."""
    layer, head = head_of(settings.tiny_head)
    return Matrix(build(settings)[f"layer_{layer}_weights"], lead=(head,))


def why(settings: Settings) -> Parts:
    """Its scores, as the products of queries and keys that they are."""
    layer, head = head_of(settings.tiny_head)
    scores = build(settings)[f"layer_{layer}_scores"]
    queries, keys = scores.inputs
    drawn = [Matrix(each, lead=(head,)) for each in (queries, scores)]
    drawn.append(Matrix(keys, lead=(head,), transposed=True))
    return equation_of(scores, drawn=drawn)


def first_cell(settings: Settings) -> tuple[str, tuple[int, ...]]:
    """The cell in which the last word looks most, in the head that is watched."""
    weights = weights_of(settings)
    last = weights.values[-1]
    return weights.step.name, (*weights.lead, len(last) - 1, int(last.argmax()))


def does(settings: Settings) -> str:
    """What the head that is watched does, in words."""
    head = head_of(settings.tiny_head)
    figures = shipped_figures()
    names = figures.names(head)
    scores = figures.scores_of(head)
    if not names:
        near = max(scores, key=scores.__getitem__)
        return (
            "No name fits this head: of all that was measured, it comes nearest to the column "
            f"“{near}”, with {scores[near]:.2f} of its weight there."
        )
    said = {kind.name: kind.does for kind in KINDS}
    told = "; ".join(f"{said[name]} ({scores[name]:.2f} of its weight there)" for name in names)
    return f"Measured on {TEXTS} texts, this head {told}."


def show_scores() -> None:
    """All heads and all kinds."""
    figures = shipped_figures()
    heads = [head_briefly(head) for head in figures.heads]
    flat = {
        name: {
            kind.name: [number for layer in table[kind.name] for number in layer] for kind in KINDS
        }
        for name, table in (("after", figures.scores), ("before", figures.untrained))
    }
    show(head_scores(heads, flat["after"], flat["before"], BAR))


def show_spreads() -> None:
    """How the shares behind the best score of each head are spread."""
    figures = shipped_figures()
    best = {
        head: max(figures.scores_of(head), key=figures.scores_of(head).__getitem__)
        for head in figures.heads
    }
    bins = [figures.spread[kind][layer][number] for (layer, number), kind in best.items()]
    names = [f"{layer}.{number}" for layer, number in best]
    show(spreads(names, list(best.values()), bins))


def rule() -> str:
    """How names are given."""
    figures = shipped_figures()
    none = sum(not figures.names(head) for head in figures.heads)
    named, losses, least = (
        listed([shown.format(getattr(run, what)) for run in UNSHARPENED])
        for what, shown in (("named", "{}"), ("loss", "{:.4f}"), ("least", "{:.2f}"))
    )
    return (
        f"A head gets the name of a column if it puts at least {BAR:.0%} of its weight there, and "
        f"at least {FAR:.0%} of its weight more than before training. No name is given by hand: "
        f"{none} of {len(figures.heads)} heads have none. Looking everywhere at once cost a little "
        f"in training, so that heads are easy to read. Trained {len(UNSHARPENED)} times without "
        f"that cost, {named} of the {len(figures.heads)} heads got a name, and the loss was no "
        f"higher ({losses}; here {figures.loss:.4f}). The names only fit less well: the least "
        f"clear head put {least} of its weight where its name says, here {figures.least:.2f}."
    )


def meanings_of_names() -> str:
    """What a head does that has a name, in words, for each name that was given."""
    figures = shipped_figures()
    given = {name for head in figures.heads for name in figures.names(head)}
    told = [f"- **{kind.name}** {kind.does}" for kind in KINDS if kind.name in given]
    return "\n".join(["What the names mean:", "", *told])
