"""Links: whatever they hold, there are values, and words for what was refused."""

from urllib.parse import urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_ui.reactive.control import MAX_LINK, understood, written
from attention_ui.reactive.settings import refused
from chosen import EVERY, FIELDS, read
from guesses import assert_usable, links
from sampling import is_long
from visiting import A_PAGE, LESSONS, lesson_module, stands, visit
from visiting import texts as shown


def usable(link):
    """The values can be used, a link gives them back, and every refusal says something."""
    values, wrong = read(**link)
    assert_usable(values)
    for name, why in wrong.items():
        notice = refused(name, link[name], why)
        assert len(notice) > 20
        assert "\x00" not in notice
        assert "\u202e" not in notice
    kept = {name: text for name, text in link.items() if name not in wrong}
    short = written({**kept, "example": values.example}, EVERY)
    assert understood(short, EVERY) == (values, {})
    differing = {each.name for each in EVERY if values[each.name] != each.starts(values)}
    assert short.keys() - {"example"} == differing - {"example"}, "what is said again"


@given(links())
def test_any_link_makes_values_that_a_link_gives_back(link):
    usable(link)


@pytest.mark.parametrize("lesson", LESSONS)
@settings(max_examples=300 if is_long() else 12)
@given(data=st.data())
def test_any_link_of_a_lessons_own_controls_makes_its_trace(lesson, data):
    """Few tokens, so that what fits no longer is met as often as what does."""
    module = lesson_module(lesson)
    names = [each.name for each in module.CONTROLS]
    link = data.draw(links(hostile=False, names=names))
    if "sentence" in names and data.draw(st.booleans()):
        link["sentence"] = data.draw(st.sampled_from(["a", "a b", "a b a b", "the cat sat"]))
    values, _ = understood({"example": "wild_cat", **link}, module.CONTROLS)
    for step in module.trace_of(values).values():
        assert step.value is not None


EDITS = ",".join(f"{at // 20}.{at % 20}:{at / 7:.9g}" for at in range(200))
LARGE = (
    {"sentence": "слово " * 60, "tokenizer": "text"},
    {"sentence": "が" * 5_000},
    {"sentence": "<&%> " * 64, "tokenizer": "blanks"},
    {"d_in": "20", "q_edits": EDITS, "k_edits": EDITS},
    {"d_in": "20", "edits": EDITS, "turned": ",".join(f"{at}.{at}" for at in range(32))},
    {"hide": ",".join(FIELDS), "lock": ",".join(FIELDS)},
)
"""What fills a link, together with what is typed below."""
TYPED = ("слово " * 60, "が" * 5_000, "<&%> " * 64, "猫 " * 64, "A cat sat")


@pytest.mark.slow("3 s: whole pages")
@pytest.mark.parametrize("link", LARGE, ids=lambda link: "-".join(link))
def test_whatever_a_page_can_hold_its_address_gives_back(link):
    """What is typed into a full link is taken where the address can hold it, or said why not."""
    at = visit(A_PAGE, **{"tokenizer": "text", **link})
    for text in TYPED:
        before = {**at.session_state["session"].chosen}
        fields = [each for each in at.text_area if each.key == "control_sentence"]
        if not fields or fields[0].disabled:
            return
        fields[0].set_value(text).run()
        stands(at)
        held = {**at.session_state["session"].chosen}
        if held == before:
            assert "fit" in shown(at) or before.get("sentence", "").strip() == text.strip()
        else:
            assert len(urlencode(held)) <= MAX_LINK
            usable(held)
