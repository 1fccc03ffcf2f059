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
    made,
    names,
    show_lines,
    which_lights,
    why_not,
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
    view = View.of(PAGE, settings, build)
    gap = view.trace["difference"].value
    first = tuple((gap != 0).nonzero()[0].tolist()) if (gap != 0).any() else (0,) * gap.ndim
    view.opens_with = (names(settings)[1], first)
    return view


def lesson(page: Page) -> None:
    """What stands on the page, from top to bottom."""
    begin(page)
    view, settings = page.view, page.view.settings
    mistake, trace = chosen(settings), view.trace
    heads = offered("head", settings)
    page.controls(partial(choose, settings), settings.mistake, mistake.step, heads)
    page.note(f"{why_not(settings)} So here is another one." if why_not(settings) else "")
    page.part("lines", partial(show_lines, mistake), about=mistake)
    page.changing(mistake.named.words)
    page.equation("compared", build=partial(compared, trace))
    page.words(
        "On the left the wrong numbers, then the right ones, then the difference. Point at a cell: "
        "the same cell lights up in all three.",
        caption=True,
    )
    page.header("What the lights say", anchor="lights")
    page.words(
        "A light is one property that attention should have, measured on this layer: by looking at "
        "its numbers, or by changing something and computing everything again."
    )
    page.ask("lights", which_lights(settings), covers=(LIGHTS,), about=("difference",))
    found = found_in(settings)
    page.part("lights", partial(draw_lights, found), about=found, shows=(LIGHTS,))
    page.light(*right_verdict(settings))
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
