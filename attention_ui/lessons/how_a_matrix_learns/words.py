"""What the lesson says of its numbers, and what its questions ask."""

from attention_core.experiments.learning import gradients_of, squared_norm
from attention_core.rounding import to_within
from attention_core.trace import Trace

from ...cards.common_questions import one_of
from ...cards.questions import Pick
from ...frame.ends import closes
from ...reactive.control import Values
from ...words import number, percent, word_at
from .layer import DROPOUT
from .pictures import Update, short

FORMULA = "p (g − Σ p g)".replace(" ", "\N{NO-BREAK SPACE}")
WISHES = {
    "weight": "Your wish: the weight framed in `weights` grows, so that its query looks more at "
    "its key. The **loss** is minus that weight, at best −1: it falls as the weight grows.",
    "context": "Your wish: the query’s context vector becomes like the value that the key has now. "
    "The **loss** is the squared distance between the two.",
    "next_token": "Your wish: each position predicts the token after it. The **loss** is the mean "
    "of −ln p, where p is the chance given to the right token.",
}
"""What the loss is, in words."""
TINY = 1e-6
"""Below this a gradient is 0 but for rounding."""


def slope_words(trace: Trace, values: Values) -> str:
    """Which way the entry should go, from its gradient."""
    name, (row, column) = values.entry_matrix, (values.entry_row, values.entry_column)
    slope = trace[f"grad_{name}"].value[row, column].item()
    entry = f"{name}[{row}, {column}]"
    if abs(slope) < TINY:
        return f"Where it starts, moving {entry} does not change the loss: its gradient is 0."
    way, other = ("up", "down") if slope > 0 else ("down", "up")
    return (
        f"Where it starts, the gradient of {entry} is {number(slope)}: when the entry goes up a "
        f"little, the loss goes {way}. So an update moves it {other}, against its gradient."
    )


def row_sum(trace: Trace) -> Pick:
    """What a row of the scores' gradient sums to."""
    return one_of(
        "Softmax turns a row of **scaled** scores into shares of 1. To what does the gradient of "
        "such a row sum?",
        ("To 1, as the weights do", "To 0", "To the loss", "It depends on the numbers"),
        1,
        row_sum_words(trace),
        teaches="Add the same number to all scores of a row, and no weight changes. So the loss "
        "cannot change either: the gradient has nothing to say along that way.",
    )


def row_sum_words(trace: Trace) -> str:
    """The largest sum of a row that was found."""
    sums = trace["grad_masked_scores"].value.double().sum(dim=-1).abs().max().item()
    return f"To 0, in every row here, {to_within(sums)}."


def softmax_steps(trace: Trace) -> str:
    """Where the gradient of one score, the largest, comes from, in three steps."""
    found = trace["grad_query_scores"].value
    key = int(found.abs().argmax())
    p, g = (trace[n].value[key].item() for n in ("query_weights", "grad_query_weights"))
    mean = trace["mean_grad_query_weights"].value.item()
    name = word_at(trace.labels("key"), key, "key")
    own, shrunk, left = (number(each, 2) for each in (p * g, -p * mean, found[key].item()))
    return (
        f"Raise the score of {name} a little. **1.** Its weight p grows by {number(p, 2)} times as "
        f"much, and the loss with it: p × g = {number(p, 2)} × {number(g, 2)} = {own}. **2.** The "
        "weights must sum to 1 again, so all of them, its own too, shrink by that same share p: "
        f"−p × Σ p g = −{number(p, 2)} × {number(mean, 2)} = {shrunk}. **3.** Together {left}, "
        f"rounded at the end: that is {FORMULA}."
    )


def share_words(trace: Trace) -> str:
    """Of one row: what goes up, what goes down, or that it hardly learns."""
    scores = trace["grad_query_scores"].value
    top, most = trace["query_weights"].value.max().item(), scores.abs().max().item()
    words = "An entry below 0 says: raise this score, and the loss falls. "
    if top > 0.98:
        return (
            f"{words}Here one key has {percent(top)} of the weight, and the largest gradient is "
            f"only {number(most)}: a row that is almost all or nothing hardly learns."
        )
    return f"{words}Together the gradients come to 0: what one key gains, others lose."


