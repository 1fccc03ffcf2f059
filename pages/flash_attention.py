"""Flash attention: the same context vectors, without ever holding the table of weights."""

import streamlit as st

from attention_core.operations import MaskedFill
from attention_core.trace import Step
from attention_ui.cards.alone import Place, alone
from attention_ui.cards.begin import begin
from attention_ui.cards.card import card, light, note
from attention_ui.cards.question import question
from attention_ui.cards.show import Moving, chart, moves, picture
from attention_ui.controls.control import Values
from attention_ui.controls.shared import CAUSAL_HEADS
from attention_ui.controls.widget import control
from attention_ui.frame.ends import answers, deeper, ends
from attention_ui.lessons.flash_attention import lesson, words
from attention_ui.picture.layout import equation
from attention_ui.picture.matrix import Matrix

TALL = 150
"""Of a picture that shares its card with another one."""
values, trace = begin("flash_attention")
whole, table, tile = lesson.all_blocks(values), lesson.plain(values), lesson.chosen(values)
at, block = lesson.where(tile), tile.query_block


def of_tile(name: str, title: str, **look: bool) -> Matrix:
    """A matrix of the held tile, by a short title."""
    return Matrix(trace[f"{name}_{at}"], title=title, **look)


def kept(name: str, title: str) -> Matrix:
    """What was kept before the held tile."""
    return Matrix(trace[f"running_{name}_{lesson.before(tile)}"], title=title)


with card(
    "tiles",
    "One tile at a time",
    "Only the outlined tile of the table is held; finished ones are forgotten. All that stays of a "
    "query stands beside it: its largest score so far, **m**; the sum of its exponentials, **ℓ**; "
    "and the sum of the values times them, **O**. Where m rises, the old ℓ and O shrink by **α**.",
):
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        moves("tiles", lesson.TILE, width=300, told=False)
        if len(whole.labels("query")) > 1:
            control(lesson.TILE_QUERIES, width=140)
            control(lesson.TILE_KEYS, width=140)
        control(CAUSAL_HEADS)
    joined = lesson.with_table(whole, lesson.cut(values))
    picture(
        "tiles",
        lesson.held_at(values, joined, values.tile),
        Moving(
            lesson.TILE,
            lambda place: lesson.held_at(values, joined, int(place)),
            values.of(*lesson.MAKES_TILES),
            elsewhere=True,
        ),
    )
    skipped = words.skipped_words(lesson.cut(values))
    st.caption(f"“context” is O divided by ℓ, once all keys were met. {skipped}")


def chain(first: Step, last: Step) -> list[Step]:
    """The steps from one to another, each made from the one before."""
    steps = [last]
    while steps[0] is not first:
        steps.insert(0, steps[0].inputs[0])
    return steps


with card(
    "tile",
    "One tile, taken apart",
    "First the scores, as usual. Then each row’s maximum so far, **m**, is taken off every score, "
    "so that no exponential is above 1; and each row is summed.",
):
    masked = trace[f"tile_largest_{at}"].inputs[0]
    names = {"tile_scores": "scores", "tile_scaled_scores": "÷ √d" if values.scale == "sqrt_d" else
             "÷ d", "tile_masked_scores": "masked"}  # fmt: skip
    made = [
        Matrix(each, title=names[each.name.removesuffix(f"_{at}")])
        for each in chain(trace[f"tile_scores_{at}"], masked)
    ]
    first, *then = made
    powers = of_tile("tile_exponentials", "e^(score − m)", column_labels=False)
    parts = [part for each in then for part in ("→", each)]
    picture(
        "tile_scores",
        equation(
            trace,
            *(Matrix(trace[f"tile_queries_{block}"], title=f"queries {block}"), "·"),
            *(of_tile("tile_keys", f"keys {tile.key_block}ᵀ", transposed=True), "=", first, *parts),
            tall=TALL,
        ),
    )
    picture(
        "tile_exponentials",
        equation(
            trace,
            *(made[-1], "→", of_tile("tile_largest", "largest"), "max"),
            *(kept("largest", "m before"), "=", of_tile("running_largest", "m")),
            *("→", powers, "Σ", of_tile("tile_sum", "ℓ̂")),
            tall=TALL,
        ),
    )
    hides = "−∞ stands where the mask hides. " if isinstance(masked.operation, MaskedFill) else ""
    st.caption(
        f"{hides}**max** takes the larger of two, Σ adds up a row; a hat (^) marks what comes from "
        "this tile alone."
    )

with card(
    "shrinking",
    "Why it shrinks",
    "Earlier tiles used the old maximum. Where this tile raises it, their sum and output shrink "
    "to match: they are multiplied by **α**, e to the old maximum minus the new one. Where it has "
    "not risen, α is 1.",
):
    alpha = of_tile("shrink", "α")
    picture(
        "tile_shrink",
        equation(
            trace,
            *(kept("largest", "m before"), "−", of_tile("running_largest", "m"), "→", alpha),
            *("|", alpha, "⊙", kept("sum", "ℓ before"), "+", of_tile("tile_sum", "ℓ̂")),
            *("=", of_tile("running_sum", "ℓ")),
            tall=TALL,
        ),
    )
    picture(
        "tile_output",
        equation(
            trace,
            *(alpha, "⊙", kept("output", "O before"), "+"),
            *(powers, "·", of_tile("tile_values", f"values {tile.key_block}")),
            *("=", of_tile("running_output", "O")),
            tall=TALL,
        ),
    )
    if not tile.key_block:
        note(
            "This is the first tile of its queries: before it, m is −∞ and ℓ and O are 0, so there "
            "is nothing to shrink, and α is e to the −∞: 0."
        )

