"""Links and controls: whatever they hold, there are settings, and words for what was refused."""

import pytest
from hypothesis import given

from attention_ui.settings import FIELDS, Settings, changed, from_query, problem_with, to_query
from guesses import links, texts
from hostile import TEXTS, TOO_LONG, VALUES


def usable(settings, notices):
    """The settings make embeddings, a link gives them back, and every notice says something."""
    assert isinstance(settings, Settings)
    assert problem_with(settings) is None
    for notice in notices:
        assert len(notice) > 20
        assert "\x00" not in notice
        assert "\u202e" not in notice
    again, refused = from_query(to_query(settings))
    assert refused == []
    assert again == settings


@given(links())
def test_any_link_makes_settings_that_a_link_gives_back(link):
    usable(*from_query(link))


def value_of(name, text):
    """The value that a field reads, or None where it refuses."""
    try:
        return FIELDS[name].read(text)
    except ValueError:
        return None


@given(links(hostile=False), links(hostile=False))
def test_any_change_of_settings_is_usable_or_refused_in_words(link, more):
    before = from_query(link)[0]
    read = {name: value_of(name, text) for name, text in more.items()}
    after = changed(before, **{name: value for name, value in read.items() if value is not None})
    problem = problem_with(after)
    assert problem is None or len(problem) > 10


@given(texts)
def test_any_text_is_read_or_refused_in_words(text):
    for name, field in FIELDS.items():
        words = "an optional number is left out"
        try:
            value = field.read(text)
        except ValueError as refused:
            words = str(refused)
            value = None
        if value is None:
            assert len(words) > 10, name
        else:
            assert field.read(field.write(value)) == value, name


@pytest.mark.parametrize("name", FIELDS)
def test_every_parameter_with_every_hostile_value(name):
    for value in (*VALUES, *TEXTS.values(), TOO_LONG):
        usable(*from_query({name: value}))


@pytest.mark.long
@pytest.mark.parametrize("name", FIELDS)
def test_every_parameter_with_every_hostile_value_beside_another_example(name):
    for example in ("journey_123", "sorry_dave", "life_is_short"):
        for value in (*VALUES, *TEXTS.values(), TOO_LONG):
            usable(*from_query({"example": example, name: value}))
