"""What a class has answered: understood as the question does, drawn, and kept as tables."""

import csv
import io
import re
import zipfile
from collections import Counter
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_ui.cards import class_bars, class_files
from attention_ui.cards.common_questions import one_of
from attention_ui.cards.questions import MOST_SIDE, NONE, Pick, Shape, Verdict
from attention_ui.cards.review import declared
from attention_ui.cards.row_question import Row, as_shares
from attention_ui.charts.votes import rows_over
from attention_ui.classroom.classroom import MOST_NUMBERS, Asked, Classroom, First
from attention_ui.frame.contents import LESSONS
from attention_ui.reactive.source import tracking
from attention_ui.site.reader import Reader
from sampling import marked
from serving import ROOT

ONE = one_of("Which?", ["=1+1", "<b>b</b>", "c"], 1, "It is b.")
SOME = Pick(
    words="Which of them?",
    choices=["a", "b", "c"],
    judge=lambda guess: Verdict(guess == [0, 2], "a and c"),
    truth=lambda: "a and c",
    many=True,
)
SHAPE = Shape(words="Which shape?", truth=(("query", 11), ("d_out", 4)))
ROW = Row(
    words="Share out *the row*.", keys=[0, 2, 5], tokens=["a", "b", "c"], weights=[0.2, 0.7, 0.1]
)
NUMBERS = st.one_of(
    st.integers(-3, 12), st.floats(-2, 2), st.just(float("nan")), st.just(10**400),
    st.just("a" * 1_000_000), st.none(), st.lists(st.integers(), max_size=2),
)  # fmt: skip


@given(st.lists(NUMBERS, max_size=MOST_NUMBERS), st.sampled_from([ONE, SOME, SHAPE, ROW]))
def test_whatever_comes_is_no_answer_or_one_that_is_judged_and_said(numbers, asked):
    try:
        guess = asked.understood(numbers)
    except TypeError:
        assert not all(isinstance(each, int | float) for each in numbers)
        return
    if guess is not None:
        assert isinstance(asked.judged(guess), Verdict)
        assert asked.in_words(guess)
        assert asked.understood(tuple(guess)) == guess


def test_what_can_be_answered_is_understood_as_it_was_meant():
    assert ONE.understood((2,)) == [2]
    assert [ONE.understood(each) for each in ((), (3,), (-1,), (0, 1), (0.5,))] == [None] * 5
    assert SOME.understood((2, 0)) == [0, 2]
    assert SOME.understood(()) == []
    assert SOME.understood((0, 0)) is None
    assert SOME.in_words([]) == NONE
    assert SHAPE.understood((11, 4)) == (11, 4)
    assert [SHAPE.understood(each) for each in ((11,), (0, 4), (MOST_SIDE + 1, 4))] == [None] * 3
    assert ROW.understood((0.2, 0.7, 0.1)) == (0.2, 0.7, 0.1)
    assert [ROW.understood(each) for each in ((1.0,), (0.5, 0.5, 0.5), (-1, 1, 1))] == [None] * 3
    thirds = tuple(round(each, 4) for each in as_shares([1, 1, 1]))
    assert ROW.understood(thirds) == thirds, "rounded as a vote is"
    assert ROW.in_words((0.2, 0.7, 0.1)) == "most on 2: b"
    assert ROW.in_words(thirds) == "all alike"


# --- bars ----------------------------------------------------------------------------------------
def bars(asked, *turns, is_open=False):
    tallies = [tuple(Counter(turn).items()) for turn in turns]
    return class_bars.drawn(asked, tallies, is_open)


def counts(chart):
    rows = chart.frame.to_pylist()
    return {(each["name"], each["kind"]): int(each["text"]) for each in rows}


def test_bars_are_of_all_choices_and_mark_none_before_the_numbers_are_open():
    first, second = [(0,), (0,), (1,)], [(1,), (1,), (1,)]
    made = bars(ONE, first, second)
    assert counts(made) == {
        **{("=1+1", "before"): 2, ("<b>b</b>", "before"): 1, ("c", "before"): 0},
        **{("=1+1", "now"): 0, ("<b>b</b>", "now"): 3, ("c", "now"): 0},
    }
    assert "✓" not in str(counts(made)) + made.alt
    assert "right" not in made.alt
    opened = bars(ONE, second, is_open=True)
    assert {name for name, _ in counts(opened) if name.startswith("✓")} == {"✓ <b>b</b>"}
    assert "<b>b</b>: 3, which is right" in opened.alt


def test_of_several_that_are_picked_each_is_counted_and_none_of_them_too():
    made = bars(SOME, [(0, 2), (0,), ()])
    assert counts(made) == {("a", "now"): 2, ("b", "now"): 0, ("c", "now"): 1, (NONE, "now"): 1}


def test_of_a_shape_what_was_written_is_shown_most_often_first():
    made = bars(SHAPE, [(4, 11), (11, 4), (11, 4)], is_open=True)
    assert [*counts(made)] == [("✓ 11 × 4", "now"), ("4 × 11", "now")]


def test_rows_lie_over_one_another_and_the_truth_comes_with_the_numbers():
    each = [(0.5, 0.5, 0.0), (0.2, 0.7, 0.1)]
    assert [len(bars(ROW, each, is_open=so).frame) for so in (False, True)] == [6, 9]
    covered, opened = bars(ROW, each), bars(ROW, each, is_open=True)
    assert covered.frame["share"].to_pylist() == pytest.approx([0.5, 0.5, 0.0, 0.2, 0.7, 0.1])
    assert "The weights are" not in covered.alt
    assert "The weights are 0: a 0.20, 2: b 0.70, 5: c 0.10" in opened.alt
    assert "on average 0: a 0.35" in opened.alt
    assert not rows_over(["a"], [], None).frame
    again = bars(ROW, each, [(0.3, 0.7, 0.0)])
    assert Counter(again.frame["kind"].to_pylist()) == {"before": 6, "now": 3}
    assert "; in the vote before, 0: a 0.35" in again.alt