with card("without", "And without it?", words.worked_row()):
    without = lesson.unshrunk(trace, block)
    wrong = f"wrong_context_vectors_{block}"
    if wrong in without:
        about = ("difference", wrong)
        covered = question("unshrunk", words.without_shrinking(), without, about)
        hides = "difference" in covered
        picture(
            "without",
            equation(
                without,
                *(Matrix(without[wrong], title="without shrinking", covered=hides), "−"),
                *(Matrix(without[f"context_vectors_{block}"], title="context vectors"), "="),
                Matrix(without["difference"], covered=hides),
                tall=TALL,
            ),
        )
        if not hides:
            note(words.off_words(without))
    else:
        covered = frozenset()
        note("This block of queries meets one tile of keys alone, so nothing has to shrink.")

with card(
    "same",
    "The same result",
    "Softmax needs only a row’s largest score and the sum of its exponentials: no table has to be "
    "kept, and the division may wait. Added in another order, numbers differ only in rounding.",
):
    context = trace[f"context_vectors_{block}"]
    output, total = context.inputs
    picture(
        "context",
        equation(
            trace,
            *(Matrix(output, title="O at the end"), "⊘", Matrix(total, title="ℓ at the end")),
            *("=", Matrix(context, title=f"context vectors {block}")),
            tall=TALL,
        ),
    )
    light(*lesson.same_as_plain(whole, table))
    light(*lesson.same_as_torch(whole, table))


@alone(
    "savings",
    "What it saves",
    "A chip computes faster than it fetches: its large memory is slow and its fast memory small, "
    "so moving bytes takes the time. The whole table is written and read twice, as scores and as "
    "weights.",
)
def savings(values: Values, _: Place) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        control(lesson.FLASH_TOKENS, width=180)
        control(lesson.FLASH_WIDTH, width=150)
        control(lesson.FAST_MEMORY, width=180)
        control(lesson.M_BYTES)
    chart("savings", words.bars(values), 680)
    side, by_table, by_tiles = words.at_size(values)
    st.markdown(words.saved_words(values, side, by_table, by_tiles))
    st.caption(
        f"What it does not save: {words.met(values.causal_heads)}. "
        f"{words.products_words(whole, table)}"
    )


with deeper("what training keeps, formulas, bytes counted on your sentence", "training") as is_open:
    if is_open:
        with card(
            "training",
            "What training keeps",
            "Training goes back through the layer, and there needs every weight again. Flash "
            "attention keeps only m and ℓ of each row, and computes the weights once more: **e to "
            "the score − m, divided by ℓ**. That is more products, and still less time.",
        ) as beside:
            with beside:
                control(lesson.FLASH_TOKENS, width=180, again="training")
            again = lesson.weights_again(values, whole)
            picture(
                "training",
                equation(
                    again,
                    *(Matrix(again["weights"].inputs[0], title="scores"), "−"),
                    *(Matrix(again["exponentials_again"].inputs[1], title="m"), "→"),
                    *(Matrix(again["exponentials_again"], title="e^(score − m)"), "⊘"),
                    *(Matrix(again["weights_again"].inputs[1], title="ℓ"), "="),
                    Matrix(again["weights_again"], title="weights again"),
                    tall=TALL,
                ),
                is_aside=True,
            )
            light(*lesson.same_gradient(again))
            chart("training", words.kept_bars(values), 680)
        with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
            for name in ("shrink", "running_sum", "running_output"):
                st.latex(trace[f"{name}_{at}"].formula, width="content")
        with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
            st.latex(r"\text{whole table: } 4N^2 + 2N(d + d_v)", width="content")
            tiled = r"\text{tiles: } \lceil N / B \rceil\,N(d + d_v) + N(d + d_v)"
            st.latex(tiled, width="content")
        st.markdown(
            "N are the tokens, d the width of queries and keys, $d_v$ that of values (in the bars "
            "both are the width of a head), B the queries in a tile: this is how many numbers are "
            "moved per head and text, without a mask. ⌈N / B⌉ is how many blocks of queries there "
            f"are, each of which reads all keys and values. "
            f"{words.in_numbers(values, words.at_size(values)[0])}"
        )
        light(*words.counted(whole, table, values))
        st.markdown("Real kernels do all heads and texts at once, and fetch while they compute.")

answers(
    lambda values: [
        words.what_is_kept(trace, tile),
        words.why_it_shrinks(trace, tile),
        words.what_it_saves(values),
    ],
    covered,
)
ends(trace)
