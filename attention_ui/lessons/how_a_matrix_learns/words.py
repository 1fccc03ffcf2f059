"""What the lesson says of its numbers, and what its questions ask."""

from attention_core.experiments.learning import gradients_of, reach_at, squared_norm
from attention_core.trace import Trace

from ...cards.questions import Pick, Verdict
from ...controls.control import Values
from ...frame.ends import Answer
from ...words import number, percent
from .pictures import Update

TINY = 1e-6
"""Below this a gradient is 0 but for rounding."""


def loss_words(values: Values) -> str:
    """What the loss is, in words."""
    return {
        "weight": "Your wish: the query looks more at the key. The **loss** is minus that weight, "
        "so the loss falls as the weight grows.",
        "context": "Your wish: the query’s context vector becomes like the value that the key has "
        "now. The **loss** is the squared distance between the two.",
        "next_token": "Your wish: each position predicts the token after it. The **loss** is the "
        "mean of −ln p, where p is the chance given to the right token.",
    }[values.loss]


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
    choices = ("To 1, as the weights do", "To 0", "To the loss", "It depends on the numbers")

    def judge(guess: list[int]) -> Verdict:
        right = guess == [1]
        return Verdict(right, f"{'Right. ' if right else ''}{row_sum_words(trace)}")

    return Pick(
        words="Softmax turns a row of scores into shares of 1. To what does the gradient of such a "
        "row of **scores** sum?",
        choices=choices,
        judge=judge,
        truth=lambda: row_sum_words(trace),
        teaches="Add the same number to all scores of a row, and no weight changes. So the loss "
        "cannot change either: the gradient has nothing to say along that way.",
    )


def row_sum_words(trace: Trace) -> str:
    """The largest sum of a row that was found."""
    sums = trace["grad_masked_scores"].value.double().sum(dim=-1).abs().max().item()
    return f"To 0: in every row here, but for rounding (at most {number(sums, 1)})."


def share_words(trace: Trace) -> str:
    """Of one row: what goes up, what goes down, at this temperature."""
    scores = trace["grad_query_scores"].value
    top = trace["query_weights"].value.max().item()
    most = scores.abs().max().item()
    words = "An entry below 0 says: raise this score, and the loss falls. "
    if top > 0.98:
        return (
            f"{words}Here one key has {percent(top)} of the weight, and the largest gradient is "
            f"only {number(most)}: a row that is almost all or nothing hardly learns."
        )
    n_up, n_down = int((scores < -TINY).sum()), int((scores > TINY).sum())
    return (
        f"{words}Of {len(scores)} scores {n_up} should rise and {n_down} fall: what one key gains, "
        "others lose, since p always sums to 1."
    )


def reach_words(d: int) -> str:
    """What is left of the gradient of W_query at a width."""
    found = reach_at(d)
    plain, root = found["nothing"], found["sqrt_d"]
    if d == 1:
        return "At d = 1 all three divide by 1. Make the vectors wider, and watch them part."
    words = (
        f"At d = {d}, the middle draw’s largest weight is {plain.weights[0]:.0%} undivided and "
        f"{root.weights[0]:.0%} divided by √d. "
    )
    if plain.n_flat < 0.05:
        return f"{words}Vectors this narrow learn either way."
    return (
        f"{words}Undivided, {percent(plain.n_flat)} of the draws have a gradient below a hundredth "
        "of the usual one with √d: W_query hardly learns there."
    )


def way_words(trace: Trace, values: Values) -> tuple[bool, str]:
    """What a mask, dropout, a residual or several heads do to gradients, checked."""
    if values.gradient_way == "mask":
        hidden = ~trace["mask"].value
        found = trace["grad_scaled_scores"].value[hidden].abs()
        n = int(hidden.sum())
        if not n:
            return True, "One token hides nothing from itself."
        good = bool((found == 0).all())
        return good, (
            f"Each of the {n} hidden scores gets exactly 0: its weight is 0 whatever the score is, "
            "so moving the score moves nothing."
        )
    if values.gradient_way == "dropout":
        dropped = trace["kept"].value < trace["dropped_weights"].operation.probability
        good = bool((trace["grad_weights"].value[dropped] == 0).all())
        return good, (
            "A weight that was dropped gets exactly 0 in this step: it played no part. What is "
            "kept gets more, by the factor that it was scaled up with."
        )
    if values.gradient_way == "residual":
        ways = trace["grad_embeddings"].inputs
        good = trace["grad_after_attention"] in ways
        return good, (
            "Addition hands its gradient on as it is, a path of ones: whatever attention does, x "
            "still hears from the loss. That keeps deep stacks learning."
        )
    other = trace["grad_head_W_query"].value[1]
    return bool((other == 0).all()), (
        "The wish is one of head 0 alone: the columns of head 1 in W_query get exactly 0. Each "
        "head learns only from what it was asked for."
    )


def update_words(update: Update, rate: float) -> str:
    """How the real fall compares with the expected one."""
    real, expected = update.before - update.losses[rate], rate * update.falls
    if update.falls < TINY**2:
        return "Every gradient is 0: no update changes anything."
    words = (
        f"The loss should fall by rate × gradient² = {rate:,g} × {number(update.falls)} = "
        f"{number(expected)}. It "
    )
    if real < -1e-6:
        return f"{words}**rose** by {number(-real)}: the step was too large for the slope to hold."
    if abs(real - expected) <= 0.05 * expected:
        return f"{words}fell by {number(real)}: for a step this small, the slope tells the truth."
    return f"{words}fell by {number(real)}: the slope has changed on the way. Try smaller rates."


def same_as_training(distance: float) -> tuple[bool, str]:
    """That the update is the first step of *Train it*."""
    return distance < 1e-6, (
        "This is the first step that *Train it* makes on *Queries, keys, values* at this width and "
        f"rate: no entry differs by more than {number(distance, 1)}."
    )


def answers(trace: Trace, values: Values) -> list[Answer]:
    """On signs, on rows that sum to 0, and on hidden keys."""
    gradients = gradients_of(trace)
    norm = squared_norm(gradients) ** 0.5
    return [
        Answer(
            "Why does an entry go up, and not down?",
            "Its gradient says by how much the loss rises when the entry rises a little. An update "
            "goes against it: a gradient above 0 moves the entry down, one below 0 moves it up. "
            f"{slope_words(trace, values).replace('Where it starts, the', 'Here the')}",
            "slope",
            "One number and the loss",
        ),
        Answer(
            "Why does the gradient of a row of scores sum to 0?",
            "Because softmax does not notice a number that is added to all scores of a row. What "
            "raises one weight takes the same from the others, and so do the gradients: p (g − Σ p "
            f"g) sums to Σ p g − Σ p g. {row_sum_words(trace)}",
            "softmax",
            "One row of softmax",
            ("grad_masked_scores",),
        ),
        Answer(
            "Why does a hidden key learn nothing from this query?",
            "The mask sets its score to −∞ before the softmax: its weight is exactly 0, whatever "
            "the score was. A number that changes nothing has a gradient of 0. The same key may "
            "still learn from later queries, which may look at it.",
            "ways",
            "What comes back, and what does not",
        ),
        Answer(
            "How far does one update go?",
            "Each entry moves by rate × its gradient; here all gradients together have a length of "
            f"{number(norm)}. The fall that the slope promises is rate × length², and it is kept "
            "only while the step is small.",
            "update",
            "One update",
        ),
    ]
