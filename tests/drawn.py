"""What a page draws: its equations, taken down while the page runs under AppTest."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any
from unittest.mock import patch

import pytest
from streamlit.testing.v1 import AppTest

from attention_core.examples import EXAMPLES
from attention_core.trace import Trace
from attention_ui.charts.matrix import Matrix
from attention_ui.page import equation as beats
from attention_ui.page import page
from attention_ui.page.view import View
from attention_ui.settings.choices import OPENED
from conftest import ROOT
from sampling import few, pairs
from visiting import A_PAGE, PAGES, stands

FOLDS = ("checks", "zeroed", "wrong_axis", "token_axis", "again")
SWITCHED = {
    "everything on": {
        **{"positions": "on", "bias": "on", "causal_heads": "on", "start": "linear"},
        **{"similarity": "cosine", "divide": "sqrt_d", "scale": "none", "edits": "0.1:0.75"},
        **{"row_from": "hand", "typed": "1,2.5,-0.5,0.25", "way": "renormalised", "window": "3"},
        **{"normalise": "sum", "temperature": "0.5", "layer_dropout": "0.3"},
        **{"block": "decoder", "norm": "after", "activation": "gelu"},
        **{"cell": "embeddings.1.1"},
    },
    "before softmax": {"way": "zero_filled", "scale": "sqrt_d", "n_heads": "3", "d_model": "6"},
    "after softmax": {"way": "zeroed", "role_one": "key", "role_all": "value", "n_heads": "1"},
}
OF_THE_LAYER = [
    {"opened": name, "head": "1", "temperature": "2", "layer_dropout": "0.3"}
    for name in OPENED
    if name != "none"
]
"""Settings that draw what the examples leave out; `role_…` are widgets of no setting."""


def _case(page: str, link: dict[str, str], param: Any) -> Any:
    return pytest.param(page, link, id=param.id, marks=param.marks)


CASES = [
    *(
        _case(each.values[0], {"example": each.values[1]}, each)
        for each in pairs(PAGES, EXAMPLES, whole=A_PAGE, more=0)
    ),
    *(
        _case(each.values[0], SWITCHED[each.values[1]], each)
        for each in few(product(PAGES, SWITCHED), 7)
    ),
    *(_case("pages/whole_layer.py", each.values[0], each) for each in few(OF_THE_LAYER, 3)),
]
"""(page, link) of what is drawn, as params: some of them every day."""


@dataclass(frozen=True, eq=False)
class Equation:
    """An equation as it was drawn, and what it was drawn from."""

    view: View
    name: str
    parts: tuple[Matrix | str, ...]


def opened(name: str, **link: str) -> AppTest:
    """The page as a link opens it, without questions, with what is folded away unfolded."""
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    at.switch_page(name)
    for fold in FOLDS:
        at.session_state[f"fold_{fold}"] = True
    plain = {"predict": "off", "example": "wild_cat", "opened": "weights"}
    for key, value in {**plain, **link}.items():
        if key.startswith("role_"):
            at.session_state[key] = value
        else:
            at.query_params[key] = value
    at.run()
    stands(at)
    return at


@cache
def _equations(name: str, link: tuple[tuple[str, str], ...]) -> tuple[Equation, ...]:
    found = []
    draw = beats.draw_equation

    def noted(view, beat, *parts, build=None, **options):
        def built(settings):
            found.append(Equation(view, beat, build(settings)))
            return found[-1].parts

        if build is None:
            found.append(Equation(view, beat, parts))
        else:
            options["build"] = built
        draw(view, beat, *parts, **options)

    with patch.object(beats, "draw_equation", noted), patch.object(page, "draw_equation", noted):
        opened(name, **dict(link))
    return tuple(found)


def equations(name: str, link: dict[str, str]) -> tuple[Equation, ...]:
    """The equations on a page."""
    found = _equations(name, tuple(sorted(link.items())))
    assert found
    return found


def traces(name: str, link: dict[str, str]) -> Iterator[tuple[View, Trace]]:
    """The traces that a page draws from, experiments included, each with its view."""
    seen = {id(each.view.trace): each.view for each in equations(name, link)}
    yield from ((view, view.trace) for view in seen.values())
