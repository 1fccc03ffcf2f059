"""Whether `make check` notices small faults: `make mutants`. A fault (faults.py) is put into a copy
of the project, the tests run that come to its line, the quickest first, until one fails; and so
with the next one. Which tests come to which line is recorded once, while all of them run.

What no test notices is in mutants_survivors.toml, with a reason; what is not there is told, and is
what to write a test for, or a reason.
"""

import argparse
import ast
import ctypes
import hashlib
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import coverage
import pytest

from faults import Fault, difference, faults_of, place_of

ROOT = Path(__file__).resolve().parents[1]
MUTATED = (
    "attention_core",
    "attention_ui/reactive",  # what runs, what waits, what is cached and for whom
    "attention_ui/cards/page.py",  # what is covered
    "attention_ui/cards/question.py",
    "attention_ui/reactive/long_run.py",
)
SURVIVORS = ROOT / "tests" / "mutants_survivors.toml"
REASONS = ("equal", "make test")
"""Why nothing notices: it does the same; or only a test does that is too slow for `make check`."""
QUICK = "not slow and not browser"
FOLDER = ROOT / ".mutants"
COPY, REACHED, TOLD = FOLDER / "copy", FOLDER / "reached", FOLDER / "tests.json"
ANEW = "anew"
"""What the files of a recording are called while it lasts."""
ALLOWED = 30
"""Seconds of processor time that a fault may take beyond twice what its tests do."""
IDLE = 60
"""Seconds without any of it, after which what waits waits for ever."""
SET_CHILD_SUBREAPER = 36
"""Of Linux's prctl."""
AT_FIRST = {"tests": 60, "files": 6, "seconds": 10}
"""The quickest tests, which catch most: so the files of the others need not be read."""
UNTIL_ONE_FAILS = ("-x", "-q", "--no-header", "--tb=line", "-p", "no:cacheprovider")
UNTIL_ONE_FAILS += ("--hypothesis-seed=0",)


# --- the copy, and which tests come to which line ------------------------------------------------
def files() -> list[str]:
    told = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [each for each in told.stdout.splitlines() if (ROOT / each).is_file()]


def copy() -> None:
    """Bring the copy up to date. What is the same keeps its date, and so what Python compiled."""
    wanted = files()
    known = {str(each.relative_to(COPY)) for each in COPY.rglob("*") if each.is_file()}
    for gone in known - {*wanted}:
        if "__pycache__" not in gone:
            (COPY / gone).unlink()
    for each in wanted:
        one, other = ROOT / each, COPY / each
        if not other.exists() or other.read_bytes() != one.read_bytes():
            other.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(one, other)


def digest(names: Iterable[str]) -> str:
    found = hashlib.sha256()
    for each in sorted(names):
        found.update(each.encode() + b"\0" + (ROOT / each).read_bytes())
    return found.hexdigest()


def of_tests(name: str) -> bool:
    return name.startswith("tests/")


def of_code(name: str) -> bool:
    """Whether what tests come to may be other lines once this file has changed."""
    return name.startswith(("attention_", "pages/", "app.py"))


class Notes:
    """Says which test runs, notes the seconds it takes, and which have a server beside them."""

    def __init__(self, covered: coverage.Coverage) -> None:
        self.covered = covered
        self.tests: dict[str, float] = {}
        self.served: list[str] = []
        self.failed: list[str] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        self.covered.switch_context(item.nodeid)
        began = _seconds()
        yield
        self.tests[item.nodeid] = _seconds() - began
        if "app_url" in item.fixturenames:
            self.served.append(item.nodeid)
        self.covered.switch_context("")

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.failed.append(report.nodeid)


def _seconds() -> float:
    """Of processor time, of this process and of those that it has seen end."""
    mine, others = os.times()[:2], os.times()[2:4]
    return sum(mine) + sum(others)


def record(asked: list[str]) -> None:
    """Run the quick tests in the copy, and write down what they come to.

    What was written before stays until that is done.
    """
    for part in FOLDER.glob(f"{ANEW}*"):
        part.unlink()
    print("Which tests come to which line? All quick tests run once, which takes a while ...")
    if status := in_a_child(lambda: _record(asked), FOLDER / "recorded.txt"):
        said = (FOLDER / "recorded.txt").read_text(encoding="utf-8", errors="replace")
        sys.exit(
            f"{said[-3000:]}\nThe tests ended with {status}: first, `make check` is to be green."
        )
    for old in [] if asked else FOLDER.glob("reached*"):
        old.unlink()
    for part in FOLDER.glob(f"{ANEW}*"):
        part.rename(part.with_name(part.name.replace(ANEW, REACHED.name, 1)))


