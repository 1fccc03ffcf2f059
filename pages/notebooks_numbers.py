"""The notebooks' numbers: everything that they print, computed again and set beside the print."""

import streamlit as st

from attention_ui.cards.alone import Place, alone
from attention_ui.cards.begin import begin
from attention_ui.cards.card import card, light
from attention_ui.cards.question import question
from attention_ui.cards.show import picture
from attention_ui.controls.control import Values
from attention_ui.controls.widget import control
from attention_ui.frame.ends import answers, ends
from attention_ui.frame.long_run import go_on_with_page
from attention_ui.lessons.notebooks_numbers import check, lesson, words
from attention_ui.lessons.notebooks_numbers.results import show_results

values, trace = begin("notebooks_numbers", has_pins=False)
run = check.check_of_all()
is_over = run.share >= 1

with card(
    "all",
    "All that they print",
    "Five published notebooks, one of them part of an article, computed again while you opened "
    "this page. A bar is a notebook, and its colours say what came of its numbers.",
):
    check.show_bars(run.found)
    st.caption(check.which_they_are())
    check.show_progress(run)  # where its result will stand
    good, total = check.says_total(run.found)
    if is_over:
        light(good, total)
        st.markdown(check.why_not_all(run.found))
        check.show_how_long(run)


@alone(
    "results",
    "Every result",
    "Choose a row: what is printed, what is computed, and the lesson that shows it.",
)
def every_result(values: Values, _: Place) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        control(lesson.NOTEBOOK, width=290)
        control(lesson.SEARCH, width=180)
        control(lesson.VERDICT, width=200)
        control(lesson.KIND, width=160)
    show_results(values, run.found)


with card(
    "judged",
    "How a match is judged",
    "Take the printed number away from the computed one, both in units of the last printed digit, "
    "and see what is left over.",
):
    result = lesson.judged(values)
    st.markdown(
        f"One result of the chosen notebook, `{result.id}`. {lesson.in_units_words(result)}"
    )
    covered = question("left_over", lesson.question(values), trace, ("left_over",))
    picture("judged", lesson.units(trace, covered))
    if not covered:
        light(*lesson.verdict(values, trace))
        st.markdown(check.what_the_slack_is())

answers([words.by_rounding(values), words.by_processor(trace, values), words.never()], covered)
ends(trace)
go_on_with_page(run)
