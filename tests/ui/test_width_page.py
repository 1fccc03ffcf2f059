"""The lesson on √d as a page: its one width, its seed, its sidebar, what its question covers."""

import pytest

from visiting import charts, stands, values_of, visit, visit_deeper, words

pytestmark = pytest.mark.slow("5 s: whole pages")
PAGE = "divide_by_sqrt_d"


def test_the_width_is_one_in_both_of_its_places():
    at = visit(PAGE)
    at.select_slider(key="control_vector_width_here").set_value(64).run()
    stands(at)
    assert values_of(at).vector_width == 64
    assert "At d = 64 the top key takes" in words(at)
    assert "Theory says 64" in words(at)


def test_draw_again_takes_the_next_seed_and_other_numbers():
    at = visit(PAGE)
    before = words(at)
    at.button(key="draw_again").click().run()
    assert values_of(at).draw_seed == 1
    assert words(at) != before


@pytest.mark.parametrize("look", ["histogram", "width"])
def test_every_look_draws_and_an_open_question_covers_it(look):
    plain, asked = visit(PAGE, variance_view=look), visit(PAGE, variance_view=look, predict="on")
    assert len(charts(stands(plain))) > len(charts(stands(asked))) == 3
    assert "The pictures wait for your guess" in words(asked)


def test_the_formulas_wait_for_the_question_they_would_answer():
    asked, plain = visit_deeper(PAGE, predict="on"), visit_deeper(PAGE)
    assert "Var" not in "".join(each.value for each in asked.latex)
    assert "Var" in "".join(each.value for each in plain.latex)
