"""Every page through Streamlit's AppTest: default, extreme and hostile settings."""

import random
import re
from itertools import product
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from attention_core.examples import EXAMPLES
from attention_ui.cards.question import IS_WORDS
from attention_ui.controls.shared import SIZES, heads_recipe_of, inputs_of
from attention_ui.frame.contents import LESSONS
from attention_ui.lessons.multi_head_attention.words import widths_words
from attention_ui.reactive.control import fitted
from chosen import chosen, read
from conftest import ROOT
from hostile import BAD, HARD, MARK, TEXTS
from sampling import few, is_long, pairs
from visiting import (
    A_PAGE,
    EVERYWHERE,
    PAGES,
    boxes,
    charts,
    has_sentence,
    prints_nothing,
    rendered,
    stands,
    texts,
    visit,
    visit_deeper,
    with_rows_open,
)

pytestmark = pytest.mark.slow("1 min: some 120 pages")

REFUSED_TEXTS = {
    "empty": "", "blanks": "   \n ", "controls only": "\x00\x01\u202e",
    "too many tokens": f"{MARK} " * 65, "10,000 characters": MARK * 2_500,
}  # fmt: skip


@pytest.mark.parametrize(("page", "example"), pairs(EVERYWHERE, EXAMPLES, whole=A_PAGE, more=0))
def test_every_page_shows_every_example_and_all_values_that_its_notebook_prints(page, example):
    at = with_rows_open(visit(page, example=example))
    stands(at)
    assert chosen(at).example == example
    assert at.session_state["session"].notices == []
    if page not in PAGES or prints_nothing(at):
        return
    (verdict,) = [each.value for each in at.markdown if "that the notebook prints" in each.value]
    assert verdict.startswith(":green"), verdict
    assert " All " in verdict or "The one value" in verdict


def test_other_numbers_are_not_marked_as_matching_and_what_changed_them_is_named():
    at = with_rows_open(visit(A_PAGE, seed="70", across="2", predict="on"))
    assert "you changed *Seed*" in rendered(at)


@pytest.mark.parametrize("page", few(PAGES, 1, first="pages/tokenize_and_embed.py"))
def test_what_is_hard_together_stands_as_it_is_linked(page):
    known = controls_on(visit(page)).keys()
    for link in (each for each in HARD.values() if each.keys() <= known):
        at = visit(page, **link)
        assert not at.exception, (link, [each.message for each in at.exception])
        assert at.session_state["session"].notices == [], link
        for name, (control, value) in controls_on(at).items():
            assert name not in link or value == control.field.read(link[name]), (link, name)


def controls_on(at):
    controls, values = at.session_state["session"].controls, at.session_state["session"].values
    return {each.name: (each, values[each.name]) for each in controls}


@pytest.mark.parametrize(("bad", "page"), pairs(BAD, EVERYWHERE[:5], whole="nonsense", more=0))
def test_a_bad_link_gives_the_page_and_a_notice_in_plain_text(bad, page):
    link = BAD[bad]
    at = visit(page, **link)
    stands(at)
    if "cell" in link and len(link) == 1:  # a cell is looked for in the page's own trace
        assert "is not in this lesson" in texts(at)
        assert "cell" not in at.query_params, "what could not be used stays in the address"
    elif not link.keys() & controls_on(at).keys():
        kept = {name: at.query_params[name] for name in link if name in at.query_params}
        assert {name: "".join(text) for name, text in kept.items()} == link
    else:
        left_out = read(**link)[1].keys() & controls_on(at).keys() - {"example"}
        assert not left_out & {*at.query_params}, "what could not be used stays in the address"
        assert at.session_state["session"].notices
        for notice in at.session_state["session"].notices:
            assert notice in texts(at)


def test_a_cell_that_no_link_named_is_not_said_to_be_lost():
    lost = "The link’s cell"
    assert lost not in texts(visit("divide_by_sqrt_d", predict="on"))
    assert lost in texts(visit("causal_mask", predict="on", cell="rotated.0.0"))


@pytest.mark.parametrize("page", few(filter(has_sentence, EVERYWHERE), 1, first=A_PAGE))
def test_what_is_typed_is_never_rendered(page):
    at = visit(page, tokenizer="blanks")
    for called, text in TEXTS.items():
        at.text_area(key="control_sentence").set_value(text).run()
        stands(at)
        assert MARK in chosen(at).sentence, called
        assert MARK not in rendered(at), called


@pytest.mark.parametrize(("page", "kind"), few(product(PAGES, TEXTS), 8))
def test_hostile_text_is_not_rendered_in_a_question_either(page, kind):
    """Nor in its answer."""
    at = visit(page, predict="on", sentence=TEXTS[kind], tokenizer="blanks")
    asked = True
    while asked:
        stands(at)
        shown = [line for line in rendered(at).splitlines() if MARK in line]
        # A choice that is plain words, in which no sign can be a mark, may be a button.
        assert [line for line in shown if not IS_WORDS.fullmatch(line)] == []
        asked = [each for each in at.button if (each.key or "").startswith("skip_")]
        for each in asked[:1]:
            each.click().run()