def test_a_bar_is_as_long_as_the_share_of_people_who_chose_it():
    """Of several that are picked the marks are more than the people."""
    made = bars(SOME, [(0, 2), (0,), ()], [(0, 1, 2)])
    shares = {(row["name"], row["kind"]): row["share"] for row in made.frame.to_pylist()}
    assert shares["a", "before"] == pytest.approx(2 / 3)
    assert shares["c", "before"] == pytest.approx(1 / 3)
    assert shares["a", "now"] == shares["b", "now"] == 1


def test_the_wall_says_how_many_were_right_at_each_vote():
    tallies = [tuple(Counter(turn).items()) for turn in ([(0,), (1,), (1,)], [(1,), (1,)])]
    assert class_bars.how_many_right(ONE, tallies) == "Right: **2** of 3, then **2** of 2."


@pytest.mark.parametrize(
    "lesson",
    marked(
        [each.name for each in LESSONS],
        ("causal_mask", "diagnosis"),
        pytest.mark.slow("6 s in all: the other lessons"),
    ),
)
def test_a_question_is_judged_wherever_its_class_is(lesson):
    """A learner may be on a page that has none of the controls that it is about."""
    page, elsewhere = (
        Reader(declared(ROOT / "pages" / f"{name}.py"), {}, most_seconds=0.0)
        for name in (lesson, "divide_by_sqrt_d")
    )
    with page.here():
        page.goes_to(page.base, {each.name for each in page.page.asks})
        found = [made for each in page.page.asks if (made := each.made()[0]) is not None]
    with elsewhere.here(), tracking():
        elsewhere.goes_to(elsewhere.base)
        for asked in found:
            assert not re.search(r"\b(above|below)\b(?! 0)", asked.words), "it is asked anywhere"
            assert asked.answer()
            for numbers in ((0,), (1,), *([[1] * len(asked.truth)] if asked.only_shapes else [])):
                if (guess := asked.understood(numbers)) is not None:
                    assert asked.judged(guess).words


def test_a_person_s_text_is_in_the_rows_of_a_chart_and_not_in_its_specification():
    long = "x" * 500
    made = bars(one_of("?", [long, "b"], 0, "."), [(0,)])
    assert "xxx" not in str(made.spec)
    assert max(len(name) for name, _ in counts(made)) <= 60


# --- files ---------------------------------------------------------------------------------------
LINK = {"sentence": "a & b", "window": "3"}


@pytest.fixture
def room():
    made = Classroom("BCDFGHJK")
    people = [made.joins() for _ in range(3)]
    for number, (asked, first, second) in enumerate((
        (ONE, [(0,), (0,), (1,)], [(1,), (1,), (1,)]),
        (ROW, [(0.2, 0.7, 0.1), (0.5, 0.5, 0.0)], []),
    )):  # fmt: skip
        now = made.now()
        one = Asked(f"a.{number}", asked, 7, "causal_mask", LINK, "weights", "Weights")
        assert made.asks(one, now.version)
        for turn, guesses in enumerate((first, second)):
            for person, guess in zip(people, guesses, strict=False):
                assert made.votes(person, made.now().turn, guess)
            (made.asks_again if turn == 0 and second else made.uncovers)(made.now().version)
        made.goes_on(made.now().version)
    for person in people:
        made.answers(person, "causal_mask.row", First(7, False, "=1+1", "It is b."))
    made.people = people
    return made


def test_the_table_of_votes_has_each_answer_once_a_turn(room):
    table = class_files.votes(room)
    ours = table[table["Question"] == ONE.words]
    assert ours[["Vote", "Answer", "How many", "Right"]].values.tolist() == [
        [1, "=1+1", 2, "no"],
        [1, "<b>b</b>", 1, "yes"],
        [2, "<b>b</b>", 3, "yes"],
    ]
    rows = table[table["Question"] == "Share out the row."]
    assert all(re.fullmatch(r"20\d\d-\d\d-\d\d \d\d:\d\d UTC", each) for each in table["Asked at"])
    assert {*table["Settings"]} == {"sentence=a+%26+b&window=3"}
    assert {*rows["Right"]} == {"1 of 2"}
    assert rows[["Answer", "How many", "Share"]].values.tolist() == [
        ["0: a", 2, 0.35],
        ["2: b", 2, 0.6],
        ["5: c", 2, 0.05],
    ]


def test_no_cell_of_a_file_is_a_formula_and_no_word_of_the_page_is_html(room):
    told = class_files.as_csv(room).decode("utf-8-sig")
    lines = [*csv.reader(io.StringIO(told))]
    assert lines[0] == [*class_files.VOTES]
    assert not any(cell.startswith(("=", "+", "@")) for line in lines for cell in line)
    with zipfile.ZipFile(io.BytesIO(class_files.as_xlsx(room))) as book:
        for name in book.namelist():
            if "worksheets/" in name:
                assert b"<f>" not in book.read(name)
    page = class_files.as_page(room).decode()
    assert "<b>b</b>" not in page
    assert "&lt;b&gt;b&lt;/b&gt; ✓" in page
    assert "Share out the row." in page
    for person in room.people:
        assert person not in told + page


def test_a_class_that_was_asked_nothing_has_files_that_say_so():
    empty = Classroom("BCDFGHJK")
    assert class_files.as_csv(empty).decode("utf-8-sig").count("\n") == 1
    assert "was not asked a question" in class_files.as_page(empty).decode()
    assert str(date.today().year) in class_files.as_page(empty).decode()
    assert class_files.as_xlsx(empty)
