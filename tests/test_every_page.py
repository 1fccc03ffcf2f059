"""Every page once: it stands, with the settings it was asked for and nothing to complain of."""

import pytest

from hostile import MARK
from visiting import EVERYWHERE, rendered, stands, visit


@pytest.mark.parametrize("page", EVERYWHERE)
def test_a_page_stands(page):
    at = stands(visit(page, seed="5"))
    assert at.session_state["settings"].seed == 5
    assert at.session_state["notices"] == []


@pytest.mark.parametrize("page", EVERYWHERE)
def test_nothing_that_is_typed_is_rendered(page):
    """Neither the first nor the last token of a sentence, nor one in the middle: in no label. Each
    has a sign of Markdown in it; a word of letters alone may be a label, since it is no Markdown.
    """
    sentence = f"{MARK}*first sat {MARK}_middle on [{MARK}last"
    at = stands(visit(page, sentence=sentence, tokenizer="blanks", predict="on"))
    assert at.session_state["settings"].sentence == sentence
    assert MARK not in rendered(at)
