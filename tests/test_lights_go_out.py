"""Every light of every lesson can go out: a step made wrong, or some settings, turns it off."""

import ast
import importlib
import sys
from collections import OrderedDict
from contextlib import ExitStack
from functools import cache, partial
from types import SimpleNamespace
from unittest.mock import patch

import pytest
import torch

from attention_core import Trials
from attention_core import operations as ops
from attention_core.mistakes import rounds
from attention_core.real_model.run import Cache
from attention_core.real_model.written import Reading
from attention_ui.cards import elements
from attention_ui.cards import page as declared
from attention_ui.frame import lights as frame_lights
from attention_ui.lessons.divide_by_sqrt_d import looks
from attention_ui.lessons.heads_learning.lesson import whole
from attention_ui.lessons.real_model import running
from attention_ui.lessons.tiny_language.lesson import told
from attention_ui.reactive.cache import Cache as UiCache
from conftest import ROOT
from sampling import few
from visiting import A_PAGE, PAGES, ROWS, _opened

FILES = [*sorted((ROOT / "pages").glob("*.py")), *sorted((ROOT / "attention_ui").rglob("*.py"))]
for path in FILES:
    if ROOT / "attention_ui" in path.parents:  # else they would keep what is patched in their place
        importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
LINKS = (
    {"example": "journey_123", "variance_view": "width"},
    {"example": "wild_cat", "precision": "float16", "push": "100", "masking": "zeroed",
     "block": "decoder"},
    {"sentence": "a b c", "tokenizer": "blanks", "row_from": "hand", "typed": "1,-2",
     "shift": "1.5", "tiny_off": "0.0"},
)  # fmt: skip
WRONG = """MatMul Softmax MaskedSoftmax Divide RunningSum MatMulByLoop Linear MatMulUpright
BatchedMatMul SplitHeads SumHeads SwitchOff MaskedFill OneHot Add Standardise"""
"""Operations that are made wrong, one at a time, until every light has gone out."""


def sites():
    """(file, line, what is said of it where it stands: True, False or None) of each light."""
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            function = getattr(node, "func", None)
            name = getattr(function, "attr", getattr(function, "id", None))
            if name == "light" and path.name not in ("page.py", "lights.py") and node.args:
                first = node.args[0]
                fixed = first.value if isinstance(first, ast.Constant) else None
                yield path.name, node.lineno, fixed


def lights(page, link, *patches):
    """Each light that a page shows, by where in the code it stands, and whether it is green."""
    shown, both = {}, (frame_lights.light, elements.light)

    def noted(ours, good, words):
        frame = sys._getframe(1)
        path = frame.f_code.co_filename.rpartition("/")[2]
        if path != "page.py":
            at = (path, frame.f_lineno)
            count = sum(site[:2] == at for site in shown)
            shown[(*at, count)] = bool(good)
        return ours(good, words)

    with ExitStack() as stack:
        stack.enter_context(patch.object(declared.Page, "cache", UiCache(1 << 26)))
        stack.enter_context(patch.object(running, "_kept", OrderedDict()))
        for name, module in [*sys.modules.items()]:
            ours = vars(module).get("light") if name.startswith("attention_ui.") else None
            if ours in both:
                stack.enter_context(patch.object(module, "light", partial(noted, ours)))
        for each in patches:
            stack.enter_context(each)
        of_rounds = (each for each in vars(rounds).values() if hasattr(each, "cache_clear"))
        for kept in (told, whole, *of_rounds):
            kept.cache_clear()  # what is kept was computed before anything was broken
            stack.callback(kept.cache_clear)  # and what is broken is not to be kept
        asked = {"predict": "off", "example": "wild_cat", **link}
        _opened(page, asked, **dict.fromkeys(ROWS, True))
    return shown


@cache
def as_it_is(page, at):
    return lights(page, LINKS[at])


def wrong(name, by):
    """An operation whose first two cells (a mask hides one of them) and last are off."""
    right = getattr(ops, name).value

    def value(self, *operands):
        made = right(self, *operands).clone()
        flat = made.view(-1)
        off = sorted({0, min(1, len(flat) - 1), len(flat) - 1})
        flat[off] = flat[off] + by
        return made

    return patch.object(getattr(ops, name), "value", value)


def too_wide():
    """Every variance comes out at twice what theory says."""
    right = looks.variance_theory
    narrow = SimpleNamespace(variance=0.5, standard_error=right(Trials(d=1)).standard_error)
    return patch.object(looks, "variance_theory", lambda _: narrow)


def read_twice():
    """Of a logit, each part comes out at twice what it is."""
    back = Reading.back

    def twice(self, layer):
        writers, read = back(self, layer)
        return writers, 2 * read

    return patch.object(Reading, "back", twice)


def kept_otherwise():
    """A cache gives values of earlier tokens with the other sign, far too large."""
    joined = Cache.joined

    def far(self, layer, keys, values):
        n = self.n_before(layer)
        keys, values = joined(self, layer, keys, values)
        return keys, torch.cat((-9 * values[..., :n, :], values[..., n:, :]), dim=-2)

    return patch.object(Cache, "joined", far)


@pytest.mark.slow("55 s: every page, again for each operation made wrong")
@pytest.mark.parametrize("page", few(PAGES, 3, first=A_PAGE))
def test_every_light_can_go_out(page):
    plain = [as_it_is(page, at) for at in range(len(LINKS))]
    stays = set().union(*plain)
    assert stays, f"{page} checks nothing that it shows: put a `light(…)` on it"
    out = {site for now in plain for site in stays if not now.get(site)}
    tries = [(LINKS[0], too_wide())] if "sqrt" in page else []
    if "real_model" in page:  # it runs without operations, but for the head that is looked at
        tries = [(LINKS[0], broken()) for broken in (read_twice, kept_otherwise)]
    if "sqrt" not in page:
        tries += [
            (LINKS[0], wrong(name, by)) for by in (0.5, float("nan")) for name in WRONG.split()
        ]
    for link, broken in tries:
        if not stays - out:
            break
        now = lights(page, link, broken)
        out |= {site for site in plain[0] if not now.get(site)}
    assert not stays - out, "(file, line, which there) are green whatever is wrong: look at numbers"


@pytest.mark.long
def test_every_light_of_the_code_is_on_a_page_that_is_looked_at():
    seen = {site[:2] for page in PAGES for at in range(len(LINKS)) for site in as_it_is(page, at)}
    elsewhere = {"training.py"}  # test_queries_keys_values: it takes a run of the training
    wanted = {site[:2] for site in sites() if site[0] not in elsewhere and site[2] is not False}
    assert not wanted - seen
