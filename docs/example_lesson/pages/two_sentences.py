"""Cross-attention: one sentence looks at another."""

from attention_core.rounding import to_within
from attention_ui.cards import elements as ui
from attention_ui.cards.page import Page, is_covered
from attention_ui.controls.shared import TEMPERATURE
from attention_ui.frame.ends import closes
from attention_ui.lessons.two_sentences import lesson
from attention_ui.picture.matrix import Matrix

page = Page("two_sentences")
LOOKS_AT = page.ask("looks_at", lesson.most_looked_at, ["weights"])


@page.card(
    "scores",
    "Scores",
    "Each token of your sentence is compared with each token of the other one.",
    controls=[lesson.OTHER.at(width=330)],
)
def scores(trace):
    yield ui.matrices(trace, trace["scores"])


@page.card(
    "weights",
    "Weights",
    "At a low temperature, each query gives nearly all its weight to one token.",
    controls=[ui.in_picture(TEMPERATURE)],
    ask=LOOKS_AT,
)
def weights(v, trace):
    compared = lesson.compare(v)

    def weighed(temperature):
        """The trace at one position of the slider, and what is drawn of it."""
        made = lesson.weigh(compared, temperature)
        return made, (Matrix(made["tempered_scores"]), "→", Matrix(made["weights"]))

    yield ui.moving(TEMPERATURE, weighed, lambda made, parts: ui.equation(made, *parts))
    if not is_covered("weights"):
        off = (trace["weights"].value.sum(dim=-1) - 1).abs().max().item()
        yield ui.light(off < 1e-5, f"Every row sums to 1, {to_within(off)}.")


@closes("May weights be a matrix that is no square?", "weights")
def any_shape(trace):
    n_queries, n_others = trace["weights"].value.shape
    return f"Yes: here they are {n_queries} × {n_others}, a row for each token of your sentence."


page.answers(any_shape)
page.show()
