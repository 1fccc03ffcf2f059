"""Links and controls: whatever they hold, there are settings, and words for what was refused."""

from urllib.parse import urlencode

import pytest
from attention_ui.settings.fit import changed
from attention_ui.settings.link import MAX_LINK, from_query, problem_with, to_pin, to_query
from attention_ui.settings.settings import FIELDS, Settings
from hypothesis import given
from hypothesis import strategies as st

from guesses import links, texts
from hostile import TEXTS, TOO_LONG, VALUES
from sampling import of_each_kind


def usable(settings, notices):
    """The settings make embeddings, a link gives them back, and every notice says something."""
    assert isinstance(settings, Settings)
    assert problem_with(settings) is None
    for notice in notices:
        assert len(notice) > 20
        assert "\x00" not in notice
        assert "\u202e" not in notice
    assert from_query(to_query(settings)) == (settings, [])
    assert len(urlencode(to_query(settings))) <= MAX_LINK


@given(links())
def test_any_link_makes_settings_that_a_link_gives_back(link):
    usable(*from_query(link))


def value_of(name, text):
    """The value that a field reads, or None where it refuses."""
    try:
        return FIELDS[name].read(text)
    except ValueError:
        return None


EDITS = tuple((at // 20, at % 20, at / 7) for at in range(200))
LARGE = (
    {"sentence": "слово " * 60, "tokenizer": "text"},
    {"sentence": "が" * 5_000},
    {"sentence": "<&%> " * 64, "tokenizer": "blanks"},
    {"d_in": 64, "d_out": 64, "d_v": 64, "vocabulary": "random"},
    *({"d_in": 20, "d_out": 20, "d_v": 20, f"{role}edits": EDITS} for role in ("", "q_", "k_")),
    {"turned": tuple((at, at) for at in range(32)), "typed": (-999.123456,) * 16},
    {"hide": tuple(FIELDS), "lock": tuple(FIELDS)},
    {"example": "life_is_short"},
    {"pin": None},  # what is on the screen
)
"""Changes that fill a link; which of them are taken depends on what is there already."""


def as_linked(name, value):
    return FIELDS[name].read(FIELDS[name].write(value))


@given(links(hostile=False), st.lists(st.sampled_from(LARGE), max_size=8))
def test_whatever_a_page_can_hold_its_address_gives_back(link, more):
    settings = from_query(link)[0]
    usable(settings, [])
    for updates in more:
        if "pin" in updates:
            after = changed(settings, pin=to_pin(settings))
        else:
            after = changed(settings, **{n: as_linked(n, value) for n, value in updates.items()})
        problem = problem_with(after)
        if problem is None:
            settings = after
            usable(settings, [])
        else:
            assert len(problem) > 10


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


@pytest.mark.slow("3 s: a parameter of each kind with 50 values")
@pytest.mark.parametrize("name", of_each_kind(FIELDS, lambda name: type(FIELDS[name])))
def test_every_parameter_with_every_hostile_value(name):
    for value in (*VALUES, *TEXTS.values(), TOO_LONG):
        usable(*from_query({name: value}))


@pytest.mark.long
@pytest.mark.parametrize("name", FIELDS)
def test_every_parameter_with_every_hostile_value_beside_another_example(name):
    for example in ("journey_123", "sorry_dave", "life_is_short"):
        for value in (*VALUES, *TEXTS.values(), TOO_LONG):
            usable(*from_query({"example": example, name: value}))
