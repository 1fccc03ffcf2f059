"""CONTRIBUTING.md: its lesson and its operation work as they stand there, in a copy of the app."""

import re
import shutil
import subprocess
import sys
from importlib import import_module
from itertools import product

import pytest
import torch

from attention_core.operations import Given
from attention_core.trace import Trace
from conftest import ROOT

WORDS = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
LESSON_WORDS, _, OPERATION_WORDS = WORDS.partition("## Add an operation")
BLOCK = re.compile(r"`([\w/]+\.py)`[^`]*```python\n(.*?)```", re.DOTALL)
LESSON = "two_sentences"
CONTENTS = "attention_ui/shell/contents.py"


def lesson_files():
    """By path, the files of the lesson, and its line of the contents."""
    return {found[1]: found[2] for found in BLOCK.finditer(LESSON_WORDS)}


@pytest.fixture(scope="module")
def with_the_lesson(tmp_path_factory):
    """A copy of the app, with the lesson in it."""
    copy = tmp_path_factory.mktemp("contributed") / "app"
    left_out = shutil.ignore_patterns(".*", "__pycache__", "shots")
    shutil.copytree(ROOT, copy, ignore=left_out)
    shutil.copytree(ROOT / ".streamlit", copy / ".streamlit")
    for name, text in lesson_files().items():
        path = copy / name
        if name == CONTENTS:
            line = text.partition("that are there:\n")[2].removesuffix(")\n")
            there, opens, rest = path.read_text(encoding="utf-8").partition("LESSONS = (\n")
            lessons, end, rest = rest.partition("\n)\n")
            assert line
            assert end
            text = f"{there}{opens}{lessons}\n{line})\n{rest}"
        else:
            assert not path.exists(), f"{name} is there already"
            path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return copy


def run(copy, *command):
    told = subprocess.run(
        [sys.executable, "-m", *command], cwd=copy, capture_output=True, text=True, check=False
    )
    assert told.returncode == 0, told.stdout[-4_000:] + told.stderr[-4_000:]
    return told.stdout


def test_the_lesson_is_its_page_its_room_and_a_line_of_the_contents():
    room = f"attention_ui/lessons/{LESSON}/"
    elsewhere = [name for name in lesson_files() if not name.startswith(room)]
    assert elsewhere == [f"pages/{LESSON}.py", CONTENTS]


@pytest.mark.slow("90 s: the page tests of one lesson, in a process of their own")
def test_the_lesson_passes_the_tests_of_every_page(with_the_lesson):
    """No test is changed: examples, predict on and off, hostile text, what can be taken along."""
    run(with_the_lesson, "ruff", "check", ".")
    tests = [f"tests/test_{each}.py" for each in ("pages", "first_visit", "take_away", "rooms")]
    told = run(with_the_lesson, "pytest", "-n", "0", "-k", f"{LESSON} and not bad_link", *tests)
    assert int(re.search(r"(\d+) passed", told)[1]) > 50, told


def test_the_operation_is_whole_where_it_is_put():
    ((path, text),) = BLOCK.findall(OPERATION_WORDS)
    names = dict(vars(import_module(path.removesuffix(".py").replace("/", "."))))
    exec(text, names)
    (made,) = [each for name, each in names.items() if f"class {name}(" in text]
    trace = Trace()
    given = trace.step("scores", Given(((1.0, 2.0, -3.0), (5.0, 7.0, 0.0))), axes=("query", "key"))
    step = trace.step("made", made(), given, axes=("query", "key"))
    assert torch.equal(eval(made().code("scores"), {"scores": given.value}), step.value)
    for index in product(range(2), range(3)):
        assert step.arithmetic(index).value == step.value[index]
    assert given.symbol in step.formula
    assert step.words.endswith(".")
