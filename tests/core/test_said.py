"""What was said and written of a few things: numbers and words that nothing else asks for by name.

Where another one is meant, `python tests/said.py` writes the files anew: look at what differs.
"""

import tomllib

import pytest

from compared import PAIRS, RECORDED, said_of_pair, said_of_recording
from pieces import apart
from said import OF_CODE, OF_MISTAKES, OF_PAIRS, PIECES, SHEET, said_of, said_of_mistake, sheet

CODE, LAYERS, TWO = (
    tomllib.loads(each.read_text(encoding="utf-8")) for each in (OF_CODE, OF_MISTAKES, OF_PAIRS)
)


def near(line):
    """The words of a line, and numbers to compare with: machines round otherwise."""
    words, numbers = apart(line)
    return words, [pytest.approx(each, rel=0.02, abs=1e-4) for each in numbers]


def check(found, known):
    signs, said = found
    assert signs == known["lights"]
    told = [*map(apart, said)]
    for line in known["says"]:
        assert near(line) in told, line


@pytest.mark.parametrize("name", CODE)
def test_code_is_told_what_it_was_told(name):
    check(said_of(*PIECES[name]), CODE[name])


@pytest.mark.parametrize("name", LAYERS)
def test_the_lights_of_a_mistake_say_what_they_said(name):
    check(said_of_mistake(name), LAYERS[name])


@pytest.mark.parametrize("name", PAIRS)
def test_two_computations_are_told_as_they_were(name):
    found, known = said_of_pair(name), TWO[name]
    assert [*map(apart, found)] == [*map(near, known)]


@pytest.mark.parametrize("name", RECORDED)
def test_a_recording_is_called_what_it_was(name):
    assert said_of_recording(name) == TWO[name]


def test_a_sheet_has_the_cells_that_it_had():
    known = SHEET.read_text(encoding="utf-8").splitlines()
    for line, was in zip(sheet(), known, strict=True):
        (words, numbers), (own, kept) = apart(line), near(was)
        assert (words, numbers) == (own, kept), was
