"""What a first visit shows: a question covers what would answer it, and nothing else is missing."""

import re
from collections import Counter
from itertools import product

import pytest

from attention_core.compare import changes, difference
from attention_core.examples import EXAMPLES
from attention_core.published import notebook
from attention_ui.charts.fit import size_for
from attention_ui.charts.heatmap import heatmap
from attention_ui.charts.matrix import Matrix
from attention_ui.lessons.simplified_attention.one_query import asked_query
from attention_ui.page.since_the_pin import drawable, side_by_side
from attention_ui.settings.link import FIRST, from_query
from sampling import few
from visiting import A_PAGE, COVERED, PAGES, charts, drawn, stands, visit

pytestmark = pytest.mark.slow("2 min: every page with every example, each question by itself")


LIGHT = ":(green|orange)\\[:material/(check_circle|error):\\]"


def headings(at):
    return [each.value for each in at.header] + [each.value for each in at.subheader]


def pictures(at):
    return Counter(each.alt for each in drawn(at))


def lesson_of(at):
    return at.session_state["shown"].page


def parts_of(at):
    """The parts of a page without its questions; unnamed ones without their number."""
    names = lesson_of(at).parts
    return [re.sub(r"_\d+$", "", name) for name in names if not name.startswith("predict_")]


def cards(at):
    """The matrices of which not even the shape is shown."""
    unknown = "Heatmap of (.+): its shape is asked for." + COVERED
    found = (re.fullmatch(unknown, each.alt) for each in drawn(at))
    return [match[1] for match in found if match]


def buttons(at, kind):
    return [button for button in at.button if (button.key or "").startswith(kind)]


def checks(at):
    """What is said with a green or an orange sign, but for the verdicts of questions."""
    return [each.value for each in at.markdown if re.match(LIGHT, each.value)]


def in_order(block):
    """All elements of a page from top to bottom."""
    for child in getattr(block, "children", {}).values():
        yield from in_order(child)
    if not getattr(block, "children", None):
        yield block


def proven_above_its_numbers(at):
    """The checks that stand below a covered picture of the same section, and the lines on printed
    numbers that name a step which is covered.
    """
    covered = set()
    is_covered = False
    for each in in_order(at.main):
        match each.type:
            case "header":
                is_covered = False
            case "vega_lite_chart":
                is_covered = COVERED in each.proto.alt
                unknown = r"Heatmap of (\w+)[^:,]*[:,](?:(?!Heatmap of).)*?" + re.escape(COVERED)
                covered = {*re.findall(unknown, each.proto.alt)}
            case "markdown" if is_covered and re.match(LIGHT, each.value):
                yield each.value
            case "caption" if covered & {*re.findall(r"`(\w+)`", each.value)}:
                yield each.value


def uncovered(at):
    """The page once every question has been skipped."""
    while skips := buttons(at, "skip_"):
        skips[0].click()
        at.run()
    return at


@pytest.mark.parametrize(("page", "example"), few(product(PAGES, EXAMPLES), 12))
def test_a_question_covers_what_would_answer_it_and_nothing_else(page, example):
    asked, plain = (visit(page, example=example, predict=it) for it in ("on", "off"))
    stands(asked)
    assert headings(asked) == headings(plain)
    assert parts_of(asked) == parts_of(plain)
    assert not [*proven_above_its_numbers(asked)]
    missing = pictures(plain) - pictures(asked)
    frames = [alt for alt in pictures(asked).elements() if alt.endswith(COVERED)]
    missing -= Counter(alt.removesuffix(COVERED) for alt in frames)
    for name in cards(asked):
        missing[
            next(alt for alt in +missing if re.match(re.escape(f"Heatmap of {name}") + "[:,]", alt))
        ] -= 1
    # What is missing now stands in parts that say so, each with a way to uncover it.
    whole = Counter()
    for button in buttons(asked, "uncover_"):
        one = visit(page, example=example, predict="on")
        next(each for each in one.button if each.key == button.key).click()
        whole |= pictures(one.run()) - pictures(asked)
    assert not +missing - whole, "pictures are missing that no question covers"
    assert not buttons(uncovered(asked), "uncover_")
    assert pictures(asked) == pictures(plain)
    assert checks(asked) == checks(plain)


def test_no_check_of_the_chosen_query_stands_below_its_covered_walk():
    page = "simplified_attention"
    asked = asked_query(visit(page).session_state["shown"].page.view.trace["weights"].value)
    at = visit(page, predict="on", query=str(asked))
    assert not [*proven_above_its_numbers(at)]
    assert checks(uncovered(at)) == checks(visit(page, query=str(asked)))


COMPARED = {"ways": "three names of what a question asks for"}
"""Equations whose matrices are all covered, and why."""


@pytest.mark.parametrize("page", few(PAGES, 4, first=A_PAGE))
def test_what_a_covered_picture_is_made_of_is_drawn(page):
    """A question without its operands could not be answered, and its section would be empty."""
    for chart in charts(visit(page, predict="on", example=FIRST)):
        beat = chart.id.rpartition(".")[2].partition("-")[0]
        matrices = re.split(r" (?=Heatmap of )", chart.alt)
        n_covered = sum(each.endswith(COVERED) for each in matrices)
        assert n_covered < len(matrices) or not n_covered or beat in COMPARED, chart.alt


