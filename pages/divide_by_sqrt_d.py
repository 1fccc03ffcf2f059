"""Why divide by √d: how the spread of a dot product grows with the width, and what that does."""

from attention_core.experiments.saturation import N_KEYS, trials_at
from attention_ui.cards import elements as ui
from attention_ui.cards.common_questions import which_way
from attention_ui.cards.page import Page, is_covered, waits_for
from attention_ui.controls.shared import MAX_SEED
from attention_ui.lessons.divide_by_sqrt_d import lesson, looks, words

BOTH = ("dot_products", "scaled_dot_products")


def width_of(trace):
    return trace["products"].value.shape[-1]


def largest(trace):
    """What dividing does to the largest weight that softmax makes of the dot products."""
    scores, divided = (trace[name].value for name in BOTH)
    return which_way(
        f"Take these {len(scores)} dot products as the scores of one query. They are divided by "
        f"√{width_of(trace)} before the softmax. What happens to the largest weight?",
        "the largest weight",
        scores.softmax(dim=-1).max().item(),
        divided.softmax(dim=-1).max().item(),
        "Scores that lie closer together share the weight more evenly, so no key loses all of it "
        "to the others. That is what dividing by √d is for.",
    )


page = Page("divide_by_sqrt_d")
# The numbers stand there: what they become in a softmax is on no picture.
LARGEST = page.ask("largest", largest, BOTH, lambda: (), again=["dot_products"])


@page.card(
    "products",
    "Products",
    lambda trace: (
        f"Each row is a trial: two vectors of width d = {width_of(trace)}, "
        "multiplied entry by entry. All entries are drawn with mean 0 and **variance** 1, which "
        "says how far numbers spread. The products have variance 1 too: most are small, a few are "
        "not."
    ),
    controls=lambda v: [
        lesson.DRAW_SEED.at(width=130),
        ui.set_to(
            "Draw again",
            "draw_again",
            {"type": "secondary", "icon": ":material/casino:"},
            draw_seed=(v.draw_seed + 1) % (MAX_SEED + 1),
        ),
    ],
)
def products(trace):
    yield ui.matrices(trace, trace["products"])


@page.card(
    "dot_products",
    "Dot products",
    lambda trace: (
        f"The {width_of(trace)} products of a row are added: that is q·k, a **score**. Some "
        "cancel, but not all, and the sums spread farther than a single product does. Dividing by "
        f"√{width_of(trace)} brings them back."
    ),
    ask=LARGEST,
)
def dot_products(trace):
    yield ui.matrices(trace, *(trace[name] for name in BOTH))


@page.card(
    "many_trials",
    "Many trials",
    lambda trace: (
        f"{len(trace['products'].value)} trials say little. Here are as many as you like, at any "
        "width. Dividing by √d assumes entries with a standard deviation of 1: choose another, and "
        "see what happens."
    ),
    controls=lambda: [] if is_covered("variances") else [lesson.VARIANCE_VIEW],
    ask=page.ask("growth", lambda v: words.growth(v.draw_seed), ["dot_products"], ["variances"]),
    work=lambda v: None if is_covered("variances") else looks.work(v),
)
def many_trials(v):
    if is_covered("variances"):
        yield ui.note("The pictures wait for your guess: they would give it away.")
    else:
        yield from looks.look(v)


@page.card(
    "three_divisors",
    "Nothing, √d or d",
    "Softmax must neither give one key everything nor treat all keys alike. A **gradient** is how "
    "far the weights still move when a dot product does, before it is divided: near 0, a layer no "
    "longer learns. Widen the vectors, and watch both.",
    controls=[ui.in_picture(lesson.VECTOR_WIDTH, width=230, told=False)],
)
def three_divisors(v):
    def at_width(d):
        return lesson.by_divisor(int(d), words.effects_at(int(d), v.draw_seed))

    yield ui.moving(lesson.VECTOR_WIDTH, at_width, is_aside=True)
    width = v.vector_width
    yield ui.note(words.told_at(width, words.effects_at(width, v.draw_seed)))
    yield ui.caption(
        f"One random query and {N_KEYS} random keys, drawn {trials_at(width):,} times: weights are "
        "means of the draws, the gradient is that of the middle draw, the median."
    )


deeper = page.deeper("the two formulas")


@deeper.section("formula", "As a formula")
def in_one_line():
    if is_covered("variances"):
        yield waits_for("variances")
        return
    yield ui.formula(r"\operatorname{Var}(q \cdot k) = d\,s^4")
    yield ui.formula(r"\operatorname{Var}\!\left(\frac{q \cdot k}{\sqrt d}\right) = s^4")
    yield ui.say(
        "q is a query and k a key, each of d entries; s is the standard deviation of these "
        "entries, whose mean is 0."
    )


page.answers(words.why_the_root, words.assumes, words.without)
page.show()
