"""The mistakes lab: what people really get wrong in attention code, switched on one at a time."""

from attention_ui.cards.alone import Place, alone
from attention_ui.cards.begin import begin
from attention_ui.cards.card import card, light, note
from attention_ui.cards.question import question
from attention_ui.cards.show import moves, picture
from attention_ui.controls.control import Values
from attention_ui.controls.shared import HEAD
from attention_ui.controls.widget import control
from attention_ui.frame.ends import answers, deeper, ends
from attention_ui.frame.lights import draw_lights
from attention_ui.frame.page import way_to
from attention_ui.lessons.mistakes_lab import lesson, words
from attention_ui.lessons.mistakes_lab.seen import show_others, show_stories

values, trace = begin("mistakes_lab")
mistake = lesson.chosen(values)


@alone(
    "compared",
    "Wrong, right, and the difference",
    "Look at the difference first: wrong less right is all that the mistake changes. Switch it off "
    "and on again, and watch which cells jump.",
)
def compared(values: Values, beside: Place) -> None:
    with beside:
        control(lesson.MISTAKE, width=250)
        if lesson.is_of_heads(values):
            control(HEAD, width=110)
        moves("compared", lesson.SWITCH, width=130)
    note(words.instead_words(values))
    picture("compared", *lesson.compared(trace, values, tall=260))
    lesson.show_lines(mistake.named)


with card(
    "lights",
    "What the lights say",
    "Each **light** tests one thing that should be true of any attention. Green: it holds. Red: it "
    "does not. Grey: not judged. Read the red ones first: each says what was measured.",
):
    asked = words.which_lights(values)
    about, covers = ("difference",), (words.LIGHTS,)
    covered = question(f"lights_{mistake.name}", asked, trace, about, covers)
    if not covered:
        draw_lights(lesson.found_in(values))
        if mistake.named.unseen:
            note(f"No light sees this one. {mistake.named.unseen}")
        else:
            light(*words.right_verdict(values))

with card(
    "wrong",
    "How the wrong numbers come about",
    "Begin with a cell that jumped: click it to take it apart, down to the first numbers.",
):
    picture("wrong", lesson.made(trace, values, is_wrong=True))

with card("right", "How the right ones do", "The same step of the layer without the mistake."):
    picture("right", lesson.made(trace, values, is_wrong=False))

with card(
    "seen",
    "Seen in the wild",
    "Everybody makes these mistakes; people who teach make them in public. Here they are as five "
    "published notebooks have them: with the notebook’s own numbers, and the right ones beside.",
) as beside:
    with beside:
        way_to("diagnosis", "Find one of them unseen")
    show_stories(mistake.name, values)

with deeper("what else the notebooks can teach", "other_stories") as is_open:
    if is_open:
        show_others()

answers([words.how_far(trace, values), words.what_finds(values), words.enough(values)], covered)
ends(trace)
