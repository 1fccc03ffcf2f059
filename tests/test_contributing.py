"""CONTRIBUTING.md: its lesson and its operation work as they stand there, in a copy of the app."""

import re
import shutil
import subprocess
import sys

import pytest

from conftest import ROOT

WORDS = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"`([\w/]+\.py)`[^`]*```python\n(.*?)```", re.DOTALL)
LESSON = "two_sentences"
CONTENTS = "attention_ui/shell/contents.py"


def lesson_files():
    """By path, the files of the lesson, and the line of the contents."""
    recipe = WORDS.partition("## Add an operation")[0]
    return {found[1]: found[2] for found in BLOCK.finditer(recipe)}


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
            head, end, rest = path.read_text(encoding="utf-8").partition("\n)\n\n\ndef lesson")
            assert end
            text = f"{head}\n{text.rstrip()}{end}{rest}"
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


@pytest.mark.slow("60 s: the page tests of one lesson, in a process of their own")
def test_the_lesson_passes_the_tests_of_every_page(with_the_lesson):
    """No test is changed: examples, predict on and off, hostile text, what can be taken along."""
    run(with_the_lesson, "ruff", "check", ".")
    tests = ("test_pages.py", "test_first_visit.py", "test_take_away.py", "test_rooms.py", "ui")
    told = run(
        with_the_lesson, "pytest", "-n", "0", "-k", LESSON, *(f"tests/{each}" for each in tests)
    )
    assert int(re.search(r"(\d+) passed", told)[1]) > 50, told
