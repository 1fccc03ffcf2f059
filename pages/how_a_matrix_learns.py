"""How a matrix learns: the backward pass, number by number."""

from attention_core.mistakes.rewriting import at_temperatures
from attention_ui.cards import elements as ui
from attention_ui.cards.page import Page, is_covered, waits_for
from attention_ui.controls.shared import TEMPERATURE
from attention_ui.lessons.how_a_matrix_learns import lesson, pictures, words
from attention_ui.lessons.how_a_matrix_learns.flow import flow

ASKED = "grad_scaled_scores"
"""What the question is about."""

TALL = 190
page = Page("how_a_matrix_learns", "context_vectors")


@page.card(
    "slope",
    "One number and the loss",
    lambda v: (
        f"{words.WISHES[v.loss]} You move the entry framed in `{v.entry_matrix}`; click another to "
        "move that one."
    ),
    controls=[ui.in_picture(lesson.ENTRY_CHANGE, width=250)],
)
def slope(v, trace):
    yield ui.moving(lesson.ENTRY_CHANGE, pictures.along_an_entry(v), choosing=lesson.entry_at)
    ends = (lesson.LEARNING_QUERY.at(width=88), lesson.WANTED_KEY.at(width=88))
    yield ui.row(
        lesson.LOSS.at(),
        *(ends if v.loss != "next_token" else ()),
        lesson.ENTRY_MATRIX.at(width=104),
        lesson.ENTRY_ROW.at(width=96),
        lesson.ENTRY_COLUMN.at(width=68),
        gap="small",
        key="makes_slope",
    )
    yield ui.note(words.slope_words(trace, v))


@page.card(
    "gradients",
    "A gradient for every number",
    "Start at the right, where the loss would follow. Each step to the left asks how its numbers "
    "depend on those before them, and multiplies the slopes. Red in the lower row: raising this "
    "entry lowers the loss, so an update raises it. Point at a gradient to see what made it.",
    controls=[lesson.LEARNING_WIDTH.at(width=150), lesson.LEARNING_SEED.at(width=130)],
    ask=page.ask("row_sum", words.row_sum, [ASKED], stays=["weights", "grad_weights"]),
)
def gradients(trace):
    yield ui.picture(flow(trace, ui.covered))


@page.card(
    "softmax",
    "One row of softmax",
    "g is the slope of the loss by each weight. But raising one score raises its own weight and "
    "lowers all others of its row. So each score gets **p × (g − the average of g, weighted by "
    f"p)**, in short {words.FORMULA}.",
    controls=[ui.in_picture(TEMPERATURE, width=200)],
)
def row_of_softmax(v):
    layer = lesson.layer_of(v)
    at = ui.Along(at_temperatures(layer.row), pictures.softmax_row)
    yield ui.moving(TEMPERATURE, at, tall=TALL, is_aside=True)
    row = layer.row(v.temperature)
    yield ui.say(words.softmax_steps(row))
    if not is_covered(ASKED):
        yield ui.note(words.share_words(row))


@page.card(
    "three_ways",
    "One vector, used three times",
    "A token’s vector becomes a query, a key and a value. So the loss asks something of it three "
    "times. Each way back brings a gradient, and the three are **added**. Here the wish is “one "
    "context vector”, which needs all three.",
)
def three_ways(v):
    yield ui.picture(pictures.three_ways(lesson.layer_of(v).three_ways), is_aside=True)


@page.card(
    "ways",
    "What comes back, and what does not",
    "Parts of a layer let gradients through, stop them, or hand them on as they are.",
    controls=[lesson.GRADIENT_WAY],
)
def ways_back(v):
    shown = lesson.layer_of(v).way(v.gradient_way)
    is_asked = v.gradient_way == "mask" and is_covered(ASKED)
    yield ui.picture(pictures.way(shown, v.gradient_way, not is_asked), is_aside=True)
    if is_asked:
        yield waits_for(ASKED, "What comes back to the scores")
    yield ui.light(*words.way_words(shown, v))


@page.card(
    "update",
    "One update",
    "Every entry takes a step against its gradient, as long as the **learning rate** says. Blue is "
    "the loss after it, from a real pass; orange is what the slope promises: a straight line, bent "
    "here because each rate on the axis is ten times the one before.",
    controls=[ui.in_picture(lesson.UPDATE_RATE, width=230, told=False)],
)
def one_update(v):
    update = pictures.Update(v)
    yield ui.moving(lesson.UPDATE_RATE, update.at, is_aside=True)
    yield ui.say(words.update_words(update, v.update_rate))
    if v.loss == "next_token":
        yield ui.link_to("queries_keys_values", "Many such updates: train it")


deeper = page.deeper("the numbers of one gradient, the chain rule in formulas")


@deeper.section(
    "numbers_of_one",
    "The numbers of one gradient",
    lambda v: (
        f"The gradient of {v.entry_matrix}: what went into the product, turned on its side, times "
        "the gradient of what came out. Choose another matrix in *One number and the loss*."
    ),
    pictures=("gradient_numbers",),
)
def numbers_of_one(v, trace):
    yield ui.matrices(trace, trace[f"grad_{v.entry_matrix}"], tall=250, name="gradient_numbers")
    yield ui.link_to("divide_by_sqrt_d", "Why wide vectors make rows that hardly learn, and √d")


@deeper.section(
    "chain",
    "The chain rule in formulas",
    "The chain rule: how the loss depends on a number is how it depends on what is made of that "
    "number, times how that depends on the number, added up over all that is made of it. So it "
    "goes from the loss ℓ back to W_query, line by line. dA is short for the gradient by A, ⊙ "
    "multiplies entry by entry, the bar is the mean Σ p g of a row, and the hat what is left when "
    "that is subtracted:",
)
def chain(trace):
    way_back = {*trace["grad_W_query"].earlier(), "grad_W_query"}
    for name, step in trace.items():
        if name in way_back and "grad_" in name and step.inputs:
            yield ui.formula_of(trace, name)


page.answers(
    words.why_up,
    words.why_it_sums_to_0,
    words.why_hidden_keys_learn_nothing,
    words.how_far,
    about_weights=False,
)
page.show()
