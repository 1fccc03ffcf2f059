"""A card reaches no clock, no environment, no chance and no file, in any branch of its code."""

import ast
import datetime
import os
import random
import re
import secrets
import subprocess
import time
import uuid
from datetime import date
from functools import lru_cache, partial
from os import environ
from pathlib import Path
from random import choice
from time import time_ns

import numpy as np
import pytest
import torch

import attention_ui.cards.cached  # noqa: F401  what this app says is its own
from attention_core.trace import Trace
from attention_ui.cards.tracked_trace import plain
from attention_ui.reactive import settings
from attention_ui.reactive.cache import Cache, SmallCache
from attention_ui.reactive.code_check import check_code, for_one_visitor
from attention_ui.reactive.function_identity import function_identity
from attention_ui.reactive.isolation import Misdeclared
from attention_ui.reactive.source import source, tracked_later
from conftest import ROOT

HERE = Path(__file__)


def helper():
    return time.time()


@lru_cache
def cached():
    return time.time()


class Helper:
    def asks(self):
        return time.time()


def local():
    import time as clock

    return clock.time()


def in_a_branch(v):
    if v.d > 1_000_000:
        return [each for each in (1, 2) if each > time.time()]
    return []


def inner():
    def asks():
        return os.environ["HOME"]

    return asks


def closes_over(function):
    return lambda: function()


def local_environment():
    import os

    return os.environ["HOME"]


def local_name():
    from os import environ

    return environ["HOME"]


def local_numpy():
    import numpy as numbers

    return numbers.random.rand()


def local_date():
    import datetime

    return datetime.datetime.now()


def imported_around():
    import datetime

    return [(lambda: datetime.date.today())()]


def local_room():
    from attention_ui.reactive.code_check import time

    return time.time()


def local_generator():
    from numpy.random import default_rng

    return default_rng()


REACHES = {
    "a clock": (lambda: time.time(), "clock"),
    "a clock by name": (lambda: time_ns(), "clock"),
    "another clock": (lambda: time.perf_counter(), "clock"),
    "today": (lambda: datetime.datetime.now(), "clock"),
    "a date": (lambda: date.today(), "clock"),
    "the environment": (lambda: os.environ.get("HOME"), "environment"),
    "the environment by name": (lambda: environ["HOME"], "environment"),
    "a variable": (lambda: os.getenv("HOME"), "environment"),
    "chance": (lambda: random.random(), "chance"),
    "chance by name": (lambda: choice([1, 2]), "chance"),
    "numpy's": (lambda: np.random.rand(2), "chance"),
    "a secret": (lambda: secrets.token_hex(), "chance"),
    "a name of its own": (lambda: uuid.uuid4(), "chance"),
    "a file": (lambda: open("a"), "file"),  # noqa: SIM115
    "a file by its path": (lambda: Path("a").read_text(), "file"),
    "a file beside it": (lambda: HERE.stat(), "file"),
    "a program": (lambda: subprocess.run(["ls"]), "file"),
    "a helper": (lambda: helper(), "clock, in `helper`"),
    "a helper that is cached": (lambda: cached(), "clock, in `cached`"),
    "a helper given in part": (partial(helper), "clock, in `helper`"),
    "a class": (lambda: Helper(), "clock, in `asks`"),
    "a module imported there": (local, "clock, in `local`"),
    "part of a module imported there": (local_environment, "environment, in `local_environment`"),
    "a name imported there": (local_name, "environment, in `local_name`"),
    "a module under another name": (local_numpy, "chance, unless"),
    "a class of a module imported there": (local_date, "clock, in `local_date`"),
    "in a function within": (imported_around, "clock, in `<lambda>`"),
    "of a room, imported there": (local_room, "clock"),
    "numpy's without a seed": (lambda: np.random.default_rng(), "without a seed"),
    "chance without a seed": (lambda: random.Random(), "without a seed"),
    "numpy's, imported there": (local_generator, "chance, unless"),
    "a branch that is not taken": (in_a_branch, "clock, in `<listcomp>`"),
    "a function in it": (inner, "environment, in `asks`"),
    "what it closes over": (closes_over(helper), "clock, in `helper`"),
    "a trace without its notes": (lambda: plain(Trace()), "tracks nothing"),
    "the trace of a step": (lambda step: Trace.of(step), "tracks nothing"),
    "what is noted later": (lambda: tracked_later(), "tracks nothing"),
    "a source without its notes": (lambda: settings.value._current("d"), "tracks nothing"),
    "values unread": (lambda v: v._values, "tracks nothing"),
}


def check(function):
    check_code("The card 'one' of lesson", function_identity(function), [function])


@pytest.mark.parametrize("what", REACHES)
def test_what_is_not_noted_is_refused_before_it_runs(what):
    function, told = REACHES[what]
    for _ in range(2):  # also where it is known
        with pytest.raises(Misdeclared, match=r"^The card 'one' of lesson reaches ") as refused:
            check(function)
        assert told in str(refused.value)


def when_pressed():
    return random.random()


