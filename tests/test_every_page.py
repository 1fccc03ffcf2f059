"""Every page once: it stands, with the settings it was asked for and nothing to complain of."""

import pytest

from chosen import chosen
from hostile import MARK
from visiting import EVERYWHERE, charts, has_sentence, rendered, stands, visit


@pytest.mark.parametrize("page", EVERYWHERE)
def test_a_page_stands_and_renders_nothing_that_is_typed(page):
    """Neither the first nor the last token of a sentence, nor one in the middle: in no label. Each
    has a sign of Markdown in it; a word of letters alone may be a label, since it is no Markdown.
    And every picture has words for those who cannot see it.
    """
    sentence = f"{MARK}*first sat {MARK}_middle on [{MARK}last"
    at = stands(visit(page, sentence=sentence, tokenizer="blanks", seed="5", predict="on"))
    values = chosen(at)
    assert (values.seed, values.sentence) == (5, sentence)
    assert at.session_state["notices"] == []
    assert MARK not in rendered(at)
    if not has_sentence(page):  # nothing that changes nothing here
        aside = at.sidebar
        assert not [*aside.slider, *aside.text_area, *aside.selectbox, *aside.toggle]
    for chart in charts(at):
        assert len(chart.alt) > 20, chart.spec[:200]
