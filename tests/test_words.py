"""How things are called in what the app says, whatever a page shows: read in its sources."""

import ast
import re
from difflib import SequenceMatcher
from functools import cache
from itertools import pairwise

import pytest

from attention_core.utils.head_name import head_in_full, head_name
from attention_ui.frame.contents import LESSONS
from conftest import ROOT

SOURCES = [
    path
    for room in ("pages", "attention_ui", "attention_core")
    for path in sorted(ROOT.glob(f"{room}/**/*.py"))
    if path.name != "head_name.py"
]
NEVER = {
    r"^Reveal": "who asks to be shown presses Show me; a guess is sent with Check",
    r"layer [\dX]+,? head [\dX]": "a head is called by `head_name`",
    r"\bhead [\dX]+ (of|in) (the )?(first|second|layer|X)\b": "a head is called by `head_name`",
    r"\b(darker|lighter|brighter|paler|darkest)\b": "in the other theme it is the other way round",
    r"\bSee (X|\[X)": "a title may end with a sign, or not be a noun: “The card “…” shows it.”",
}


def said(path):
    """What a file may say: texts, no docstrings, X for what is filled in, and dotted names."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    notes = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            filled = [each for each in node.values if isinstance(each, ast.FormattedValue)]
            told = "".join(getattr(each, "value", "X") if each not in filled else "X"
                           for each in node.values)  # fmt: skip
            yield node.lineno, told, [ast.unparse(each.value) for each in filled]
        elif isinstance(node, ast.Constant) and id(node) not in notes:
            yield node.lineno, str(node.value), []


kept = cache(lambda path: [*said(path)])


def found(wrong):
    return [
        f"{path.relative_to(ROOT)}:{line}: {text[:90]!r}"
        for path in SOURCES
        for line, text, filled in kept(path)
        if wrong(text, filled)
    ]


@pytest.mark.parametrize("pattern", NEVER)
def test_nothing_is_said_in_a_way_that_fails_elsewhere(pattern):
    assert not found(lambda text, _: re.search(pattern, text)), NEVER[pattern]


def test_no_head_is_named_by_hand():
    def by_hand(text, filled):
        names = [re.split(r"\W", each)[-1] for each in filled]
        return "X.X" in text and any(p in (("layer", "head"), ("n", "h")) for p in pairwise(names))

    assert not found(by_hand)
    assert (head_name(2, 1), head_name(2)) == ("head 1.2", "head 2")
    assert head_in_full(1, 2) == "head 1.2 (head 2 of layer 1, both counted from 0)"


def test_a_lesson_is_called_by_its_title():
    titles = [each.title for each in LESSONS]

    def other(text, _):
        named = re.findall(r"(?<![*\w])\*([A-Z][^*\n]+)\*(?!\*)", text)
        return any(
            SequenceMatcher(None, one.lower(), title.lower()).ratio() > 0.75
            for one in set(named) - {*titles}
            for title in titles
        )

    assert not found(other)
