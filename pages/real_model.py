"""A real model: from a sentence to the numbers of one head."""

import streamlit as st

from attention_ui.cards.card import card, light, note
from attention_ui.cards.question import question
from attention_ui.cards.show import chart, picture
from attention_ui.controls.widget import control
from attention_ui.frame.ends import answers, deeper, ends, row
from attention_ui.frame.long_run import begun, go_on_with_page
from attention_ui.frame.models import readable
from attention_ui.frame.page import open_lesson
from attention_ui.lessons.real_model import charts, lesson, words
from attention_ui.lessons.real_model.getting import way_to_a_model
from attention_ui.lessons.real_model.heads import choosing, heads_picture, to_switch_off
from attention_ui.lessons.real_model.running import passes
from attention_ui.lessons.real_model.story import story
from attention_ui.lessons.real_model.surveyed import surveyed
from attention_ui.lessons.real_model.sweeping import each_head_off, patched
from attention_ui.picture.layout import equation
from attention_ui.picture.sentence import sentence

PAGE = "real_model"
values = open_lesson(PAGE, lesson.CONTROLS)
model = lesson.model_of(values)
settings = model.settings
found = going = None

with card("next", "What it says next", words.about_the_model(model)):
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        control(lesson.PROMPT, width=560)
        control(lesson.MODEL, width=230)
    for told in words.not_as_typed(values, model):
        st.text(told)
    way_to_a_model()
    with readable(values.model, "next"):
        model.check_unchanged()
        going = begun(PAGE, lesson.whole(values), lambda: passes(lesson.whole(values)))
        no_numbers = "" if going.found is None else words.of_what_is_no_number(going.found)
        if going.found is None:
            st.progress(going.share, text=f"Your text goes through {settings.n_layers} layers …")
        elif no_numbers:
            st.text(no_numbers)
        elif settings.predicts:
            chart("next_tokens", charts.next_tokens(going.found, None), 480)
        else:
            note(words.says_nothing(model))
        if going.found is not None:
            st.caption(words.of_its_sizes(model))
        found = None if no_numbers else going.found

if found is None:
    st.empty()  # in the place of all that follows, which is of the text before
    if going is not None:
        with readable(values.model, "layers"):
            go_on_with_page(going)
    st.stop()

with st.container(key="looked_into"), readable(values.model, "looked_into"):
    chosen = lesson.head_of(values, found)

    with card(
        "heads",
        "All its heads",
        "Each square is a head on your text: a row for each token that looks, darker where it "
        "looks harder. Point at one to see its arcs; click to keep it.",
    ) as beside:
        with beside:
            control(lesson.MEASURE, width=225)
            control(lesson.ORDER, width=145)
            control(lesson.AT_LEAST, width=120)
        heads_picture(values, found, chosen)
        st.caption(words.strongest(values, found))

    with card("head", "One head", words.of_the_head(values, found, chosen)) as beside:
        with beside:
            control(lesson.LOOKS_FROM, width=170)
            control(lesson.MODEL_HEAD, width=150)
            if len(found.run.ids) > lesson.DRAWN:
                control(lesson.DRAWN_TOKENS, width=230)
        trace = lesson.trace_of(values)
        drawn = lesson.of_head(values, trace, chosen[1])
        looks = lesson.looks_of(values) - drawn.drawn.start
        picture("head", sentence(trace, drawn.weights, looks))

    with card(
        "numbers",
        "Down to its numbers",
        "Each query of this head is compared with each key, and softmax turns a row of scores into "
        "weights. Point at a cell to see what it is made of; click, and go on to the model’s file. "
        + words.of_its_components(values, drawn),
    ):
        picture("numbers", equation(trace, *drawn.compares()))
        st.caption(words.of_step_names(model))

    covered: frozenset[str] = frozenset()
    if settings.predicts:
        with card(
            "layers",
            "Layer by layer",
            "What would the model say if it stopped here? Put its last norm and its table of "
            "tokens to the numbers that stand behind a layer, and they tell: the **logit lens**.",
        ):
            asked = words.first_says(found)
            covered = question("first_says", asked, lesson.lens_trace(found), ("lens",))
            if not covered:
                chart(
                    "layers", charts.after_each_layer(found, lesson.encoded_of(values).pieces), 940
                )

        feed_forward = " and each feed-forward" if settings.d_ffn else ""
        with card(
            "brought",
            "Who brought the answer",
            f"The score of the next token, its **logit**, is a sum: each head{feed_forward} adds a "
            "part, blue where it raises the token, red where it lowers it. Click on a head.",
        ) as beside:
            with beside:
                control(lesson.ASKED, width=140)
                control(lesson.AGAINST, width=140)
            made = found.brought(*lesson.asked_of(values, found))
            told = words.of_what_is_asked(values, found)
            choosing("brought", charts.who_brought(made, settings, chosen, told))
            light(*words.adds_up(found, made))
            st.text(words.of_the_parts(values, found, made))
            st.text(words.of_two_questions(values, found))
            st.text(words.of_its_tokens(values, found, chosen))

        with card(
            "off",
            "Switch it off",
            "A part that brings much may not be needed, and one that brings nothing may be read by "
            "others. Take it away, and see what the model says then: **ablation**.",
        ) as beside:
            with beside:
                control(lesson.MODEL_OFF, width=330)
            to_switch_off(values, found, chosen)
            if values.model_off:
                about = lesson.changed(values)
                off = begun("real_model_off", about, lambda: passes(about))
                if off.found is None:
                    st.progress(off.share, text="Once more, without it …")
                    go_on_with_page(off)
                chart("off", charts.next_tokens(found, off.found), 480)
                st.text(words.of_what_is_off(values, found, off.found))

    if settings.predicts:
        with row("**A story in five steps**: why this token?", "story", ":material/book:") as told:
            if told:
                story(values, found)

    many = "**Over many sentences**: what each head does elsewhere"
    with row(many, "survey", ":material/scatter_plot:") as is_open:
        if is_open:
            surveyed(values, found, chosen)

    with deeper(
        "what the head gathers, every head off in turn, another text put in", "gathers"
    ) as is_open:
        if is_open:
            st.markdown(
                "**What the head gathers.** The weights blend its values into a context vector for "
                "each token. A last matrix turns that into what the head adds to the stream: take "
                "a cell apart to walk there."
            )
            picture("gathers", equation(trace, *drawn.gathers()))
        if is_open and settings.predicts:
            each_head_off(values, found)
            patched(values, found)

    answers(words.answers(values, found), covered)
    ends(trace)
