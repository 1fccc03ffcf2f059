"""Flash attention: the same context vectors, without ever holding the table of weights."""

from attention_core.operations import Hide
from attention_core.trace import Step, Trace
from attention_ui.lessons.flash_attention.agreement import same_as_plain, same_as_torch
from attention_ui.lessons.flash_attention.answers import answers
from attention_ui.lessons.flash_attention.building import all_blocks, build, plain, where
from attention_ui.lessons.flash_attention.playing import crowded_words, show_tiles, skipped_words
from attention_ui.lessons.flash_attention.savings import counted, met, products_words, show_savings
from attention_ui.lessons.flash_attention.shrinking import (
    show_unshrunk,
    unshrunk,
    without_shrinking,
    worked_row,
)
from attention_ui.page.begin_and_finish import begin, finish
from attention_ui.page.closing import closing
from attention_ui.page.page import Page, open_on
from attention_ui.page.view import View
from attention_ui.picture.equation_parts import NEW_LINE
from attention_ui.picture.matrix import Matrix
from attention_ui.settings import session
from attention_ui.settings.control import control, control_row
from attention_ui.settings.settings import Settings

PAGE = "flash_attention"


def view_of(settings: Settings) -> View:
    return View.of(PAGE, settings, build)


def lesson(page: Page) -> None:
    """What stands on the page, from top to bottom."""
    view = page.view
    settings, block = view.settings, view.settings.chosen_tile.query_block
    whole, table = all_blocks(settings), plain(settings)
    without = view.beside(unshrunk(view.trace, block))
    begin(page, without)
    play(page, whole)
    take_apart(page)
    shrink(page, without)
    page.header("The same result", anchor="same")
    page.words(
        "Softmax needs only two totals of a row: its largest score, and the sum of its "
        "exponentials. So no table has to be kept, and dividing by the sum may wait until the end. "
        "Nothing is left out: the results differ only in rounding, since numbers are added in "
        "another order."
    )
    page.equation("context", view.trace[f"context_vectors_{block}"])
    page.light(*same_as_plain(whole, table))
    page.light(*same_as_torch(whole, table))
    page.header("What it saves", anchor="savings")
    page.words(
        "A chip computes faster than it fetches: its large memory is slow and its fast memory "
        "small, so bytes that are moved take the time. The whole table is written and read twice, "
        "as scores and as weights."
    )
    page.part("savings", show_savings)
    page.changing(counted(whole, table, settings))
    page.header("What stays", anchor="stays")
    page.changing(
        f"{met(settings.causal_heads)} So the time still grows with the square of the tokens. "
        f"{products_words(whole, table)} In training, the backward pass needs the weights again "
        "and computes them once more, tile by tile: more products, and still less time."
    )
    page.words(
        "Real kernels do this with all heads and texts at once, and fetch while they compute.",
        caption=True,
    )
    closing(page, answers(settings, view.trace))
    finish(page, without)


def play(page: Page, whole: Trace) -> None:
    """At first sight: the grid of tiles, and what runs along, to be played."""
    view = page.view
    settings = view.settings
    page.header("One tile at a time", anchor="playing")
    page.words(
        "Only one tile of the table is held at a time, the outlined one. Blue is e to the power of "
        "each score minus **m**, from 0 to 1. Finished tiles are forgotten (grey). All that stays "
        "of a query stands on the right: its largest score so far, **m**; the sum of its "
        "exponentials, **ℓ**; and the sum of the values times them, **O**. Where m rises, the old "
        "ℓ and O are multiplied by a number below 1 first (*old ones ×*)."
    )
    page.controls(size_controls, settings.tiles)
    page.part(
        "tiles",
        lambda: show_tiles(view, whole),
        about=(
            view.fingerprint(("queries", "keys", "values")),
            *(settings.tile, settings.tiles, settings.scale, settings.visible_tokens),
        ),
    )
    few = crowded_words(len(settings.inputs.tokens))
    page.changing(" ".join(filter(None, (skipped_words(settings.tiles), few))))