def _record(asked: list[str]) -> int:
    # The copy is ours: what Python compiles of it is kept, for each of the faults.
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    settings = FOLDER / "coverage.ini"
    places = ["attention_core", "attention_ui"]
    lines = [f"data_file = {FOLDER / ANEW}", "parallel = true", "sigterm = true", "core = ctrace"]
    lines += [f"source = {','.join(str(COPY / each) for each in places)}"]
    # What runs beside the tests, as a server, is of the test that has started it.
    lines += ["context = ${PYTEST_CURRENT_TEST-}", "disable_warnings = no-data-collected"]
    settings.write_text("\n".join(["[run]", *lines]), encoding="utf-8")
    os.environ["COVERAGE_PROCESS_START"] = str(settings)
    covered = coverage.Coverage(config_file=str(settings))
    covered.start()
    notes = Notes(covered)
    # Before it runs: what is written meanwhile is not in the copy.
    names = files()
    known: dict = {"code": digest(each for each in names if of_code(each))}
    known["files"] = {each: digest([each]) for each in names if of_tests(each)}
    # The copy is no repository, of which its own tests ask for the files.
    left_out = ["-m", QUICK, "--ignore=tests/test_mutants.py"]
    status = pytest.main(["-q", "--no-header", *left_out, *asked], plugins=[notes])
    covered.stop()
    covered.save()
    known |= {"tests": notes.tests, "served": notes.served}
    if status == 0:
        TOLD.write_text(json.dumps(known), encoding="utf-8")
    return 0 if status == 0 else f"status {status}"


class Reach:
    """Which tests come to a line."""

    def __init__(self) -> None:
        told = json.loads(TOLD.read_text(encoding="utf-8"))
        self.tests: dict[str, float] = told["tests"]
        self.served: list[str] = told["served"]
        self.is_of_this_code = told["code"] == digest(filter(of_code, files()))
        now = {each: digest([each]) for each in files() if of_tests(each)}
        self.changed = {each for each, one in now.items() if told["files"].get(each) != one}
        """Files of tests that are not as they were: what is in them may come to anything."""
        self.read: dict[str, dict[int, list[str]]] = {}
        self.data = coverage.CoverageData(str(REACHED))
        parts = [coverage.CoverageData(str(each)) for each in FOLDER.glob("reached.*")]
        for each in parts:
            each.read()
            self.data.update(each)
        self.data.read()
        self.test_files = {each.partition("::")[0] for each in self.tests}
        come = self.named(self.data.measured_contexts())
        self.come_nowhere = self.tests.keys() - come
        """Tests that run no line of the code: what they look at was there when it was read."""

    def of_file(self, name: str) -> dict[int, list[str]]:
        if name not in self.read:
            self.read[name] = self.data.contexts_by_lineno(str(COPY / name))
        return self.read[name]

    def of_lines(self, name: str, first: int, last: int) -> set[str]:
        told = self.of_file(name)
        return self.named(one for line in range(first, last + 1) for one in told.get(line, ()))

    def of_all(self, name: str) -> set[str]:
        """Tests that run anything in a file, or in those that take something from it, and those
        that only look at what is there.
        """
        files = [name, *users(name)]
        found = self.named(x for each in files for one in self.of_file(each).values() for x in one)
        return found | self.come_nowhere if found else {*self.tests}

    def of_killed(self, name: str) -> set[str]:
        """Tests that start processes with a file's code: what is killed takes its notes with it."""
        imports = importing(name)
        read = {each: (COPY / each).read_text(encoding="utf-8") for each in self.test_files}
        found = {each for each, code in read.items() if "subprocess" in code and imports(code)}
        return {each for each in self.tests if each.partition("::")[0] in found}

    def named(self, contexts: Iterable[str]) -> set[str]:
        found = set()
        for each in {*contexts} - {""}:
            # As pytest says it of a process of its own: with what of the test was on.
            test = re.sub(r" \((setup|call|teardown)\)$", "", each)
            found |= {*self.served} if test in self.served and test != each else {test}
        return found & self.tests.keys()


@cache
def sources() -> dict[str, str]:
    """The code of the app and of its core, by file."""
    names = [each for each in files() if each.startswith("attention_") and each.endswith(".py")]
    return {each: (ROOT / each).read_text(encoding="utf-8") for each in names}


def users(name: str) -> list[str]:
    """Files that take something from this one, by its name."""
    return [each for each, code in sources().items() if importing(name)(code)]


def importing(name: str) -> Callable[[str], object]:
    """Says whether code takes something from a file, by its name."""
    stem = Path(name).stem if Path(name).stem != "__init__" else Path(name).parent.name
    return re.compile(rf"^\s*(from|import) .*\b{re.escape(stem)}\b", re.MULTILINE).search


