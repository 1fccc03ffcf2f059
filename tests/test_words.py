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


BOUND = re.compile(r"\b(?:choose|at most|at least|up to|more than|no more|between)\b(?P<rest>.*)")


def refusals():
    """Each `if` that refuses in words, the numbers by which it does, and those that it names after
    a word such as “choose”: both as code.
    """
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.If(test, [ast.Raise(ast.Call(args=[ast.JoinedStr() as words, *_])), *_]):
                    before, named = "", []
                    for part in words.values:
                        if isinstance(part, ast.FormattedValue):
                            named += [ast.unparse(part.value)] if BOUND.search(before) else []
                        else:
                            before += (text := re.sub(r"(?<=\d),(?=\d{3})", "", part.value))
                            rest = BOUND.search(text)["rest"] if BOUND.search(text) else text
                            named += NUMBERS.findall(rest) if BOUND.search(before) else []
                    asked = {ast.unparse(each) for each in ast.walk(test)}
                    yield f"{path}:{node.lineno}", asked, {*filter(IS_FIXED, named)}


NUMBERS = re.compile(r"(?<![\w.=])\d+(?!\.?\w)")
IS_FIXED = re.compile(r"(?:[A-Z_]+|[\d.]+)(?: \*\*? (?:[A-Z_]+|[\d.]+))*").fullmatch


def test_a_refusal_names_the_numbers_by_which_it_refuses():
    n_named = 0
    for where, asked, named in refusals():
        if any(each != "0" and IS_FIXED(each) for each in asked):
            assert named <= asked, where
            n_named += bool(named)
    assert n_named > 20
