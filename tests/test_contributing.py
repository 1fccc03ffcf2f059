"""CONTRIBUTING.md: its card, its lesson and its operation work as they stand, in a copy of the app.

The card is a block of CONTRIBUTING.md. The lesson is `docs/example_lesson/`, the operation
`docs/example_operation/`. A file with a first line "Goes into …" is put into another file, there;
any other file is new, and has its place in the app by its place in its folder.
"""

import asyncio
import os
import re
import shlex
import shutil
import sys
from collections import Counter
from xml.etree import ElementTree

import pytest

from attention_core.examples import EXAMPLES
from conftest import ROOT, ran
from serving import HANG, start_server
from visitor import Visitor

GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
ADDING = (ROOT / "docs" / "adding.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
LESSON, OPERATION, HEADING = "two_sentences", "Halve", "Sharper or flatter"
FIRST_LINE = re.compile(r"# Goes into (\S+), (at the end|before|after|in place of)(?:: (.+))?\n")


def pieces():
    """Of each folder, and of the card: its files and blocks, by their paths or the guide's name."""
    found = {"CONTRIBUTING.md": re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)}
    for folder in ("docs/example_lesson", "docs/example_operation"):
        for path in sorted((ROOT / folder).rglob("*.*")):
            if path.suffix in (".py", ".toml"):
                name = path.relative_to(ROOT / folder).as_posix()
                found[f"{folder}:{name}"] = [path.read_text(encoding="utf-8")]
    return [(name, text) for name, texts in found.items() for text in texts]


def put(copy, name, text):
    """Makes a new file, or puts a piece into one; gives the path of what is other now."""
    goes = FIRST_LINE.match(text)
    if goes is None:
        path = copy / name.partition(":")[2]
        assert not path.exists(), f"{path} is there: say in the first line of {name} where it goes"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path
    path, place, line = copy / goes[1], goes[2], goes[3]
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    at = len(lines)
    if line:
        places = [at for at, each in enumerate(lines) if each.strip() == line]
        assert len(places) == 1, f"{goes[1]} has {len(places)} lines {line!r}, which {name} names"
        at = places[0] + (place == "after")
        if place == "in place of":
            del lines[at]
    lines.insert(at, text[goes.end() :])
    path.write_text("".join(lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def contributed(tmp_path_factory):
    """A copy of the app, with all that CONTRIBUTING.md tells to add."""
    copy = tmp_path_factory.mktemp("contributed") / "app"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".*", "__pycache__", "shots"))
    shutil.copytree(ROOT / ".streamlit", copy / ".streamlit")
    for name, text in pieces():
        put(copy, name, text)
    return copy


def run(copy, *command):
    told = ran(sys.executable, *command, cwd=copy)
    assert told.returncode == 0, told.stdout[-4_000:] + told.stderr[-4_000:]


def cases_of(copy, *arguments):
    """The tests that ran and passed; another ending than that fails."""
    run(copy, "-m", "pytest", "-n", "0", "--junitxml=passed.xml", *arguments)
    return [*ElementTree.parse(copy / "passed.xml").iter("testcase")]


def test_each_piece_is_a_new_file_or_says_where_it_goes():
    new = {name.partition(":")[2] for name, text in pieces() if not FIRST_LINE.match(text)}
    room = f"attention_ui/lessons/{LESSON}"
    assert new == {f"pages/{LESSON}.py", f"{room}/__init__.py", f"{room}/lesson.py"}
    into = {goes[1] for _, text in pieces() if (goes := FIRST_LINE.match(text))}
    assert len(into) == 8
    assert {each for each in into if not (ROOT / each).exists()} == set()


def test_the_guide_stays_on_two_screens_and_has_twelve_words_each_with_its_file():
    assert len(GUIDE.splitlines()) <= 110
    words = re.findall(r"^\| (\w+) \| .* \| `([\w/]+\.py)` \|$", GUIDE, re.MULTILINE)
    assert 8 < len(words) <= 12
    for word, file in words:
        said = (ROOT / file).read_text(encoding="utf-8").lower()
        assert re.search(rf"\b{word}s?\b", said), f"{file} does not say what a {word} is"


