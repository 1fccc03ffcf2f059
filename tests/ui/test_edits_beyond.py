"""Numbers typed into a matrix by a link, a pin, or before another sentence: beyond it, all are
left out in words, on every lesson and for every control that holds them.
"""

from urllib.parse import urlencode

import pytest

from attention_ui.controls.fields import Edits
from attention_ui.reactive.control import understood
from attention_ui.reactive.settings import refused
from sampling import each_once, few
from visiting import LESSONS, lesson_module, stands, texts, values_of, visit

HOLDS = [
    (lesson, each.name)
    for lesson in LESSONS
    for each in lesson_module(lesson).CONTROLS
    if isinstance(each.field, Edits)
]
BEYOND = {
    "a row": "{rows}.0:1",
    "a column": "0.{columns}:1",
    "a row far off": "99999.0:1",
    "a column far off": "0.999:1",
    "one of several": "0.0:1,{rows}.1:0.001",
    "below 0": "-1.0:1",
    "longer than a number": "9999999999.0:1",
    "without a number": "0.0:nan",
}
"""What is typed where there is no cell, by the size of the matrix."""
TABLES = [
    {"sentence": "a b", "vocabulary": kind, "tokenizer": tokenizer, "reserved": reserved}
    for kind, tokenizer, reserved in (
        ("distinct", "text", "0"),
        ("distinct", "blanks", "8"),
        ("duplicates", "text", "8"),
        ("random", "blanks", "2"),
        ("trained", "text", "2"),
    )
] + [{"sentence": "a b a b"}, {"example": "tiny_language"}, {"puzzle": "what_followed"}, {}]
"""What makes a table of another size."""
ROUNDS = [{"level": "none", "round_seed": str(seed)} for seed in range(3)]
MISTAKES = [{"mistake": name} for name in ("dictionary_with_gaps", "random_tokenizer")]
"""What takes ids of its own for its table."""


def own(link, controls):
    """What of a link these controls can use, as they stand beside each other."""
    names = {each.name for each in controls}
    link = {name: text for name, text in link.items() if name in names}
    _, wrong = understood({"example": "wild_cat", **link}, controls)
    return {"example": "wild_cat", **{n: text for n, text in link.items() if n not in wrong}}


def links(lesson):
    """The links of a lesson that make tables of different sizes, each once."""
    controls = lesson_module(lesson).CONTROLS
    beside = [*ROUNDS, *MISTAKES, *({"example": e} for e in ("sorry_dave", "life_is_short")), {}]
    found = [own(one | other, controls) for one in TABLES for other in beside]
    return [dict(each) for each in dict.fromkeys(tuple(each.items()) for each in found)]


def size_of(control, link, controls):
    """The rows and columns that a control takes numbers for, found by asking it."""

    def takes(row, column):
        _, wrong = understood({**link, control.name: f"{row}.{column}:0.001"}, controls)
        return control.name not in wrong

    def first_not(is_taken, most):
        low, high = 0, most
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if is_taken(middle) else (low, middle)
        return low

    rows = first_not(lambda row: takes(row, 0), 99_999)
    return rows, first_not(lambda column: takes(0, column), 999)


@pytest.mark.parametrize(
    ("lesson", "name"), each_once(HOLDS, "half a second each", parts=lambda each: each[:1])
)
def test_numbers_beyond_a_matrix_are_left_out_in_words_and_its_last_cell_is_taken(lesson, name):
    module = lesson_module(lesson)
    (control,) = [each for each in module.CONTROLS if each.name == name]
    n_taken = 0
    for link in links(lesson):
        rows, columns = size_of(control, link, module.CONTROLS)
        for what, text in BEYOND.items():
            told = text.format(rows=rows, columns=columns)
            values, wrong = understood({**link, name: told}, module.CONTROLS)
            assert [*wrong] == [name], (link, what)
            assert values[name] == (), (link, what)
            assert len(refused(name, told, wrong[name])) < 400
        if rows:
            n_taken += 1
            last = f"{rows - 1}.{columns - 1}:0.001"
            values, wrong = understood({**link, name: last}, module.CONTROLS)
            assert not wrong
            made = module.trace_of(values)
            if control.changes in made:
                assert made[control.changes].value.shape == (rows, columns)
            for step in made.values():
                assert step.value is not None
    assert n_taken > 2


PLACES = {
    "link": lambda lesson, name, link: visit(lesson, **link, **{name: "7.1:0.001"}),
    "pin": lambda lesson, name, link: visit(lesson, pin=urlencode({**link, name: "99999.1:1"})),
}


@pytest.mark.slow("2 min: whole pages")
@pytest.mark.parametrize(("lesson", "name", "how"), few(
    [(*each, how) for each in HOLDS for how in ("link", "pin", "sentence")], 9))  # fmt: skip
def test_a_page_stands_with_numbers_beyond_its_matrices(lesson, name, how):
    controls = lesson_module(lesson).CONTROLS
    link = own({"sentence": "a b", "vocabulary": "random", "d_in": "2"}, controls)
    beyond = {name: "99.999:1"}
    if how == "sentence":
        before = own({**link, name: "1.1:0.001", "sentence": "a b a b"}, controls)
        at = stands(visit(lesson, **before))
        fields = [each for each in at.text_area if each.key == "control_sentence"]
        if fields:
            fields[0].set_value("a").run()
    elif how == "pin":
        at = visit(lesson, **link, pin=urlencode({**link, **beyond}))
    else:
        at = visit(lesson, **link, **beyond)
    stands(at)
    if how != "sentence":
        assert values_of(at)[name] == ()
        assert name in texts(at), "left out without a word"


@pytest.mark.parametrize(("lesson", "link"), [
    ("diagnosis", {"sentence": "a b", "vocabulary": "random", "edits": "7.1:0.001"}),
    ("mistakes_lab", {"pin": "edits=2.1:1&vocabulary=duplicates&sentence=a b a b"}),
])  # fmt: skip
def test_the_lab_has_another_table_where_the_ids_are_a_mistake(lesson, link):
    at = stands(visit(lesson, **link))
    assert "edits" in texts(at)
    assert "another table" in texts(at)
