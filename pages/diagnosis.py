"""Find the mistake: the lab's other way in. Name an unseen mistake from its tensors and lights."""

from attention_core.mistakes.named import NAMED
from attention_ui.cards import elements as ui
from attention_ui.cards.page import Page, is_covered
from attention_ui.controls.shared import HEAD
from attention_ui.frame.lights import note
from attention_ui.lessons.mistakes_lab import game, lesson, words

page = Page("diagnosis")
COVERS, ROUND = [game.MISTAKE], game.name_of_round
WHICH = page.ask("mistake", words.which_mistake, game.BEFORE, COVERS, each=ROUND, again=None)
WHY = page.ask(
    "why_mistake",
    lambda v, trace: None if WHICH.covered() else words.why(trace, v),
    game.BEFORE,
    COVERS,
    each=ROUND,
    again=None,
)


def is_told(v):
    """Whether the mistake of the round is on the table."""
    return bool(game.hidden(v)) and not is_covered(game.MISTAKE)


def comes_again(v):
    if game.is_missed(v):
        note("You will meet this one again: in two rounds, and in five.")


@page.card(
    "context",
    "Something in this layer is wrong",
    "You see its numbers, and not how they were made: that would name the mistake. *Share* gives a "
    "class the link to this round.",
    controls=lambda v: [
        game.LEVEL.at(widget="selectbox", width=140),
        game.ROUND_SEED.at(width=80),
        ui.button("Next round", "next_round_above", game.next_round),
        *([HEAD.at(width=140)] if v.n_heads > 1 else []),
    ],
)
def context(v, trace):
    yield ui.picture(game.of_head(trace, v, "head_context_vectors", tall=380))


@page.card(
    "lights",
    "What the lights say",
    "A **light** is one property that attention should have, measured on this layer. Green: it "
    "holds. Red: it does not. Grey: nothing to measure here.",
)
def lights(v):
    yield ui.every_light(lesson.lights_with(*lesson.layer_of(v), game.hidden(v)))
    yield ui.light(*words.right_verdict(v))


@page.card(
    "tensor",
    "More tensors",
    "Look at any of them: what should be equal, and is not?",
    controls=[game.TENSOR.at(width=240)],
)
def tensor(v, trace):
    yield ui.picture(game.of_head(trace, v, v.tensor, tall=380))


@page.card(
    "name_it",
    "Name it",
    "Two questions: which mistake it is, and what proves it. One that you miss comes again two "
    "rounds later, and five.",
    controls=lambda v: [
        ui.button("Next round", "next_round", game.next_round),
        *([ui.in_picture(lesson.SWITCH, "truth", width=140)] if is_told(v) else []),
    ],
    ask=WHICH,
)
def name_it(v):
    yield WHY
    if not game.hidden(v):
        yield ui.say(words.TOO_SHORT)
    elif is_told(v):
        shown = v.but(mistake=game.hidden(v))
        yield lesson.compared(lesson.trace_of(shown), shown, tall=230, name="truth")
        yield from lesson.lines(NAMED[shown.mistake])
        yield ui.link_to("mistakes_lab", "Look at it in the mistakes lab", mistake=shown.mistake)
    yield ui.alive(comes_again)


page.answers(words.gave_it_away, words.finds_most, words.finds_none, again=False)
page.show()
