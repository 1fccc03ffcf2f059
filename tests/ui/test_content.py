"""Two pictures have one digest only where they have one table."""

from dataclasses import replace

import pytest

from attention_core.kept import kept_by_key
from attention_ui.lessons.multi_head_attention.lesson import trace_of
from attention_ui.picture.content import content
from attention_ui.picture.layout import equation
from attention_ui.picture.matrix import Matrix
from chosen import of


def layout(change=lambda matrix: matrix, **settings):
    trace = trace_of(of(example="wild_cat", **settings))
    weights = Matrix(trace["head_weights"], lead=(0,))
    context = Matrix(trace["head_context_vectors"], lead=(0,))
    return equation(trace, weights, "=", change(context))


def test_the_same_settings_have_one_digest_whoever_asks():
    assert content(layout(), None, 0) == content(layout(), None, 0)


@pytest.mark.parametrize(
    "other",
    [
        {"seed": "4"},
        {"d_in": "5"},
        {"n_heads": "3", "d_model": "6"},
        {"sentence": "The mouse was chased by the cat"},
        {"change": lambda matrix: replace(matrix, covered=True)},
        {"change": lambda matrix: replace(matrix, title="another title")},
        {"change": lambda matrix: replace(matrix, rows=(0, 2))},
        {"change": lambda matrix: replace(matrix, lead=(1,))},
        {"change": lambda matrix: replace(matrix, strengths=matrix.drawn * 0)},
    ],
    ids=lambda other: str({name: "…" if callable(each) else each for name, each in other.items()}),
)
def test_what_changes_a_table_changes_the_digest(other):
    assert content(layout()) != content(layout(**other))


def test_what_is_chosen_in_a_picture_is_part_of_it():
    drawn = layout()
    told = [content(drawn, *chosen) for chosen in ((), (None, 0), (None, 1), ({"0.0": {}}, 0))]
    assert len({*told}) == len(told)


def test_a_result_is_made_once_for_a_key_and_forgets_what_it_was_made_from():
    made = []

    @kept_by_key(2)
    def doubled(number):
        made.append(number)
        return 2 * number

    assert [doubled(key, key) for key in (1, 2, 1, 3, 2)] == [2, 4, 2, 6, 4]
    assert made == [1, 2, 3, 2], "two are kept: the third drove out 2"