@pytest.mark.parametrize("example", EXAMPLES)
def test_points_are_covered_where_they_tell_which_vectors_are_identical(example):
    at = visit("tokenize_and_embed", predict="on", example=example)
    view = lesson_of(at).view
    vectors = view.trace["embeddings"].value
    points = vectors[:, [view.settings.across, view.settings.up]]
    same, drawn_same = (each[:, None].eq(each).all(dim=-1) for each in (vectors, points))
    is_covered = "uncover_picture" in [each.key for each in at.button]
    assert is_covered == same.equal(drawn_same)
    assert not is_covered or example != FIRST


@pytest.fixture(scope="module", params=PAGES)
def asking(request):
    """A page whose questions are open, for tests that only look at it."""
    return visit(request.param, predict="on")


def test_every_lesson_asks(asking):
    assert buttons(asking, "skip_")


def test_the_numbers_of_a_covered_picture_do_not_reach_the_browser(asking):
    for each in drawn(asking):
        table = each.table
        if each.is_covered:
            for name in ("value", "arithmetic", "row_sum"):
                assert name not in table.column_names or table[name].null_count == len(table)
            assert set(table["text"].to_pylist()) == {"?"}
        elif table is not None and "value" in table.column_names and "row" in table.column_names:
            assert table["value"].null_count == 0


def test_no_arithmetic_of_covered_numbers_reaches_the_browser(asking):
    """What a matrix tells under the pointer is made of the numbers of others."""
    view = lesson_of(asking).view
    for each in drawn(asking):
        name = re.match(r"(?:Heatmap of ([^:,]+))?", each.alt)[1]
        if name in view.trace and view.covers_of(view.revealed_by(name)):
            told = each.table.column_names
            assert "arithmetic" not in told or not any(each.table["arithmetic"].to_pylist()), name


def test_printed_variances_that_answer_the_question_are_covered_with_it():
    printed = [
        str(notebook("journey_123").results[f"var_{when}_{d}"].values)
        for when in ("before", "after")
        for d in (5, 100)
    ]
    at = visit("pages/divide_by_sqrt_d.py", predict="on")
    sent = "".join(chart.spec for chart in charts(at)) + "".join(m.value for m in at.markdown)
    assert not [value for value in printed if value[:6] in sent]
    assert "Var" not in "".join(each.value for each in at.latex)


def test_a_cell_whose_arithmetic_answers_a_question_is_not_opened_by_the_page_itself(asking):
    view = lesson_of(asking).view
    if "open_in" in asking.session_state:
        assert not view.covers_of(view.revealed_by(view.trail[-1][0]))
    else:
        assert not view.trail or view.covers_of(view.revealed_by(view.trail[-1][0]))


def test_a_link_to_a_covered_cell_opens_its_picture():
    at = visit("pages/simplified_attention.py", predict="on", cell="weights.2.1", beat="weights")
    assert "Heatmap of weights: rows are query, columns are key." in pictures(at)
    covered = visit("pages/simplified_attention.py", predict="on")
    assert "Heatmap of weights: rows are query, columns are key." not in pictures(covered)


# --- pins ----------------------------------------------------------------------------------------

CHANGES = (
    "sentence=a+b+c+d",
    "example=wild_cat&seed=5",
    "d_in=5",
    "n_heads=4&d_model=4",
    "example=life_is_short",
    "example=journey_789",
)


@pytest.mark.parametrize("page", few(PAGES, 3, first=A_PAGE))
def test_after_a_pin_every_step_that_can_be_compared_is_drawn(page):
    """For a change of text, seed, width, heads and example."""
    view = lesson_of(visit(page)).view
    if view.build is None:  # a lesson on random trials alone, of which a pin holds nothing
        assert "token_ids" not in view.trace
        return
    for change in CHANGES:
        settings, notices = from_query(dict(pair.split("=") for pair in change.split("&")))
        assert not notices
        before = view.build(settings)
        found = changes(before, view.trace)
        for name in drawable(found, view.trace):
            trace = difference(before[name], view.trace[name], view.trace)
            matrices = [part for part in side_by_side(trace) if isinstance(part, Matrix)]
            size = size_for(trace, matrices)
            for matrix in matrices:
                assert heatmap(trace, matrix, size).frame.num_rows == trace["now"].value.numel()


PINS = ["example=wild_cat&sentence=a+b+c+d", "example=wild_cat&seed=5"]


@pytest.mark.parametrize(("page", "pin"), few(product(PAGES, PINS), 7))
def test_a_pin_s_comparison_unfolds(page, pin):
    at = visit(page, pin=pin)
    if lesson_of(at).view.build is None:
        assert not [each for each in at.markdown if "Since the pin" in each.value]
        return
    at.session_state["fold_pinned"] = True
    at.run()
    stands(at)
    assert "sentence" in pin or [box for box in at.selectbox if box.label == "Step"]


@pytest.mark.parametrize("page", few(PAGES, 3, first=A_PAGE))
def test_a_pin_names_steps_of_its_page_only(page):
    """A step that no lesson's result is made of, and no picture shows, is not of the page."""
    at = visit(page, pin="seed=7")
    words = " ".join(each.value for each in at.markdown)
    drawn = any("embeddings_by_product" in chart.alt for chart in charts(at))
    assert drawn or "embeddings_by_product" not in words
