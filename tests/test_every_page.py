"""Every page once: it stands, with the settings it was asked for and nothing to complain of."""

from unittest.mock import patch

import pytest

from attention_ui.cards import show
from attention_ui.reactive.fragments import current_fragment
from chosen import chosen
from hostile import MARK
from sampling import marked
from visiting import (
    EVERYWHERE,
    LESSONS,
    charts,
    has_sentence,
    rendered,
    stands,
    visit,
    visit_deeper,
)


@pytest.mark.parametrize("page", EVERYWHERE)
def test_a_page_stands_and_renders_nothing_that_is_typed(page):
    """No token is in a label (a word of letters may be); every picture has words."""
    sentence = f"{MARK}*first sat {MARK}_middle on [{MARK}last"
    at = stands(visit(page, sentence=sentence, tokenizer="blanks", seed="5", predict="on"))
    values = chosen(at)
    assert (values.seed, values.sentence) == (5, sentence)
    assert at.session_state["session"].notices == []
    assert MARK not in rendered(at)
    if not has_sentence(page):  # nothing that changes nothing here
        aside = at.sidebar
        assert not [*aside.slider, *aside.text_area, *aside.selectbox, *aside.toggle]
    for chart in charts(at):
        assert len(chart.alt) > 20, chart.spec[:200]


FOLDED = ("queries_keys_values", "attention_today", "real_model")
"""With most that is folded."""


@pytest.mark.parametrize("lesson", marked(LESSONS, FOLDED, pytest.mark.slow("1 s a page: others")))
def test_a_link_to_a_picture_in_a_row_opens_the_row(lesson):
    drawn, put = set(), show.put_picture

    def noted(one):
        drawn.add((current_fragment(), one.name))
        put(one)

    with patch.object(show, "put_picture", noted):
        at = stands(visit_deeper(lesson))
    for fold in getattr(at.session_state["session"].declared, "folds", ()):
        for each in fold.cards:
            known = {("card_" + each.name, name) for name in (each.name, *each.pictures)}
            here = {one for one in drawn if one[0] == f"card_{each.name}"}
            assert here <= known, f"{each.name} has to name its `pictures`"