# --- one fault after the other ------------------------------------------------------------------
def in_a_child(work, log: Path, most: float = float("inf")) -> int | str:
    """What a function gives in a process of its own, in the copy: 0, or why not."""
    sys.stdout.flush()
    if not (child := os.fork()):
        status = 70
        try:
            os.setpgid(0, 0)
            with open(log, "w", encoding="utf-8") as output:
                os.dup2(output.fileno(), 1)
                os.dup2(output.fileno(), 2)
            os.chdir(COPY)
            sys.path[:] = [each for each in sys.path if not each.startswith(str(ROOT / "tests"))]
            told = work()
            status = told if isinstance(told, int) else 71
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            sys.stdout.flush()
            os._exit(status)
    return _end_of(child, most)


def _end_of(child: int, most: float) -> int | str:
    """How a child came to its end: by itself, or since it took too much or waited for ever."""
    used, changed = 0.0, time.monotonic()
    while True:
        ended, status, _ = os.wait4(child, os.WNOHANG)
        why = ""
        if ended:
            _end_group(child)
            return os.waitstatus_to_exitcode(status)
        if (now := _used_by(child)) != used:
            used, changed = now, time.monotonic()
        if used > most:
            why = f"took more than {most:.0f} s"
        if most < float("inf") and time.monotonic() - changed > IDLE:
            why = "waits for ever"
        if why:
            _end_group(child)
            os.waitpid(child, 0)
            return why
        time.sleep(0.2)


def _end_group(child: int) -> None:
    try:
        os.killpg(child, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def adopt() -> None:
    """From now on what a child leaves behind is ours, also what has begun a session of its own."""
    with suppress(OSError, AttributeError):  # elsewhere than on Linux such loops stay
        ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1)


def _end_left_behind() -> None:
    told = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True)
    for line in told.stdout.splitlines():
        process, parent = map(int, line.split())
        if parent == os.getpid() and Path(f"/proc/{process}").exists():
            with suppress(ProcessLookupError, ChildProcessError):
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)


def _used_by(group: int) -> float:
    """Seconds of processor time of all processes of a group, as `ps` says it: [[dd-]hh:]mm:ss."""
    told = subprocess.run(["ps", "-A", "-o", "pgid=,time="], capture_output=True, text=True)
    total = 0.0
    for line in told.stdout.splitlines():
        of, spent = line.split()
        if int(of) == group:
            days, _, clock = spent.rpartition("-")
            parts = [float(each) for each in clock.split(":")]
            total += 86_400 * int(days or 0)
            total += sum(part * 60**at for at, part in enumerate(reversed(parts)))
    return total


class Picked:
    """Of what pytest has found, the wanted tests alone, in their order."""

    def __init__(self, wanted: list[str], files: set[str]) -> None:
        self.places = {each: at for at, each in enumerate(wanted)}
        self.files = files
        self.by = ""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        chosen = [
            each for each in items if each.nodeid in self.places or self.of(each) in self.files
        ]
        items[:] = sorted(chosen, key=lambda each: self.places.get(each.nodeid, -1))

    @staticmethod
    def of(item) -> str:
        return item.nodeid.partition("::")[0]

    def pytest_runtest_logreport(self, report):
        if report.failed and not self.by:
            self.by = report.nodeid

    def pytest_collectreport(self, report):
        if report.failed and not self.by:
            self.by = f"{report.nodeid} is not even read"


def stages(tests: set[str], reach: Reach) -> Iterator[tuple[list[str], set[str]]]:
    """The tests of a fault: files of tests that have changed, the quickest tests, all others."""
    ordered = sorted(tests, key=lambda each: (reach.tests[each], each))
    ordered = [each for each in ordered if each.partition("::")[0] not in reach.changed]
    first, seconds, read = [], 0.0, {*reach.changed}
    for each in ordered:
        seconds += reach.tests[each]
        file = each.partition("::")[0]
        if seconds > AT_FIRST["seconds"] or len(first) == AT_FIRST["tests"]:
            break
        if file in read or len(read) < AT_FIRST["files"] + len(reach.changed):
            read.add(file)
            first.append(each)
    others = [each for each in ordered if each not in {*first}]
    if first or reach.changed:
        yield first, {each for each in reach.changed if Path(each).name.startswith("test_")}
    if others:
        yield others, set()


