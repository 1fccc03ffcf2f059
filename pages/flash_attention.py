"""Flash attention: the same context vectors, without ever holding the table of weights."""

from functools import partial

from attention_core.operations import MaskedFill
from attention_core.trace import Step
from attention_ui.cards import elements as ui
from attention_ui.cards.page import Page, is_covered
from attention_ui.controls.shared import CAUSAL_HEADS
from attention_ui.lessons.flash_attention import lesson, words
from attention_ui.picture.matrix import Matrix

TALL = 150
"""Of a picture that shares its card with another one."""
page = Page("flash_attention")


def unshrunk(v, trace):
    """The chosen block's trace beside one in which nothing shrinks."""
    return lesson.unshrunk(trace, lesson.chosen(v).query_block)


def wrong(v):
    """The name of the context vectors where nothing shrinks."""
    return f"wrong_context_vectors_{lesson.chosen(v).query_block}"


UNSHRUNK = page.ask(
    "unshrunk",
    lambda v, trace: words.without_shrinking() if wrong(v) in unshrunk(v, trace) else None,
    ["difference"],
    lambda v: ["difference", wrong(v)],
    of=unshrunk,
)


def of_tile(v, trace, name, title, **look):
    """A matrix of the held tile, by a short title."""
    return Matrix(trace[f"{name}_{lesson.where(lesson.chosen(v))}"], title=title, **look)


def before_tile(v, trace, name, title):
    """What was kept before the held tile."""
    return Matrix(trace[f"running_{name}_{lesson.before(lesson.chosen(v))}"], title=title)


def powers_of(v, trace):
    """The exponentials of the held tile."""
    return of_tile(v, trace, "tile_exponentials", "e^(score − m)", column_labels=False)


def chain(first: Step, last: Step) -> list[Step]:
    """The steps from one to another, each made from the one before."""
    steps = [last]
    while steps[0] is not first:
        steps.insert(0, steps[0].inputs[0])
    return steps


@page.card(
    "tiles",
    "One tile at a time",
    "Only the outlined tile of the table is held; finished ones are forgotten. Each query keeps "
    "three things: its largest score so far, **m**; the sum of its exponentials, **ℓ**; and the "
    "sum of the values times them, **O**. Where m rises, the old ℓ and O shrink by **α**.",
)
def tiles(v):
    whole, cut = lesson.all_blocks(v), lesson.cut(v)
    sizes = [each.at(width=140) for each in (lesson.TILE_QUERIES, lesson.TILE_KEYS)]
    yield ui.row(
        ui.in_picture(lesson.TILE, width=300, told=False),
        *(sizes if len(whole.labels("query")) > 1 else []),
        CAUSAL_HEADS.at(),
    )
    joined = lesson.with_table(whole, cut)
    yield ui.moving(lesson.TILE, lambda place: lesson.held_at(v, joined, int(place)))
    skipped = words.skipped_words(cut)
    yield ui.caption(f"“context” is O divided by ℓ, once all keys were met. {skipped}")


@page.card(
    "tile",
    "One tile, taken apart",
    "First the scores, as usual. Then each row’s maximum so far, **m**, is taken off every score, "
    "so that no exponential is above 1; and each row is summed.",
)
def one_tile(v, trace):
    now, before = partial(of_tile, v, trace), partial(before_tile, v, trace)
    tile = lesson.chosen(v)
    at, block = lesson.where(tile), tile.query_block
    masked = trace[f"tile_largest_{at}"].inputs[0]
    names = {
        "tile_scores": "scores",
        "tile_scaled_scores": "÷ √d" if v.scale == "sqrt_d" else "÷ d",
        "tile_masked_scores": "masked",
    }
    first, *then = made = [
        Matrix(each, title=names[each.name.removesuffix(f"_{at}")])
        for each in chain(trace[f"tile_scores_{at}"], masked)
    ]
    yield ui.matrices(
        trace,
        *(Matrix(trace[f"tile_queries_{block}"], title=f"queries {block}"), "·"),
        *(now("tile_keys", f"keys {tile.key_block}ᵀ", transposed=True), "=", first),
        *(part for each in then for part in ("→", each)),
        tall=TALL,
        name="tile_scores",
    )
    yield ui.matrices(
        trace,
        *(made[-1], "→", now("tile_largest", "largest"), "max"),
        *(before("largest", "m before"), "=", now("running_largest", "m")),
        *("→", powers_of(v, trace), "Σ", now("tile_sum", "ℓ̂")),
        tall=TALL,
        name="tile_exponentials",
    )
    hides = "−∞ stands where the mask hides. " if isinstance(masked.operation, MaskedFill) else ""
    yield ui.caption(
        f"{hides}**max** takes the larger of two, Σ adds up a row; a hat (^) marks what comes from "
        "this tile alone."
    )


