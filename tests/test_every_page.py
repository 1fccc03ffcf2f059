"""Every page once: it stands, with the settings it was asked for and nothing to complain of."""

import pytest

from visiting import EVERYWHERE, stands, visit


@pytest.mark.parametrize("page", EVERYWHERE)
def test_a_page_stands(page):
    at = stands(visit(page, seed="5"))
    assert at.session_state["settings"].seed == 5
    assert at.session_state["notices"] == []
