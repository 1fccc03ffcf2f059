"""CONTRIBUTING.md: its lesson and its operation work as they stand there, in a copy of the app."""

import re
import shlex
import shutil
import sys
from collections import Counter
from xml.etree import ElementTree

import pytest

from attention_core.examples import EXAMPLES
from conftest import ROOT, ran

WORDS = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"`([\w/]+\.(?:py|toml))`:\n\n```\w+\n(.*?)```", re.DOTALL)
BLOCKS = dict(BLOCK.findall(WORDS))
LESSON, OPERATION, KIND = "two_sentences", "attention_core/operations/entrywise.py", "Halve"
INTO = {
    "tests/traces.py": r"def workshop(?s:.*?)\n(?=    _projections)",
    "tests/core/test_oracle_each.py": r"ORACLES = \{\n",
}
"""Files into which lines go, and what stands there before them."""
DATA = ("attention_core/mistakes/lines.toml", "attention_ui/frame/contents.toml")


@pytest.fixture(scope="module")
def contributed(tmp_path_factory):
    """A copy of the app, with all that CONTRIBUTING.md adds to it."""
    copy = tmp_path_factory.mktemp("contributed") / "app"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".*", "__pycache__", "shots"))
    shutil.copytree(ROOT / ".streamlit", copy / ".streamlit")
    for name, text in BLOCKS.items():
        path = copy / name
        there = path.read_text(encoding="utf-8") if path.exists() else ""
        if name in INTO:
            lines = re.search(r"that are there:\n(.*?)(?:^\S\n)?\Z", text, re.DOTALL | re.MULTILINE)
            at = re.search(INTO[name], there).end()
            text = there[:at] + lines[1] + there[at:]
        elif there:
            text = f"{there}\n\n{text}"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    exported = copy / "attention_core/operations/__init__.py"
    text = exported.read_text(encoding="utf-8").replace(" Exp,\n", f" Exp,\n    {KIND},\n")
    exported.write_text(text, encoding="utf-8")
    return copy


def run(copy, *command):
    told = ran(sys.executable, *command, cwd=copy)
    assert told.returncode == 0, told.stdout[-4_000:] + told.stderr[-4_000:]


def cases_of(copy, *arguments):
    """The tests that ran and passed; another ending than that fails."""
    run(copy, "-m", "pytest", "-n", "0", "--junitxml=passed.xml", *arguments)
    return [*ElementTree.parse(copy / "passed.xml").iter("testcase")]


def test_the_lesson_is_its_page_its_room_and_a_line_of_the_contents():
    room = f"attention_ui/lessons/{LESSON}/"
    new = [name for name in BLOCKS if name not in INTO and not (ROOT / name).exists()]
    assert new == [f"pages/{LESSON}.py", f"{room}__init__.py", f"{room}lesson.py"]
    assert {*BLOCKS} - {*new} == {*INTO, OPERATION, *DATA}


PAGES_TESTS = [
    "every_page", "pages", "first_visit", "take_away", "rooms", "lights_go_out", "links_speak",
    "covers",
]  # fmt: skip
OPERATIONS_TESTS = ["oracle_each", "operations", "arithmetic"]
FILES = [f"tests/test_{each}.py" for each in PAGES_TESTS]
FILES += [f"tests/core/test_{each}.py" for each in OPERATIONS_TESTS]
OTHERS = [example for example in EXAMPLES if example not in ("wild_cat", "journey_123")]
OF_THE_LESSON = f"{LESSON} and not (bad_link or {' or '.join(OTHERS)})"
OF_THE_OPERATION = f"core and (workshop or operation or {KIND} or sign)"


@pytest.mark.slow("25 s: the tests of one lesson and one operation, in a process of their own")
def test_what_is_contributed_passes_the_tests_of_every_page_and_operation(contributed):
    """No test is changed: two examples, predict on and off, hostile text, what is taken along."""
    run(contributed, "-m", "ruff", "check", ".")
    run(contributed, "-m", "ruff", "format", "--check", *(n for n in BLOCKS if n.endswith(".py")))
    chosen = f"({OF_THE_LESSON}) or ({OF_THE_OPERATION})"
    passed = Counter()
    for case in cases_of(contributed, "--hypothesis-profile=long", "-k", chosen, *FILES):
        name = case.get("classname").rpartition(".test_")[2]
        if LESSON in case.get("name"):
            passed["lesson"] += 1
        passed["operation"] += name in OPERATIONS_TESTS
    assert passed["lesson"] > 25
    assert passed["operation"] > 10


@pytest.mark.slow("4 s: in a process of their own")
def test_every_page_keeps_the_lesson_s_own_control_and_the_operation_s_mistake_is_one(contributed):
    """The control's name is found in its room: no list of names has it."""
    run(
        contributed,
        "-c",
        "import sys; sys.path.insert(0, 'tests'); from visiting import visit; "
        "at = visit('simplified_attention', other='A dog', nobody='1'); assert not at.exception; "
        "assert at.session_state['visit'].chosen['other'] == 'A dog'; "
        "assert 'nobody' not in at.session_state['visit'].chosen; "
        "import torch; from attention_core import operations as ops; "
        "from attention_core.mistakes.lines import mistakes; scores = torch.ones(2, 3); "
        f"(mistake,) = mistakes(ops.{KIND}(), 'scores'); "
        f"assert not torch.equal(eval(mistake.line), ops.{KIND}().value(scores))",
    )


@pytest.mark.long
def test_the_quick_tests_of_one_lesson_are_called_as_it_says(contributed):
    (command,) = re.findall(r"^    \S+python -m pytest (.*)$", WORDS, re.MULTILINE)
    assert LESSON in command
    assert len(cases_of(contributed, *shlex.split(command))) > 10