def way_words(trace: Trace, values: Values) -> tuple[bool, str]:
    """What a mask, dropout, a residual or several heads do to gradients, checked."""
    if values.gradient_way == "mask":
        hidden = ~trace["mask"].value
        found = trace["grad_scaled_scores"].value[hidden].abs()
        return bool((found == 0).all()), (
            f"Each of the {int(hidden.sum())} hidden scores gets exactly 0: its weight is 0 "
            "whatever the score is, so moving the score moves nothing."
        )
    if values.gradient_way == "dropout":
        dropped = trace["kept"].value < trace["dropped_weights"].operation.probability
        good = bool((trace["grad_weights"].value[dropped] == 0).all())
        return good, (
            f"A weight that was dropped gets exactly 0 in this step: it played no part. What is "
            f"kept gets {1 / (1 - DROPOUT):.2f} times as much, since it was scaled up by that on "
            f"the way there (1 / (1 − {DROPOUT}))."
        )
    if values.gradient_way == "residual":
        good = trace["grad_after_attention"] in trace["grad_embeddings"].inputs
        return good, (
            f"For this view the wish is that all entries of row {values.learning_query} grow after "
            "the addition, so its gradient is 1 there. The addition hands that on as it is, a path "
            "of ones, and adds what comes through attention. So x always hears from the loss."
        )
    other = trace["grad_head_W_query"].value[1]
    return bool((other == 0).all()), (
        "For this view there are two heads, and the wish is a larger weight in head 0 alone: the "
        "columns of head 1 in W_query get exactly 0. Each head learns from what it is asked."
    )


def update_words(update: Update, rate: float) -> str:
    """How the real fall compares with the expected one."""
    rises = max(update.losses.values()) > update.before
    elsewhere = "" if rises else " None of these rates does so here: choose *The next token* above."
    real, expected = update.before - update.losses[rate], rate * update.falls
    if update.falls < TINY**2:
        return "Every gradient is 0: no update changes anything."
    words = (
        f"All gradients together have a length of {short(update.falls**0.5)}. The slope promises "
        f"a fall of rate × length² = {rate:,g} × {short(update.falls)} = {short(expected)}. It "
    )
    if real < -1e-6:
        return f"{words}**rose** by {short(-real)}: the step was too large for the slope to hold."
    if abs(real - expected) <= 0.05 * expected:
        return f"{words}fell by {short(real)}: for a step this small, the slope tells the truth."
    more = "more" if real > expected else "less"
    return (
        f"{words}fell by {short(real)}, {more} than that: over so long a step the slope changes, "
        f"and what it promised no longer counts. Too long a step may raise the loss.{elsewhere}"
    )


@closes("Why does an entry go up, and not down?", "slope")
def why_up() -> str:
    """By the sign of its gradient: the card has that of the chosen entry."""
    return (
        "Its gradient says by how much the loss rises when the entry rises a little. An update "
        "goes against it: a gradient above 0 moves the entry down, one below 0 moves it up."
    )


@closes(
    "What does the gradient of a row of scores sum to, and why?", "softmax", "grad_masked_scores"
)
def why_it_sums_to_0(trace: Trace) -> str:
    """With the largest sum that was found."""
    return (
        "To 0, because softmax does not notice a number that is added to all scores of a row. What "
        "raises one weight takes the same from the others, and so do the gradients: p (g − Σ p "
        f"g) sums to Σ p g − Σ p g. {row_sum_words(trace)}"
    )


@closes("Why does a hidden key learn nothing from this query?", "ways")
def why_hidden_keys_learn_nothing() -> str:
    """By the weight that they have."""
    return (
        "The mask sets its score to −∞ before the softmax: its weight is exactly 0, whatever "
        "the score was. A number that changes nothing has a gradient of 0. The same key may "
        "still learn from later queries, which may look at it."
    )


@closes("How far does one update go?", "update")
def how_far(trace: Trace) -> str:
    """With the length of all gradients together."""
    return (
        "Each entry moves by rate × its gradient; here all gradients together have a length of "
        f"{number(squared_norm(gradients_of(trace)) ** 0.5)}. The fall that the slope promises is "
        "rate × length², and it is kept only while the step is small."
    )