PAGES_TESTS = [
    "every_page", "pages", "first_visit", "take_away", "rooms", "lights_go_out", "links_speak",
    "covers",
]  # fmt: skip
OPERATIONS_TESTS = ["oracle_each", "operations", "arithmetic"]
FILES = [f"tests/test_{each}.py" for each in PAGES_TESTS]
FILES += [f"tests/core/test_{each}.py" for each in OPERATIONS_TESTS]
OTHERS = [example for example in EXAMPLES if example not in ("wild_cat", "journey_123")]
OF_THE_LESSON = f"{LESSON} and not (bad_link or {' or '.join(OTHERS)})"
OF_THE_OPERATION = f"core and (workshop or operation or {OPERATION} or sign)"
OF_THE_CARD = "every_page and simplified_attention and wild_cat"


@pytest.mark.slow("25 s: the tests of a card, a lesson and an operation, in a process of their own")
def test_what_is_contributed_passes_the_tests_of_every_page_and_operation(contributed):
    """No test is changed: two examples, predict on and off, hostile text, what is taken along."""
    run(contributed, "-m", "ruff", "format", ".")  # as the guide says: the card's blank lines
    run(contributed, "-m", "ruff", "check", ".")
    chosen = f"({OF_THE_LESSON}) or ({OF_THE_OPERATION}) or ({OF_THE_CARD})"
    passed = Counter()
    for case in cases_of(contributed, "--hypothesis-profile=long", "-k", chosen, *FILES):
        name = case.get("classname").rpartition(".test_")[2]
        passed["lesson"] += LESSON in case.get("name")
        passed["card"] += "simplified_attention" in case.get("name")
        passed["operation"] += name in OPERATIONS_TESTS
    assert passed["lesson"] > 25
    assert passed["card"] > 0
    assert passed["operation"] > 10


@pytest.mark.slow("4 s: in a process of their own")
def test_the_card_stands_the_control_is_kept_and_the_operation_s_mistake_is_one(contributed):
    """The lesson's control is found in its room by every page: no list of names has it."""
    run(
        contributed,
        "-c",
        "import sys; sys.path.insert(0, 'tests'); from visiting import visit; "
        "at = visit('simplified_attention', other='A dog', nobody='1'); assert not at.exception; "
        f"assert {HEADING!r} in [each.value for each in at.header]; "
        "assert at.session_state['session'].chosen['other'] == 'A dog'; "
        "assert 'nobody' not in at.session_state['session'].chosen; "
        "import torch; from attention_core import operations as ops; "
        "from attention_core.mistakes.lines import mistakes; scores = torch.ones(2, 3); "
        f"(mistake,) = mistakes(ops.{OPERATION}(), 'scores'); "
        f"assert not torch.equal(eval(mistake.line), ops.{OPERATION}().value(scores))",
    )


@pytest.mark.slow("10 s: a server of the copy")
def test_what_is_saved_is_on_the_open_page_without_a_new_start(contributed, tmp_path):
    """In a module that the page imports, which Streamlit would keep: with what `make run` sets."""
    (told,) = re.findall(r"^run: .*\n\t(.*) \$\(VENV\)", MAKEFILE, re.MULTILINE)
    start = ("-m", "attention_explorer", "--no-browser", "--port={port}")
    own = os.environ | dict(each.split("=") for each in told.split())
    module = contributed / f"attention_ui/lessons/{LESSON}/lesson.py"
    server = start_server(tmp_path / "output.txt", cwd=contributed, start=start, env=own)

    async def saved():
        visitor = await Visitor(server.url, LESSON).enter()
        await visitor.again()  # what the first run has imported is watched when the next one ends
        text = module.read_text(encoding="utf-8")
        module.write_text(text.replace("Other sentence", "Another sentence"), encoding="utf-8")
        while b"Another sentence" not in await asyncio.wait_for(visitor.socket.recv(), HANG):
            pass
        await visitor.leave()

    try:
        asyncio.run(saved())
    finally:
        server.stop()


@pytest.mark.long
def test_the_quick_tests_of_one_lesson_are_called_as_it_says(contributed):
    (command,) = re.findall(r"python -m pytest (.*test_rooms.*)$", GUIDE + ADDING, re.MULTILINE)
    assert LESSON in command
    assert len(cases_of(contributed, *shlex.split(command))) > 10
