"""The mistakes lab: what people really get wrong in attention code, switched on one at a time."""

from functools import partial

from attention_ui.lessons.mistakes_lab.answers import answers
from attention_ui.lessons.mistakes_lab.lab import (
    LIGHTS,
    build,
    choose,
    chosen,
    compared,
    found_in,
    instead_words,
    made,
    show_lines,
    which_lights,
)
from attention_ui.lessons.mistakes_lab.seen import seen
from attention_ui.page.begin_and_finish import begin, finish
from attention_ui.page.closing import closing
from attention_ui.page.lights import draw_lights, right_verdict
from attention_ui.page.page import Page, open_on
from attention_ui.page.view import View
from attention_ui.settings.control import offered
from attention_ui.settings.settings import Settings

PAGE = "mistakes_lab"


def view_of(settings: Settings) -> View:
    return View.of(PAGE, settings, build)


def lesson(page: Page) -> None:
    """What stands on the page, from top to bottom."""
    begin(page)
    view, settings = page.view, page.view.settings
    mistake, trace = chosen(settings), view.trace
    heads = offered("head", settings)
    page.controls(partial(choose, settings), settings.mistake, mistake.step, heads)
    page.note(instead_words(settings))
    page.part("lines", partial(show_lines, mistake), about=mistake)
    page.changing(mistake.named.words)
    page.words(
        "The wrong numbers, less the right ones, give the difference. Point at a cell, and it "
        "lights up in all three; click it, and it is taken apart.",
        caption=True,
    )
    page.equation("compared", build=partial(compared, trace))
    page.header("What the lights say", anchor="lights")
    page.words(
        "A light is one property that attention should have, measured on this layer: by looking at "
        "its numbers, or by changing something and computing everything again. Green: it holds. "
        "Red: it does not. Grey: there is nothing to measure here."
    )
    page.light(*right_verdict(settings))
    page.ask(
        f"lights_{mistake.name}", which_lights(settings), covers=(LIGHTS,), about=("difference",)
    )
    found = found_in(settings)
    page.part("lights", partial(draw_lights, found), about=found, shows=(LIGHTS,))
    page.changing(f"No light sees this one. {mistake.named.unseen}" if mistake.named.unseen else "")
    seen(page)
    page.header("How the wrong numbers come about", anchor="made")
    page.words("Click a cell of the result to take it apart, down to the first numbers.")
    page.equation("wrong", build=partial(made, trace, is_wrong=True))
    page.header("How the right ones do", anchor="right")
    page.equation("right", build=partial(made, trace, is_wrong=False))
    closing(page, answers(view))
    finish(page)


open_on(PAGE, view_of, lesson)
