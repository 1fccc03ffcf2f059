"""How heads learn: a network that comes to continue what repeats, watched while it learns."""

from attention_core.rounding import to_within
from attention_core.small_models.induction import best_head, shipped_run
from attention_core.utils.head_name import head_name
from attention_ui.cards import elements as ui
from attention_ui.cards.page import Page, is_covered
from attention_ui.cards.why_there import NUMBERS_WORDS, in_numbers, in_small
from attention_ui.lessons.heads_learning import lesson, own_run, watching, words
from attention_ui.picture.learning import learning
from attention_ui.words import capital, number

TALL = 340
page = Page("heads_learning", "context_vectors", has_pins=False)
ONE_LAYER = page.ask(
    "one_layer", lambda: words.one_layer_question(shipped_run()), ["weights"], [words.ONE_LAYER]
)


@page.card(
    "run",
    "A network learns",
    "Move through its training. Each square is one head on the same sixteen letters: a row for "
    "each letter that looks; stronger colour, more weight. **Red** is the loss on letters that "
    "repeat, **grey** on those that are there for the first time, which nobody can know.",
    controls=[ui.in_picture(lesson.RECORDED_STEP, width=300, told=False)],
)
def run():
    yield ui.moving(
        lesson.RECORDED_STEP, lambda step: learning(watching.shipped(), lesson.STEPS.index(step))
    )


@page.card(
    "watch", "The moment it happens", lambda: watching.moment_words(shipped_run().records)[0]
)
def watch():
    yield ui.caption(watching.moment_words(shipped_run().records)[1])


@page.card(
    "induction_head",
    "What an induction head is",
    "What comes after the second D? Look where D stood before, and copy what came next: K. A "
    "**previous-token head** in the first layer has written into K’s vector: “D came before me”. "
    "An **induction head** in the second lets the second D ask for just that, and hands K on.",
)
def induction_head(trace):
    layer, head = best_head(shipped_run().records[-1])
    yield ui.caption(
        f"{capital(head_name(head, layer))}. In the lower half, scores are large along a slanting "
        "line: each letter’s query fits the key of what came after it the first time."
    )
    yield ui.matrices(trace, trace["scores"], tall=TALL, name="scores")
    yield ui.link_to_a_real_model(
        "Induction heads of a real model",
        "induction",
        "cat river seven blue stone walk music apple cat river seven blue stone",
    )


@page.card(
    "weights",
    "Where it looks",
    lambda trace: (
        "A causal mask hides what comes later, and softmax makes shares of the rest. A letter that "
        f"has not been there before leaves {number(lesson.on_first_key(trace), 2)} of its weight "
        f"on the first one; the others put {number(lesson.on_target(trace), 2)} of theirs on the "
        "slanting line. That is for these letters; the mean over many sequences is the "
        "**prefix-matching score**."
    ),
)
def weights(trace):
    yield ui.matrices(trace, trace["weights"], tall=TALL)
    off = (trace["weights"].value.sum(dim=-1) - 1).abs().max().item()
    yield ui.light(off < 1e-5, f"Every row sums to 1, {to_within(off)}.")
    gap = lesson.recorded_gap(trace)
    yield ui.light(
        gap < lesson.ROUNDED,
        "These weights, worked out step by step, are those recorded in training, "
        f"{to_within(gap)}.",
    )


@page.card(
    "why",
    "Why there?",
    "This opens on the second D, which found K. A score is a sum over pairs: what each part wrote "
    "at the letter that looks, times what each wrote at the one it looks at. Blue raises it above "
    "the other letters’ scores. A sum is not a cause, so a head is taken away below. Click on a "
    "head to go there.",
    controls=[lesson.WHY_HEAD.at(width=130), lesson.WHY_FROM.at(width=150)],
)
def why_there(v):
    names = lesson.WHY_HEAD.name, lesson.WHY_FROM.name
    yield from in_small(lesson.whole(), lesson.why_there(v), lesson.whole, names)


@page.card(
    "two_layers",
    "Why it takes two layers",
    "A key can only say what its token’s vector holds. Which token came before is written into it "
    "by the layer below, or by nobody.",
    ask=ONE_LAYER,
)
def two_layers(v):
    if is_covered(words.ONE_LAYER):
        return
    asked = words.one_layer_question(shipped_run())
    is_taught_above = v.predict and not v.card
    yield ui.say(asked.answer() if is_taught_above else f"{asked.answer()} {asked.teaches}")


own = page.fold(
    "train",
    "**Train one yourself**: from another seed, on other letters",
    ":material/model_training:",
    in_place=True,
)


@own.section(
    "train",
    "Train one yourself",
    "Another seed starts from other random numbers, and learns from other letters. Which heads "
    "take up the work changes from run to run; that some do, and roughly when, hardly changes. You "
    "can stop at any time and keep what it has learned so far.",
    work=own_run.training,
)
def train():
    records, is_going = own_run.recorded()
    is_watched = bool(records) and not is_going
    steps = own_run.steps_of(records)
    place = [ui.in_picture(steps, "own", width=260, told=False)] if is_watched else []
    yield ui.row(lesson.NETWORK_SEED.at(width=180), ui.progress("heads"), *place, gap="large")
    if is_watched:
        yield ui.moving(steps, own_run.watched(records), name="own")
        yield ui.caption(" ".join(watching.moment_words(records)))
    elif records:
        last = records[-1]
        yield ui.say(
            f"Step {last.step}: loss {number(last.loss_repeated, 3)}, and the highest "
            "prefix-matching score in layer 1 is "
            f"{number(last.prefix_matching[1].max().item(), 2)}."
        )


deeper = page.deeper("why it looks there in numbers, where this was found")


@deeper.section("why_numbers", "", f"**Why there, in numbers.** {NUMBERS_WORDS}")
def why_numbers(v):
    yield from in_numbers(lesson.why_there(v), lesson.score_trace)


@deeper.section(
    "found",
    "",
    "After Olsson et al. 2022, *In-context Learning and Induction Heads*, who found the two heads, "
    "their scores and the steep fall of the loss in models of all sizes but those of one layer.",
)
def found():
    return ()


page.answers(words.looks_for, words.two_layers, lambda: words.steeply(shipped_run()))
page.show()