def caught(fault: Fault, reach: Reach, log: Path) -> tuple[str, str, int]:
    """How it is caught, or "", its lines with it, and how many tests come there."""
    path = COPY / fault.file
    code = path.read_text(encoding="utf-8")
    made = fault.made_in(code)
    _, first, last, at_import = place_of(code, fault.line)
    tests = set() if at_import else reach.of_lines(fault.file, first, last)
    tests = tests and tests | reach.of_killed(fault.file)
    # What is written into a notebook, or ends its own process, runs where nobody takes notes.
    tests = tests or reach.of_all(fault.file)
    dates = path.stat()
    try:
        ast.parse(made)
        path.write_text(made, encoding="utf-8")
        for wanted, whole in stages(tests, reach):
            cost = sum(reach.tests[each] for each in wanted)
            names = sorted({each.partition("::")[0] for each in wanted} | whole)

            def run(wanted=wanted, whole=whole, names=names) -> int:
                sys.dont_write_bytecode = True
                os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
                picked = Picked(wanted, whole)
                status = pytest.main([*UNTIL_ONE_FAILS, "-m", QUICK, *names], plugins=[picked])
                print(f"\nby: {picked.by}")
                return 0 if status == pytest.ExitCode.NO_TESTS_COLLECTED else int(status)

            ended = in_a_child(run, log, 2 * cost + ALLOWED)
            _end_left_behind()
            if ended != 0:
                said = log.read_text(encoding="utf-8", errors="replace")
                by = re.findall(r"^by: (.*)$", said, re.MULTILINE)
                return (
                    (ended if isinstance(ended, str) else (by or ["it ended"])[-1]),
                    made,
                    len(tests),
                )
        return "", made, len(tests)
    except SyntaxError:
        return "it is no Python", made, 0
    finally:
        path.write_text(code, encoding="utf-8")
        os.utime(path, ns=(dates.st_atime_ns, dates.st_mtime_ns))


def sample(size: int, seed: int, within: str) -> list[Fault]:
    """Of all faults of what is mutated; a larger sample begins with a smaller one."""
    names = [each for each in sorted(files()) if each.startswith(MUTATED) and each.endswith(".py")]
    names = [each for each in names if each.startswith(within)]
    found = [f for each in names for f in faults_of(each, (ROOT / each).read_text("utf-8"))]
    random.Random(seed).shuffle(found)
    return found[:size]


def survivors() -> dict[tuple[str, str, str], dict[str, str]]:
    """Those that are known, by their file, their line, and what it becomes."""
    told = tomllib.loads(SURVIVORS.read_text(encoding="utf-8"))["survivor"]
    return {(each["file"], each["line"], each["becomes"]): each for each in told}


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("--sample", type=int, default=200, help="how many faults")
    parser.add_argument("--seed", type=int, default=1, help="which ones")
    parser.add_argument("--after", type=int, default=0, help="leave out so many of the first")
    parser.add_argument("--within", default="", help="of files that begin with this alone")
    parser.add_argument("--record", action="store_true", help="record anew what tests come to")
    parser.add_argument("tests", nargs="*", help="when recording: these alone")
    return parser.parse_args()


def warm_up() -> None:
    """What nearly every test needs and nobody mutates: read once, not for each fault."""
    import altair  # noqa: F401
    import hypothesis  # noqa: F401
    import pandas  # noqa: F401
    import safetensors.torch  # noqa: F401
    import streamlit.testing.v1
    import streamlit.web.cli  # noqa: F401
    import torch

    torch.set_num_threads(1)  # a fork has none of the others


def main() -> int:
    asked = read_arguments()
    FOLDER.mkdir(exist_ok=True)
    adopt()
    copy()
    warm_up()
    if asked.record or not TOLD.exists() or not Reach().is_of_this_code:
        record(asked.tests)
    reach, known = Reach(), survivors()
    chosen = sample(asked.sample, asked.seed, asked.within)
    counts = dict.fromkeys(("caught", "equal", "make test", "new"), 0)
    for number, fault in enumerate(chosen[asked.after :], asked.after + 1):
        began = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
        code = (COPY / fault.file).read_text(encoding="utf-8")
        by, made, n_tests = caught(fault, reach, FOLDER / "output.txt")
        line, becomes = difference(code, made)
        reason = known.get((fault.file, line, becomes), {}).get("reason", "new")
        counts["caught" if by else reason] += 1
        took = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - began
        how = f"caught by {by}" if by else f"NOT CAUGHT ({reason})"
        print(f"{number:4} {took:5.0f} s  {fault.file}:{fault.line}  {fault.operator}: {how}")
        if not by:
            where = place_of(code, fault.line)[0]
            print(f"       in {where or 'the module'}, of {n_tests} tests")
            print(f"     - {line}\n     + {becomes}")
        sys.stdout.flush()
    total = sum(counts.values()) - counts["equal"]
    share = counts["caught"] / max(total, 1)
    print(f"{counts['caught']} of {total} caught ({share:.1%}).")
    print(
        f"Besides, {counts['equal']} change nothing. Of those not caught, `make test` alone catches"
    )
    print(f"{counts['make test']}, and {counts['new']} have no reason yet ({SURVIVORS.name}).")
    return int(counts["new"] > 0 or share < 0.9)


if __name__ == "__main__":
    sys.exit(main())
