"""Lesson 6: hiding the future, and what leaks when it is done otherwise."""

from attention_core.text.embedding import embed
from attention_ui.cards import elements as ui
from attention_ui.cards.page import Page, is_covered, waits_for
from attention_ui.cards.question import asks_first
from attention_ui.controls import shared
from attention_ui.frame.lights import sums_verdict
from attention_ui.lessons.causal_mask import leaks, lesson, words
from attention_ui.picture.equation_parts import equation_of
from attention_ui.picture.matrix import Matrix

page = Page("causal_mask", "context_vectors", "causal")
TALL = 236
ROW = page.ask("row", words.shared_row, ["weights"], again=["masked_scores"])


@page.card(
    "mask",
    "The mask",
    lambda v, trace: (
        f"{words.mask_words(v, trace['mask'].value)} A hidden score becomes minus infinity (−∞) "
        "before the softmax: e to the power of −∞ is exactly 0."
    ),
    controls=[ui.in_picture(lesson.WINDOW, width=300)],
)
def mask(v, trace):
    embedded = embed(shared.inputs_of(v))

    def seen_through(window):
        made = lesson.with_window(embedded, v, window)
        masked = made["masked_scores"]
        return made, (*map(Matrix, masked.inputs), "→", Matrix(masked))

    yield ui.moving(lesson.WINDOW, seen_through, tall=TALL)
    yield ui.row(lesson.CAUSAL.at(), lesson.HIDDEN.at(width=190), key="makes_mask", gap="small")
    if blind := leaks.blind_rows(trace["mask"].value):
        yield ui.note(
            "Where every key is hidden, softmax would divide 0 by 0. Such a row of weights is set "
            "to 0, as torch's `scaled_dot_product_attention` does."
        )
        names = trace.labels("query")
        queries = ", ".join(f"query {at} “{names[at]}”" for at in blind)
        yield ui.text(f"Nothing to look at: {queries}")


@page.card(
    "weights",
    "Weights",
    lambda trace: words.weights_words(trace["mask"].value),
    controls=[shared.DIVIDE],
    ask=ROW,
)
def weights(v, trace):
    both = [Matrix(trace[name], compared=True) for name in ("unmasked_weights", "weights")]
    is_answered = asks_first() and not is_covered("weights")
    first = words.asked_query(trace) if is_answered else shared.telling_query(v)
    yield ui.matrices(trace, *both, tall=TALL, asks=first)
    yield ui.light(*leaks.share_verdict(trace, "minus_infinity"))
    yield ui.link_to_a_real_model("In a real model, many heads rest on the first token", "first")


@page.card("context", "Context vectors", lambda trace: words.context_words(trace["mask"].value))
def context(trace):
    each = [Matrix(trace[name]) for name in ("weights", "embeddings", "context_vectors")]
    weights, vectors, contexts = each
    yield ui.matrices(trace, weights, "·", vectors, "=", contexts, tall=TALL)


@page.card(
    "ways",
    "Four ways to hide",
    "The first, −∞, is how it is done. Some notebooks fill in 0 instead, before the softmax or "
    "after it: rows may still sum to 1, so the sums alone do not find a mistake. Compare them.",
    controls=[lesson.MASKING],
    ask=page.ask("leaks", leaks.which_leak, leaks.ASKED_WEIGHTS, stays=leaks.GIVEN),
)
def ways(v, trace):
    way = lesson.prefix_of(v.masking)
    right = equation_of(trace["weights"])
    yield ui.matrices(trace, *(leaks.parts_of(trace, way) if way else right), tall=TALL)
    if not (way and is_covered(f"{way}weights")):
        yield ui.light(*sums_verdict(trace, f"{way}context_vectors"))
        yield ui.light(*leaks.share_verdict(trace, v.masking))


def tells_which_leak(v):
    """Whether the way that is chosen is one of those that are asked about."""
    weights = f"{lesson.prefix_of(v.masking)}weights"
    return weights in leaks.ASKED_WEIGHTS and is_covered(weights)


@page.card(
    "leak",
    "Measure the leak",
    "Change one token and compute everything again. The context vector of a query that may not "
    "look at this token must stay as it is. *Hide by*, above, chooses the way that is measured.",
    controls=lambda v: (
        []
        if tells_which_leak(v)
        else [lesson.CHANGED_TOKEN.at(width=150), ui.in_picture(lesson.CHANGE_BY)]
    ),
)
def leak(v, trace):
    if tells_which_leak(v):
        yield waits_for(leaks.ASKED_WEIGHTS[0])
        return
    way = lesson.prefix_of(v.masking)

    def moved_by(amount):
        """The context vectors with the change and before it, and what has moved."""
        made = lesson.changed(v.but(change_by=amount), masked=trace.branch())
        later = Matrix(made[f"changed_{way}context_vectors"], title="context_vectors, changed")
        before = Matrix(made[f"{way}context_vectors"], title="context_vectors")
        still = Matrix(made["moved"], allowed=leaks.may_move(made, v.changed_token))
        return made, equation_of(made["moved"], drawn=[later, before, still])

    yield ui.moving(lesson.CHANGE_BY, moved_by, tall=TALL)
    good, told = leaks.said_of_leak(v, lesson.changed(v, masked=trace.branch()))
    yield ui.note(told) if good is None else ui.light(good, told)


deeper = page.deeper("from masked scores to weights, as a formula")


@deeper.section("softmax", "From masked scores to weights")
def softmax(trace):
    yield ui.matrices(trace, trace["weights"], tall=TALL)
    masked = trace["masked_scores"]
    scores, mask = masked.inputs
    yield ui.formula(
        rf"A = \operatorname{{softmax}}({masked.symbol}) \qquad ({masked.symbol})_{{ij}} = "
        rf"\begin{{cases}} ({scores.symbol})_{{ij}} & \text{{if }} M_{{ij}} \\ "
        r"-\infty & \text{else} \end{cases}",
        *(trace["weights"], masked, scores, mask),
    )
    yield ui.formula(r"M_{ij}\text{: query } i \text{ may look at key } j")
    yield ui.say(
        "In words: where a query may not look, its score becomes −∞. Softmax takes e to the power "
        "of each score, and e to the power of −∞ is 0: a hidden key gets no share."
    )
    yield ui.say(
        "True means *may look*, as in torch's `scaled_dot_product_attention`. "
        "`nn.MultiheadAttention` and the notebooks use the opposite, True for hidden. That is why "
        "the program below writes `~mask` where it fills in −∞."
    )


page.answers(words.why_before, lambda trace: words.at_itself(trace["mask"].value), words.at_one_key)
page.show()