def itself(n):
    return itself(n - 1) if n else 0


FINE = {
    "with a seed": lambda v: random.Random(v.seed).random(),
    "numpy's with a seed": lambda v: np.random.default_rng(v.seed),
    "a path": lambda: HERE.name,
    "a date that is said": lambda: date(2024, 1, 2),
    "words of time": lambda v: v.time,
    "itself": lambda: itself(3),
    "what a button does": lambda: for_one_visitor_pressed,
    "the event of a button": partial(for_one_visitor(lambda: time.time())),
    "no function": "words",
}
for_one_visitor_pressed = for_one_visitor(when_pressed)


@pytest.mark.parametrize("what", [each for each in FINE if each != "the event of a button"])
def test_what_is_the_same_for_everybody_is_fine(what):
    check(FINE[what])


def test_two_closures_are_looked_through_each_by_itself():
    check(closes_over(itself))
    with pytest.raises(Misdeclared):
        check(closes_over(helper))


@source()
def hour(_):
    return time.localtime().tm_hour


def test_what_a_source_asks_for_is_tracked_and_so_it_may_ask_the_clock():
    check(lambda: hour())
    with pytest.raises(Misdeclared, match="the clock"):
        check(lambda: time.localtime().tm_hour)


def test_chance_of_torch_is_the_same_for_everybody_and_goes_on_as_if_nothing_was():
    before = torch.random.get_rng_state()
    kept, few = Cache(1_000), SmallCache()
    drawn = {kept.get(("answers", at), lambda: float(torch.rand(())), lambda _: 1) for at in (1, 2)}
    drawn |= {few.get(at, lambda: float(torch.rand(())), "The picture") for at in (1, 2)}
    assert len(drawn) == 1
    assert torch.equal(before, torch.random.get_rng_state())


OUTSIDE = {
    "attention_ui/cards/class_files.py": "the day, on a page that a teacher prints",
    "attention_ui/frame/as_file.py": "how far the process is that writes a lesson as a file",
    "attention_ui/cards/cached.py": "which folder's files are of the program itself",
    "attention_ui/cards/review.py": "which script declares a page, and when it was written",
    "attention_ui/cards/show.py": "when a visit began, in the names of its views",
    "attention_ui/frame/class_changes.py": "its script, once a process",
    "attention_ui/frame/basics.py": "the icon, once a process",
    "attention_ui/frame/spaced_repetition.py": "its script; whose changes a browser makes once",
    "attention_ui/reactive/long_run.py": "how long a slice of work takes",
    "attention_ui/frame/models.py": "which models there are: the source `model`",
    "attention_ui/frame/recordings.py": "which recordings there are, and whether one has changed: "
    "a source of its own",
    "attention_ui/reactive/page.py": "the name of a script that never shows its page",
    "attention_ui/reactive/visibility.py": "its script, once a process",
    "attention_ui/frame/of_the_system.py": "what a server is told of its machine, once",
    "attention_ui/frame/save_picture.py": "which press of a button it was",
    "attention_ui/frame/started.py": "what a server was told when it was started",
    "attention_ui/frame/tasks.py": "which press of a button it was",
}
"""Modules that pages are made with, and that are not looked through: what they ask for, and that
this is no visitor's, or nothing that a card is made of. A new one needs its reason here."""


CLOCKS = {
    "attention_core/models_of_today.py": "the day on which a fact was looked up, which is written",
    "attention_core/real_model/generation.py": "how long writing on took, told of that run alone",
    "attention_core/small_models/__main__.py": "how long a training took, told to who started it",
}


def test_the_core_asks_no_clock_and_draws_nothing_without_a_seed():
    """What a card calls there is not looked through either."""
    found, unseeded = set(), []
    for path in ROOT.glob("attention_core/**/*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            named = [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []
            if isinstance(node, ast.Import):
                named = [each.name for each in node.names]
            if {*named} & {"time", "datetime", "secrets", "uuid", "socket"}:
                found.add(path.relative_to(ROOT).as_posix())
            drawn = isinstance(node, ast.Call) and ast.unparse(node.func)
            if drawn and re.match(r"random\.(?!Random\b)", drawn):
                unseeded.append(f"{path.name}: {drawn}")
    assert found == CLOCKS.keys()
    assert unseeded == []


def test_what_is_not_looked_through_asks_for_nothing_outside_but_this():
    asks = {"time", "datetime", "random", "secrets", "uuid", "os", "socket", "subprocess",
            "tempfile", "pathlib"}  # fmt: skip
    found = set()
    rooms = [ROOT / "attention_ui" / room for room in ("cards", "controls", "frame", "reactive")]
    for path in (each for room in rooms for each in room.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            named = [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []
            if isinstance(node, ast.Import):
                named = [each.name for each in node.names]
            if {each.split(".")[0] for each in named} & asks:
                found.add(path.relative_to(ROOT).as_posix())
    found -= {"attention_ui/reactive/code_check.py", "attention_ui/reactive/isolation.py"}
    assert found == OUTSIDE.keys()