@page.card(
    "shrinking",
    "Why it shrinks",
    "Earlier tiles used the old maximum. Where this tile raises it, their sum and output shrink "
    "to match: they are multiplied (⊙) by **α**, which is e to the power of the old maximum minus "
    "the new one. Where the maximum has not risen, α is 1.",
)
def shrinking(v, trace):
    now, before = partial(of_tile, v, trace), partial(before_tile, v, trace)
    alpha, key_block = now("shrink", "α"), lesson.chosen(v).key_block
    yield ui.matrices(
        trace,
        *(before("largest", "m before"), "−", now("running_largest", "m"), "→", alpha),
        *("|", alpha, "⊙", before("sum", "ℓ before"), "+", now("tile_sum", "ℓ̂")),
        *("=", now("running_sum", "ℓ")),
        tall=TALL,
        name="tile_shrink",
    )
    yield ui.matrices(
        trace,
        *(alpha, "⊙", before("output", "O before"), "+"),
        *(powers_of(v, trace), "·", now("tile_values", f"values {key_block}")),
        *("=", now("running_output", "O")),
        tall=TALL,
        name="tile_output",
    )
    if not key_block:
        yield ui.note(
            "This is the first tile of its queries: before it, m is −∞ and ℓ and O are 0, so there "
            "is nothing to shrink, and α is e to the −∞: 0."
        )


@page.card("without", "And without it?", words.worked_row(), ask=UNSHRUNK)
def without(v, trace):
    beside, name = unshrunk(v, trace), wrong(v)
    if name not in beside:
        yield ui.note("This block of queries meets one tile of keys, so nothing has to shrink.")
        return
    right = beside[name.removeprefix("wrong_")]
    yield ui.matrices(
        beside,
        *(Matrix(beside[name], title="without shrinking"), "−"),
        *(Matrix(right, title="context vectors"), "=", Matrix(beside["difference"])),
        tall=TALL,
    )
    if not is_covered("difference"):
        yield ui.note(words.off_words(beside))


@page.card(
    "same",
    "The same result",
    "Softmax needs only a row’s largest score and the sum of its exponentials: no table has to be "
    "kept, and the division may wait. Added in another order, numbers differ only in rounding.",
)
def same(v, trace):
    block = lesson.chosen(v).query_block
    context = trace[f"context_vectors_{block}"]
    output, total = context.inputs
    yield ui.matrices(
        trace,
        *(Matrix(output, title="O at the end"), "÷", Matrix(total, title="ℓ at the end")),
        *("=", Matrix(context, title=f"context vectors {block}")),
        tall=TALL,
        name="context",
    )
    whole, table = lesson.all_blocks(v), lesson.plain(v)
    yield ui.light(*lesson.same_as_plain(whole, table))
    yield ui.light(*lesson.same_as_torch(whole, table))


@page.card(
    "savings",
    "What it saves",
    "A chip computes faster than it fetches: its large memory is slow and its fast memory small, "
    "so moving bytes takes the time. The whole table is written and read twice, as scores and as "
    "weights.",
)
def savings(v):
    yield ui.row(
        lesson.FLASH_TOKENS.at(width=180),
        lesson.FLASH_WIDTH.at(width=150),
        lesson.FAST_MEMORY.at(width=180),
        lesson.M_BYTES.at(),
    )
    yield ui.chart("savings", words.bars(v), 680)
    yield ui.say(words.saved_words(v, *words.at_size(v)))
    later = " that is not later, about half of the table" * v.causal_heads
    yield ui.caption(
        f"What it does not save: each query still meets each key{later}, so the time grows with "
        "the square of the tokens."
    )


deeper = page.deeper("what training keeps, formulas, bytes counted")


@deeper.card(
    "training",
    "What training keeps",
    "Training goes back through the layer, and there needs every weight again. Flash "
    "attention keeps only m and ℓ of each row, and computes the weights once more: **e to "
    "the score − m, divided by ℓ**. That is more products, and still less time.",
    controls=[lesson.FLASH_TOKENS.at(width=180, again="training")],
)
def training(v):
    again = lesson.weights_again(v, lesson.all_blocks(v))
    yield ui.matrices(
        again,
        *(Matrix(again["weights"].inputs[0], title="scores"), "−"),
        *(Matrix(again["exponentials_again"].inputs[1], title="m"), "→"),
        *(Matrix(again["exponentials_again"], title="e^(score − m)"), "÷"),
        *(Matrix(again["weights_again"].inputs[1], title="ℓ"), "="),
        Matrix(again["weights_again"], title="weights again"),
        tall=TALL,
        is_aside=True,
    )
    yield ui.light(*lesson.same_gradient(again))
    yield ui.chart("training", words.kept_bars(v), 680)


@deeper.section("formulas", "In formulas")
def formulas(v, trace):
    at = lesson.where(lesson.chosen(v))
    for name in ("shrink", "running_sum", "running_output"):
        yield ui.formula_of(trace, f"{name}_{at}")


@deeper.section("counted", "Bytes, counted")
def counted():
    yield ui.row(
        ui.formula(r"\text{whole table: } 4N^2 + 2N(d + d_v)", width="content"),
        ui.formula(r"\text{tiles: } \lceil N / B \rceil\,N(d + d_v) + N(d + d_v)", width="content"),
        vertical_alignment="center",
    )
    yield ui.say(
        "N are the tokens, d the width of queries and keys, $d_v$ that of values (in the bars "
        "both are the width of a head), B the queries in a tile: this is how many numbers are "
        "moved per head and text, without a mask. ⌈N / B⌉ is how many blocks of queries there "
        "are, each of which reads all keys and values. Real kernels do all heads and texts at "
        "once, and fetch while they compute."
    )


page.answers(words.what_is_kept, words.why_it_shrinks, words.what_it_saves)
page.show()