@pytest.mark.parametrize("page", few(filter(has_sentence, EVERYWHERE), 1, first=A_PAGE))
def test_a_text_that_cannot_be_used_stays_typed_and_is_explained(page):
    at = visit(page)
    for called, text in REFUSED_TEXTS.items():
        before = chosen(at)
        at.text_area(key="control_sentence").set_value(text).run()
        stands(at)
        assert at.text_area(key="control_sentence").value == text, called
        assert chosen(at) == before, called
        assert at.session_state["session"].problems["sentence"] in texts(at), called
        at.text_area(key="control_sentence").set_value(f"A cat, {called}").run()
        assert chosen(at).sentence == f"A cat, {called}"
        assert at.session_state["session"].drafts == {}


@pytest.mark.parametrize("page", few(filter(has_sentence, EVERYWHERE), 3))
def test_choosing_an_example_sets_all_controls(page):
    at = visit(page, sentence="A cat", seed="5", d_in="7", tokenizer="text")
    at.selectbox(key="control_example").set_value("life_is_short").run()
    stands(at)
    inputs = EXAMPLES["life_is_short"].inputs
    assert at.text_area(key="control_sentence").value == inputs.sentence
    assert at.text_input(key="control_seed").value == str(inputs.seed)
    assert at.slider(key="control_d_in").value == inputs.d_in
    assert all(each.value == inputs.tokenizer for each in boxes(at, "tokenizer"))
    assert inputs_of(chosen(at)) == inputs


SIZED = [each.name for each in SIZES]


def size_sliders(at: AppTest) -> dict:
    """The sliders of the sizes of heads, by the names of their controls."""
    return {n: s for n in SIZED for s in at.select_slider if re.match(rf"control_{n}_\d", s.key)}


def uses_what_it_shows(at: AppTest):
    """Every slider shows what is computed with or says why not. The controls' values."""
    stands(at)
    now = at.session_state["session"]
    values = now.values
    shown = {name: slider.value for name, slider in size_sliders(at).items()}
    assert shown == {name: values[name] for name in SIZED}
    assert widths_words(heads_recipe_of(values)) in rendered(at)
    assert (now.drafts, now.notices) == ({}, [])
    assert "Not applied" not in rendered(at)
    told = {caption.value for caption in at.caption if " went from " in caption.value}
    # As a link says it: what was chosen, and what was asked for where others took it along.
    assert told == {w for _, w in fitted({**now.chosen, **now.asked}, now.controls).values()}
    return values


@pytest.mark.parametrize("seed", few(range(3), 1))
def test_every_position_of_every_size_of_heads_can_be_used_after_any_moves(seed):
    moves = random.Random(seed)
    at = visit("pages/multi_head_attention.py", cell="none")
    for _ in range(12 if is_long() else 6):
        before, wanted = uses_what_it_shows(at), {*at.session_state["session"].asked}
        name = moves.choice(SIZED)
        slider = size_sliders(at)[name]
        position = moves.choice(slider.options)
        size = 0 if position == "auto" else int(position)
        slider.set_value(size).run()
        after = uses_what_it_shows(at)
        assert after[name] == size
        moved = {other for other in SIZED if before[other] != after[other]}
        assert moved <= {name, *wanted, *at.session_state["session"].asked}


def test_what_a_size_of_heads_took_along_comes_back_with_it():
    at = visit("pages/multi_head_attention.py", cell="none", d_head="32")
    for heads, d_model, d_head in ((3, 6, 32), (8, 8, 12), (5, 5, 19), (2, 4, 32)):
        size_sliders(at)["n_heads"].set_value(heads).run()
        values = uses_what_it_shows(at)
        assert (values.d_model, values.d_head) == (d_model, d_head)
    size_sliders(at)["n_heads"].set_value(8).run()
    assert "d_model went from 4 to 8, so that 8 heads can share it." in rendered(at)
    assert "8 heads of width 32 would be 256 columns, and at most 96 fit." in rendered(at)
    size_sliders(at)["d_model"].set_value(16).run()
    size_sliders(at)["n_heads"].set_value(2).run()
    assert uses_what_it_shows(at).d_model == 16, "the one that was chosen last"


@pytest.mark.parametrize("fixed", ["hide", "lock"])
def test_what_a_link_fixes_is_not_taken_along(fixed):
    link = {fixed: "d_model,d_head_value", "d_model": "6", "d_head_value": "20"}
    at = visit("pages/multi_head_attention.py", cell="none", **link)
    assert size_sliders(at)["n_heads"].options == ["1", "2", "3"]
    size_sliders(at)["n_heads"].set_value(3).run()
    values = chosen(at)
    assert (values.n_heads, values.d_model, values.d_head_value) == (3, 6, 20)
    assert at.session_state["session"].drafts == {}


def test_our_style_is_not_dropped():
    """Streamlit drops a style that has the beginning of a tag in it."""
    for path in ROOT.glob("attention_ui/streamlit_workarounds/*.css"):
        assert "<" not in path.read_text(encoding="utf-8"), path.name


