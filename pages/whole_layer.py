"""The whole layer: every step from tokens to output on one screen."""

from attention_core.mechanism.multi_head import attend_heads
from attention_core.text.embedding import embed
from attention_core.trace import Trace
from attention_ui.lessons.whole_layer.layer import show_layer
from attention_ui.page.begin_and_finish import begin, finish
from attention_ui.page.page import Page, open_on
from attention_ui.page.view import View
from attention_ui.settings.settings import Settings

PAGE = "whole_layer"


def build(settings: Settings) -> Trace:
    """The lesson's trace."""
    return attend_heads(embed(settings.inputs), settings.heads_recipe)


def view_of(settings: Settings) -> View:
    return View.of(PAGE, settings, build)


def lesson(page: Page) -> None:
    """What stands on the page, from top to bottom."""
    begin(page)
    page.part("layer", lambda: show_layer(page.view))
    finish(page)


open_on(PAGE, view_of, lesson)
