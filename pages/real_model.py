"""A real model: from a sentence to the numbers of one head."""

from contextlib import nullcontext

from attention_ui.cards import elements as ui
from attention_ui.cards.page import Page, is_covered
from attention_ui.cards.why_there import NUMBERS_WORDS, adds_up, called
from attention_ui.cards.why_there import told as told_why
from attention_ui.charts.score_parts import FEW
from attention_ui.charts.score_parts import chart as who_wrote
from attention_ui.frame.models import has_changed, readable
from attention_ui.lessons.real_model import (
    charts,
    lesson,
    recorded,
    story,
    surveyed,
    sweeping,
    way_back,
    why,
    without_chance,
    words,
    write_on,
)
from attention_ui.lessons.real_model.first_run import first_run, is_there
from attention_ui.lessons.real_model.getting import get_on, way_to_a_model
from attention_ui.lessons.real_model.heads import choosing, heads_picture, off_below, to_switch_off
from attention_ui.lessons.real_model.lesson import chosen_of, drawn_of_head, predicts, seen
from attention_ui.lessons.real_model.running import at_hand, passes
from attention_ui.picture.sentence import sentence
from attention_ui.reactive import settings
from attention_ui.reactive.long_run import Work, run_so_far

OFF = "real_model_off"
RECORDING = "recording"


def within(where):
    """Around each card: what goes wrong with the model is said there. A recording needs none."""
    return nullcontext() if where == RECORDING else readable(settings.values().model, where)


page = Page("real_model", has_pins=False, within=within)
WAY = page.ask(
    "story_way",
    lambda v: story.which_way(*told.both) if (told := story.told(v)) else None,
    *(["brought"], ["story"]),
    of=story.brought,
)


@page.card(
    RECORDING,
    "Your recording",
    recorded.about_the_recording,
    controls=recorded.shown_controls,
    when=recorded.has_recording,
    pictures=("recorded_scores", "recorded_context"),
)
def of_a_recording(v):
    yield ui.row(*recorded.which_head(v))
    yield from recorded.recorded(v)


@page.card(
    "next",
    "What it says next",
    lambda v: words.about_the_model(lesson.model_of(v)),
    work=first_run,
    opens=is_there,
)
def next_token(v):
    model = lesson.model_of(v)
    yield ui.row(lesson.PROMPT.at(width=560), lesson.MODEL.at(width=230))
    for told in words.not_as_typed(v, model):
        yield ui.text(told)
    yield ui.alive(way_to_a_model, "reads any text here, with any model of yours")
    yield ui.progress(lesson.PASS)
    found = None if has_changed(v.model) else seen(v)
    if found is not None:
        if no_numbers := words.of_what_is_no_number(found):
            yield ui.text(no_numbers)
        elif model.settings.predicts:
            yield ui.chart("next_tokens", charts.next_tokens(found, None), 480)
        else:
            yield ui.note(f"This model says no next token: {model.why_silent}.")
    sizes = [] if found is None else [ui.caption(words.of_its_sizes(model))]
    yield ui.row(*sizes, ui.link_to_the_lessons(v.prompt), gap="small")
    yield ui.alive(get_on)


page.card(
    "write",
    "Write on",
    write_on.WORDS,
    work=write_on.writing,
    when=predicts,
    pictures=("written", "writing"),
)(write_on.write_on)


@page.card(
    "story",
    "Why this token? A story in five steps",
    "Two tokens could come next. Which heads made the difference, and which others do they use?",
    work=story.going_on,
    when=predicts,
    pictures=("story_first", "story_rest"),
)
def in_steps(v):
    yield from story.step_1(v)
    yield WAY
    yield from story.after_the_guess(v)


@page.card(
    "heads",
    "All its heads",
    "Each box is a head on your text: a row for each token that looks. Stronger "
    "colour, more weight. Point at one to see its arcs; click to keep it.",
    controls=[
        lesson.MEASURE.at(width=225),
        lesson.HEADS_ORDER.at(width=145),
        lesson.HEADS_FROM.at(width=120),
    ],
)
def heads(v):
    yield heads_picture(v, seen(v), chosen_of(v))
    yield ui.caption(words.strongest(v, seen(v)))


@page.card(
    "head",
    "One head",
    lambda v: words.of_the_head(v, seen(v), chosen_of(v)),
    controls=[lesson.LOOKS_FROM.at(width=145), lesson.MODEL_HEAD.at(width=185)],
)
def head(v, trace):
    drawn = drawn_of_head(v, trace)
    arcs = sentence(trace, drawn.weights, lesson.query_of(v) - drawn.drawn.start)
    yield ui.picture(arcs, choosing=lesson.word_clicked)


@page.card(
    "why",
    "Why there?",
    "A score is a sum over pairs: what each earlier part wrote at the token that looks, times what "
    "each wrote at the one it looks at. Blue raises this score above the other keys’. A sum is not "
    "a cause: take a part away before you believe it. Click on a head to go there.",
    controls=[lesson.LOOKS_AT.at(width=230)],
    work=why.taking_away,
)
def why_there(v, trace):
    asked = why.why_of(v)
    if isinstance(asked, str):
        yield ui.text(asked)
        return
    yield choosing("why", who_wrote(asked.parts, asked.words), 820)
    own = trace["head_scaled_scores"].value[(asked.parts.head, *asked.at)]
    yield ui.light(*adds_up(asked, float(own), FEW))
    yield ui.text(told_why(asked))
    if names := why.without(asked):
        yield ui.progress(why.AWAY)
        runs = run_so_far(why.AWAY)
        if runs and runs.share >= 1:
            label = f"Switch off {called(names[0])}, below"
            yield ui.text(why.taken_away(v, asked, runs.result))
            yield off_below(v, label, "off_why", names[0])


