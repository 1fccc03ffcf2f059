"""The notebooks' numbers: everything that they print, computed again and set beside the print."""

from attention_core.published.printed import notebook
from attention_core.published.stories import STORIES
from attention_ui.cards.elements import caption, frame, light, picture, say
from attention_ui.cards.page import Page, is_covered
from attention_ui.cards.stories import told
from attention_ui.lessons.notebooks_numbers import check, lesson, results

page = Page("notebooks_numbers", has_pins=False)


@page.card(
    "all",
    "All that they print",
    "Five published notebooks, one of them part of an article, computed again on this computer.",
)
def all_of_them():
    found = [each for some in check.outcomes().values() for each in some]
    yield light(*check.says_total(found))
    yield say(check.why_not_all(found))
    yield caption(check.which_they_are())


@page.card(
    "results",
    "Every result",
    "What is printed, what is computed, and the lesson that shows it. The magnifying glass above "
    "the table searches it; a double click shows a long cell whole.",
    controls=[lesson.NOTEBOOK.at(width=290)],
)
def every_result(v):
    table = results.table(v)
    yield say(f"**All {len(table)} results** :gray[:small[{notebook(v.notebook).source}]]")
    narrow = {name: {"width": 190} for name in ("result", "printed", "computed")}
    yield frame(table, height=380, width="stretch", column_config=narrow)


@page.card(
    "judged",
    "How a match is judged",
    "Take the printed number away from the computed one, both in units of the last printed digit, "
    "and see what is left over.",
    ask=page.ask("left_over", lesson.question, ["left_over"]),
)
def judged(v, trace):
    result = lesson.judged(v)
    yield say(f"One result of the chosen notebook, `{result.id}`. {lesson.in_units_words(result)}")
    yield picture(lesson.units(trace))
    if not is_covered("left_over"):
        yield light(*lesson.verdict(v, trace))
        yield say(check.what_the_slack_is())


deeper = page.deeper("what the notebooks get wrong, each told with its own numbers")


@deeper.section("stories", "What the notebooks get wrong")
def stories():
    for story in STORIES.values():
        yield from told(story)


page.answers(check.by_rounding, check.never)
page.show()