def size_controls() -> None:
    """How large a tile is, where one token leaves a choice, and whether the future is hidden."""
    with control_row():
        if len(session.current().inputs.tokens) > 1:
            control("tile_queries", width=200)
            control("tile_keys", width=200)
        control("causal_heads")


def take_apart(page: Page) -> None:
    """One tile as live equations, from its scores to what runs along."""
    trace, at = page.view.trace, where(page.view.settings)
    page.header("One tile, taken apart", anchor="tile")
    page.words(
        "First the scores, as usual. Then each row's maximum so far, **m**, is subtracted from "
        "every score, so no exponential exceeds 1. In the names of its steps, m is "
        "`running_largest`, ℓ `running_sum` and O `running_output`. The list below moves the "
        "picture above along; the player moves only its own."
    )
    page.controls(lambda: control("tile", width=340), page.view.settings.tiles)
    largest, powers = trace[f"tile_largest_{at}"], trace[f"tile_exponentials_{at}"]
    made = largest.inputs[0]
    masked = [made] if isinstance(made.operation, Hide) else []
    page.equation(
        "tile_scores",
        *chain(trace[f"tile_scores_{at}"], made.inputs[0] if masked else made),
        NEW_LINE,
        *(*masked, largest, "max", *compared(trace[f"running_largest_{at}"])),
        NEW_LINE,
        *(powers, trace[f"tile_sum_{at}"]),
    )
    page.changing(signs(page.view.settings, bool(masked)))


def signs(settings: Settings, is_masked: bool) -> str:
    """What the names and signs of the tile's equation mean."""
    at, (row, column) = where(settings), where(settings).split("_")
    hides = "−∞ where the mask hides (purple edge), " * is_masked
    divides = "" if settings.scale == "none" else "scores divided, "
    return (
        f"{at} in a name: block {row} of the queries, block {column} of the keys. Arrows, in "
        f"turn: {divides}{hides}each row's largest, e to the power. **max**: the larger of two. Σ: "
        "the sum of each row. ⊙ (below): each row times its factor."
    )


def compared(running: Step) -> tuple[Matrix | str, ...]:
    """The maximum so far, and what it has become, behind that of the tile."""
    return Matrix(running.inputs[0]), "=", Matrix(running)


def chain(first: Step, last: Step) -> list[Step]:
    """The steps from one to another, each made from the one before."""
    steps = [last]
    while steps[0] is not first:
        steps.insert(0, steps[0].inputs[0])
    return steps


def shrink(page: Page, without: View) -> None:
    """What ran along so far shrinks where a maximum has risen."""
    trace, settings = page.view.trace, page.view.settings
    at, block = where(settings), settings.chosen_tile.query_block
    page.header("Why it shrinks", anchor="shrinking")
    page.words(
        "Earlier tiles used the old maximum. If this tile raises it, sum and output must be "
        f"rescaled to the new one. {worked_row()}"
    )
    shrinks = tuple(f"{name}_{at}" for name in ("shrink", "running_sum", "running_output"))
    page.equation(
        "tile_shrink",
        trace[f"shrink_{at}"],
        NEW_LINE,
        trace[f"running_sum_{at}"],
        NEW_LINE,
        trace[f"tile_output_{at}"],
        NEW_LINE,
        trace[f"running_output_{at}"],
    )
    page.changing(
        "**α** is e to the old maximum minus the new one: 1 where no maximum has risen. A hat (^) "
        "marks what comes from this tile alone."
        + " This is the first tile of its queries: before it, m is −∞ and ℓ and O are 0, so there "
        "is nothing to shrink, and α is e to the −∞: 0." * (not settings.chosen_tile.key_block)
    )
    page.formulas(*(trace[name].formula for name in shrinks))
    page.words("And without it? Each tile is added as it comes:")
    page.ask("unshrunk", without_shrinking(), covers=("unshrunk",))
    page.part("without", lambda: show_unshrunk(without, block), shows=("unshrunk",))


open_on(PAGE, view_of, lesson)