FIXED = {
    "example and text": {"lock": "example,sentence,predict", "hide": "seed", "predict": "off"},
    "values of its own": {"lock": "sentence,n_heads", "hide": "seed", "sentence": "A cat sat",
        "seed": "7"},
    "hidden": {"hide": "example,tokenizer,reserved", "example": "life_is_short"},
    "what few examples can be": {"lock": "edits,d_in", "edits": "8.2:1", "predict": "off"},
}  # fmt: skip


def fixed_values(values):
    names = ("hide", "lock", "predict", *values.hide, *values.lock)
    return {name: values[name] for name in names}


@pytest.mark.parametrize(("page", "fixed"), few(product(EVERYWHERE, FIXED), 8))
def test_every_link_of_every_page_keeps_what_a_teacher_has_fixed(page, fixed):
    at = visit(page, **FIXED[fixed])
    stands(at)
    values = chosen(at)
    links = [element.proto for element in at.get("page_link")]
    assert len(links) > len(LESSONS)
    for each in links:
        there, wrong = read(**dict(parse_qsl(each.query_string, keep_blank_values=True)))
        if not each.disabled:
            assert wrong == {}
            assert fixed_values(there) == fixed_values(values), each.label


def examples_opened(at):
    titles = {each.title for each in EXAMPLES.values()}
    return [each.proto for each in at.get("page_link") if each.proto.label in titles]


def test_a_card_that_cannot_be_opened_says_why():
    """Home's links, one an example."""
    lost = {"lock": "edits,d_in", "edits": "8.2:1"}
    for link, why in (
        ({"lock": "example"}, "keeps to its own"),
        (lost, "does not fit what the link"),
    ):
        at = visit("app.py", **link)
        closed = [each.disabled for each in examples_opened(at)]
        assert 0 < sum(closed) == sum(why in each.value for each in at.caption)
    assert not any(each.disabled for each in examples_opened(visit("app.py")))


def test_a_sentence_of_ones_own_keeps_what_a_teacher_has_fixed():
    at = visit("app.py", lock="seed,example", hide="d_in", seed="7", d_in="5")
    before = fixed_values(chosen(at))
    at.text_input(key="own_sentence").set_value("A cat sat")
    next(each for each in at.button if each.label == "Look").click().run()
    stands(at)
    after = chosen(at)
    assert after.sentence == "A cat sat"
    assert fixed_values(after) == before


def test_no_other_control_changes_what_is_locked():
    at = visit("divide_by_sqrt_d", lock="draw_seed")
    before = chosen(at)
    at.button(key="draw_again").click().run()
    assert chosen(stands(at)) == before
    assert "Not applied: " in texts(at)


def test_a_control_that_a_picture_carries_cannot_be_used_where_a_link_locks_it():
    at = stands(visit("simplified_attention", lock="factor", factor="2"))
    (slider,) = [each for each in at.slider if each.label == "Stretch factor"]
    assert (slider.disabled, slider.value) == (True, 2)
    without, usual = charts(at), charts(visit("simplified_attention"))
    assert not any("Stretch factor" in each.spec for each in without)
    assert any("Stretch factor" in each.spec for each in usual)


def test_back_to_the_example_keeps_what_a_teacher_has_fixed():
    at = visit(
        "pages/simplified_attention.py", lock="sentence", sentence="A cat sat", seed="3", query="1"
    )
    next(each for each in at.button if each.label == "Back to the example").click().run()
    stands(at)
    values = chosen(at)
    assert (values.sentence, values.seed, values.query) == ("A cat sat", 69, 0)
    assert not [each for each in at.button if each.label == "Back to the example"]


@pytest.mark.parametrize(("page", "offers"), [("multi_head_attention", 1), ("cross_attention", 0)])
def test_the_way_back_is_offered_only_where_a_change_acts(page, offers):
    at = stands(visit(page, n_heads="8"))
    assert len([each for each in at.button if each.label == "Back to the example"]) == offers


# --- alone ----------------------------------------------------------------------------------------
CARDS = re.compile(r"\bcard\(\s*\"(\w+)\"")


def cards(lesson):
    """The cards of a page that is a script, as it names them."""
    return CARDS.findall((ROOT / "pages" / f"{lesson}.py").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "lesson", few([each.name for each in LESSONS], 2, first="simplified_attention")
)
def test_every_card_can_stand_alone(lesson):
    there = {each.proto.anchor for each in visit_deeper(lesson).header}
    names = [name for name in cards(lesson) if name in there]
    assert names
    for name in names:
        at = visit(lesson, card=name, cell="none", predict="on")
        assert not at.exception
        assert not at.title
        assert name in {each.proto.anchor for each in at.header}
        assert not [each for each in at.button if (each.key or "").startswith("skip_")]
        assert not [each.label for each in at.expander if each.label.startswith("**")], "rows"


@pytest.mark.parametrize("name", ["no_such_picture", "answers", "zz"])
def test_a_picture_that_there_is_not_is_said(name):
    at = visit("simplified_attention", card=name)
    assert not at.exception
    assert f"no picture called “{name}”" in texts(at)
