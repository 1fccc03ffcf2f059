"""The notebooks' numbers: everything that they print, computed again and set beside the print."""

from functools import partial

from attention_ui.lessons.notebooks_numbers.answers import answers
from attention_ui.lessons.notebooks_numbers.check import (
    check_of_all,
    says_total,
    show_bars,
    show_how_long,
    show_progress,
    what_the_slack_is,
    why_not_all,
)
from attention_ui.lessons.notebooks_numbers.judged import (
    build,
    in_units_words,
    judged,
    question,
    verdict,
)
from attention_ui.lessons.notebooks_numbers.results import choose, show_results
from attention_ui.page.begin_and_finish import begin, finish
from attention_ui.page.closing import closing
from attention_ui.page.page import Page, open_on
from attention_ui.page.view import View
from attention_ui.picture.matrix import Matrix
from attention_ui.settings.settings import Settings
from attention_ui.widgets.long_run import go_on_with_page

PAGE = "notebooks_numbers"


def view_of(settings: Settings) -> View:
    # Without a way to build it anew: no setting of a pin changes these numbers.
    trace = build(settings)
    left = trace["left_over"]
    return View(PAGE, settings, trace, opens_with=(left.name, (0,) * left.value.ndim))


def lesson(page: Page) -> None:
    """What stands on the page, from top to bottom."""
    settings, run = page.view.settings, check_of_all()
    found, is_over = run.found, run.share >= 1
    begin(page)
    page.part("progress", partial(show_progress, run), about=run.share)
    good, total = says_total(found)
    page.light(good, total if is_over else "")
    page.part("bars", partial(show_bars, found), about=run.share)
    page.changing(why_not_all(found) if is_over else "")
    page.part("how_long", partial(show_how_long, run))
    page.header("Every result", anchor="results")
    page.controls(choose)
    asked_for = (settings.notebook, settings.verdict, settings.kind, settings.search)
    page.part("results", partial(show_results, settings, found), about=(*asked_for, run.share))
    judge_one(page)
    closing(page, answers(page.view))
    finish(page)
    page.part("goes_on", partial(go_on_with_page, run), about=run.share)


def judge_one(page: Page) -> None:
    """One result, and the rule by which it matches."""
    view = page.view
    settings, trace = view.settings, view.trace
    result = judged(settings)
    page.header("How a match is judged", anchor="judged")
    page.changing(
        f"Here is one result of the chosen notebook, `{result.id}`. {in_units_words(result)} Take "
        "the printed number away from the computed one, and see what is left over."
    )
    page.ask("left_over", question(settings), covers=("left_over",))
    lies = len(trace["left_over"].axes) == 1
    names = ("in_units", "printed_units", "left_over")
    computed, printed, left = (Matrix(trace[name], transposed=lies) for name in names)
    page.equation("judged", computed, "−", printed, "=", left)
    page.light(*verdict(settings, trace), shows=("left_over",))
    page.words(what_the_slack_is())


open_on(PAGE, view_of, lesson)