down = page.fold(
    "down",
    "**Down to its numbers**: queries, keys, scores and weights of this head",
    ":material/calculate:",
    in_place=True,
)


@down.section(
    "numbers",
    "Down to its numbers",
    lambda v, trace: (
        "Each query of this head is compared with each key, and softmax turns a row of scores into "
        "weights. Point at a cell to see what it is made of; click, and go on to the model’s file. "
        + words.of_its_components(v, drawn_of_head(v, trace))
    ),
)
def numbers(v, trace):
    yield ui.matrices(trace, *drawn_of_head(v, trace).compares())


by_layer = page.fold(
    "by_layer",
    "**Layer by layer**: what the model would say if it stopped there",
    ":material/layers:",
    when=predicts,
    in_place=True,
)


@by_layer.section(
    "layers",
    "Layer by layer",
    "What would the model say if it stopped here? Apply its last norm and its table of "
    "tokens to the numbers that a layer leaves, and they tell: the **logit lens**.",
    ask=page.ask("first_says", words.when_first_said, ["lens"], of=lesson.lens_trace),
)
def layers(v):
    if not is_covered("lens"):
        yield ui.chart("layers", charts.after_each_layer(seen(v), lesson.encoded_of(v).pieces), 940)


who = page.fold(
    "who",
    "**Who brought the answer**: each head’s part, and the whole way back to the words",
    ":material/bar_chart:",
    when=predicts,
    in_place=True,
)


@who.section(
    "brought",
    "Who brought the answer",
    lambda v: (
        "The score of the next token, its **logit**, is a sum: each head"
        f"{' and each feed-forward' if lesson.model_of(v).settings.d_ffn else ''} adds a "
        "part, blue where it raises the token, red where it lowers it. Click on a head."
    ),
    controls=[lesson.ASKED_TOKEN.at(width=140), lesson.AGAINST_TOKEN.at(width=140)],
)
def brought(v):
    reading, chosen = seen(v), chosen_of(v)
    made = reading.brought(*lesson.asked_of(v, reading))
    told = words.of_what_is_asked(v, reading)
    yield choosing("brought", charts.who_brought(made, reading.run.model.settings, chosen, told))
    yield ui.light(*words.adds_up(reading, made))
    yield ui.text(words.of_its_tokens(v, reading, chosen))


who.section(
    "way",
    "The whole way back",
    "Read it from the bottom up: who wrote what a later head finds a token by, up to the heads "
    "that brought the answer. The thicker a line, the more it brought; green where it made a head "
    "ask. Under a head stands what it does on your text, where a measure says so. Click on a head.",
    work=way_back.going_back,
)(way_back.whole_way)


def changed(v):
    """What is left of the model, where something is switched off."""
    about = lesson.changed(v)
    cost = "Once more, without it …"
    return Work(OFF, about, lambda: passes(about), cost, begins=True) if v.model_off else None


@page.card(
    "off",
    "Switch it off",
    "A part that brings much may not be needed, and one that brings nothing may be read by "
    "others. Take one away, and see what the model says then: **ablation**.",
    controls=[lesson.MODEL_OFF.at(width=330)],
    work=changed,
    when=predicts,
)
def off(v):
    reading = seen(v)
    yield to_switch_off(v, reading, chosen_of(v))
    if v.model_off:
        yield ui.progress(OFF)
        if without := at_hand(OFF, lesson.changed(v)):
            yield ui.chart("off", charts.next_tokens(reading, without), 480)
            yield ui.text(words.of_what_is_off(v, reading, without))


deeper = page.deeper(
    "heads over many sentences, writing without chance, what a cache saves, why there in numbers, "
    "every head off in turn, another text put in"
)
deeper.section("survey", "Over many sentences", surveyed.about_the_survey, work=surveyed.surveying)(
    surveyed.surveyed
)
deeper.section(
    "certain",
    "Without chance",
    "Why draw at all? Take the likeliest token each time, or look for the likeliest text, with a "
    "**beam** of a few beginnings: either way you get the same text every time, and it tends to go "
    "round in circles.",
    work=without_chance.writing_without_chance,
    when=predicts,
    pictures=("greedy",),
)(without_chance.without_chance)


deeper.section(
    "cache",
    "What a cache saves",
    "A new token looks at the keys and values of all tokens before it, which do not change. Keep "
    "them, and each step computes one token; without them, the whole text again.",
    work=without_chance.writing_both_ways,
    when=predicts,
)(without_chance.what_a_cache_saves)


@deeper.section(
    "gathers",
    "What the head gathers",
    "The weights blend its values into a context vector for each token. A last matrix turns that "
    "into what the head adds to the stream: take a cell apart to follow it there.",
)
def gathers(v, trace):
    yield ui.matrices(trace, *drawn_of_head(v, trace).gathers())


deeper.section("why_numbers", "Why there, in numbers", NUMBERS_WORDS)(why.numbers)
deeper.section(
    "each_head",
    "Every head off, one at a time",
    "What a head brings is not all that it is needed for: others read what it wrote. So each is "
    "taken away once, and the token measured again.",
    work=sweeping.taking_each_off,
    when=predicts,
)(sweeping.each_head_off)
deeper.section(
    "patched",
    "Where does it stand?",
    "Take the stream of another text, at one layer and one token, put it in place of this one’s, "
    "and see what the model says then: where this turns the answer, that place held what decides "
    "(**activation patching**).",
    work=sweeping.patching,
    when=predicts,
)(sweeping.patched)

page.answers(
    why.why_does_it_look_there,
    words.does_each_have_a_name,
    words.when_does_it_know,
    words.is_most_needed,
    write_on.what_temperature_does,
    write_on.how_many_top_p_keeps,
    without_chance.why_did_it_repeat_itself,
)
page.show()
