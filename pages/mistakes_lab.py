"""The mistakes lab: what people really get wrong in attention code, switched on one at a time."""

from attention_ui.cards.elements import every_light, in_picture, light, link_to, note, picture
from attention_ui.cards.page import Page, is_covered
from attention_ui.controls.shared import HEAD
from attention_ui.lessons.mistakes_lab import lesson, words


def mistake(v):
    return lesson.chosen(v).name


page = Page("mistakes_lab")
LIGHTS = page.ask(
    "lights", words.which_lights, ["difference"], [words.LIGHTS], each=mistake, again=None
)


@page.card(
    "compared",
    "Wrong, right, and the difference",
    "Look at the difference first: wrong less right is all that the mistake changes. Switch it off "
    "and on again, and watch which cells jump.",
    controls=lambda v: [
        lesson.MISTAKE.at(width=250),
        *([HEAD.at(width=110)] if lesson.is_of_heads(v) else []),
        in_picture(lesson.SWITCH, width=130),
    ],
)
def compared(v, trace):
    yield note(words.instead_words(v))
    yield lesson.compared(trace, v, tall=260)
    yield from lesson.lines(lesson.chosen(v).named)


@page.card(
    "lights",
    "What the lights say",
    "Each **light** tests one thing that should be true of any attention. Green: it holds. Red: it "
    "does not. Grey: not judged. Read the red ones first: each says what was measured.",
    ask=LIGHTS,
)
def lights(v):
    if is_covered(words.LIGHTS):
        return
    yield every_light(lesson.found_in(v))
    if unseen := lesson.chosen(v).named.unseen:
        yield note(f"No light sees this one. {unseen}")
    else:
        yield light(*words.right_verdict(v))


@page.card(
    "wrong",
    "How the wrong numbers come about",
    "Begin with a cell that jumped: click it to take it apart, down to the first numbers.",
)
def wrong(v, trace):
    yield picture(lesson.made(trace, v, is_wrong=True))


@page.card("right", "How the right numbers come about", "The same step without the mistake.")
def right(v, trace):
    yield picture(lesson.made(trace, v, is_wrong=False))


@page.card(
    "seen",
    "Seen in the wild",
    "Everybody makes these mistakes; people who teach make them in public. Here they are as five "
    "published notebooks have them: with the notebook’s own numbers, and the right ones beside.",
    controls=[link_to("diagnosis", "Find one of them unseen")],
)
def seen(v):
    return lesson.stories(mistake(v), v)


deeper = page.deeper("what else the notebooks can teach")


@deeper.section("other_stories", "What else the notebooks can teach", "The lab has no switch for:")
def other_stories(v):
    return lesson.stories("", v)


page.answers(words.what_finds, words.enough, again=False)
page.show()
