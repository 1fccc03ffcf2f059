"""The diagnosis game: name an unseen mistake from its tensors and lights."""

from functools import partial

from attention_core.mistakes.rounds import lights_with
from attention_ui.lessons.diagnosis.answers import answers
from attention_ui.lessons.diagnosis.game import (
    BEFORE,
    MISTAKE,
    build,
    choose,
    choose_tensor,
    context,
    hidden,
    show_truth,
    tensor,
    which_mistake,
)
from attention_ui.page.begin_and_finish import begin, finish
from attention_ui.page.closing import closing
from attention_ui.page.lights import draw_lights, right_verdict
from attention_ui.page.page import Page, open_on
from attention_ui.page.view import View
from attention_ui.settings.control import offered
from attention_ui.settings.settings import Settings

PAGE = "diagnosis"


def view_of(settings: Settings) -> View:
    return View.of(PAGE, settings, build)


def lesson(page: Page) -> None:
    """What stands on the page, from top to bottom."""
    begin(page)
    view, settings = page.view, page.view.settings
    page.words(
        "Something in this layer is wrong. You see its numbers and what was measured, but not how "
        "the numbers were made: that would name the mistake. Each round draws one mistake; "
        "*Share*, in the sidebar, gives a class the link to this round.",
        caption=True,
    )
    page.controls(partial(choose, settings), offered("head", settings))
    page.equation("context", build=partial(context, view.trace))
    page.header("What the lights say", anchor="lights")
    page.words(
        "A light is one property that attention should have, measured on this layer. Green: it "
        "holds. Red: it does not. Grey: there is nothing to measure here."
    )
    page.light(*right_verdict(settings))
    found = lights_with(settings.inputs, settings.heads_recipe, hidden(settings))
    page.part("lights", partial(draw_lights, found), about=found)
    page.header("More tensors", anchor="tensors")
    page.controls(choose_tensor)
    page.equation("tensor", build=partial(tensor, view.trace))
    page.header("Name it", anchor="name_it")
    this_round = f"mistake_{settings.level}_{settings.round_seed}"
    page.ask(this_round, which_mistake(settings), covers=(MISTAKE,), about=BEFORE)
    page.part("truth", partial(show_truth, settings), shows=(MISTAKE,))
    closing(page, answers(view))
    finish(page)


open_on(PAGE, view_of, lesson)
