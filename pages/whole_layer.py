"""The whole layer: every step from tokens to output on one screen."""

from functools import partial

from attention_core.mechanism.multi_head import attend_heads
from attention_core.text.embedding import embed
from attention_core.trace import Trace
from attention_ui.lessons.whole_layer.answers import answers
from attention_ui.lessons.whole_layer.layer import (
    left_out_words,
    opened,
    show_layer,
    switches,
    ways_to_lessons,
)
from attention_ui.lessons.whole_layer.sums import sums_verdict
from attention_ui.lessons.whole_layer.temperature import rows_of_equal_scores, when_hotter
from attention_ui.page.begin_and_finish import begin, finish
from attention_ui.page.closing import closing
from attention_ui.page.lights import show_checks
from attention_ui.page.page import Page, open_on
from attention_ui.page.view import View
from attention_ui.settings.control import control, control_row, offered
from attention_ui.settings.settings import Settings

PAGE = "whole_layer"


def build(settings: Settings) -> Trace:
    """The lesson's trace."""
    return attend_heads(embed(settings.inputs), settings.layer_recipe)


def view_of(settings: Settings) -> View:
    return View.of(PAGE, settings, build)


def lesson(page: Page) -> None:
    """What stands on the page, from top to bottom."""
    begin(page)
    view, settings = page.view, page.view.settings
    page.controls(switches, settings.n_heads, settings.d_model)
    page.part("layer", partial(show_layer, view))
    page.words(
        "What a cell is made of is outlined in orange, what is made of it in green. A click takes "
        "it apart below. A head is one attention with its own columns of `W_query`, `W_key` and "
        "`W_value`, so each can look for something else; a row of even weights has no preference. "
        "`concat` puts what the heads found side by side, and `W_output` mixes it.",
        caption=True,
    )
    page.changing(left_out_words(view.trace))
    page.changing(rows_of_equal_scores(view.trace, settings.temperature))
    page.light(*sums_verdict(view.trace))
    page.part("checks", lambda: show_checks(view, "output"))
    page.part("ways", lambda: ways_to_lessons(PAGE))
    weights = view.trace["head_weights"]
    page.ask("hotter", when_hotter(view.trace), about=(weights.name, weights.inputs[0].name))
    page.header("With its numbers", anchor="opened")
    page.words(
        "Above, numbers are folded to colours. Choose a matrix to see its numbers, in the equation "
        "that makes it."
    )
    page.controls(choose_opened, *offered("head", settings).values())
    page.equation("opened", build=partial(opened, view.trace))
    closing(page, answers(view))
    finish(page)


def choose_opened() -> None:
    with control_row():
        control("opened", elsewhere=True)
        control("head", elsewhere=True)
        control("h_seed", width=180)


open_on(PAGE, view_of, lesson)
