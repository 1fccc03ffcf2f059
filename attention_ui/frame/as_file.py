"""*Lesson*: what is on the screen as a file that is alive without this server.

Writing it takes some seconds to a minute, all of it in Python: in a thread of the server it would
take every other turn from a whole class. So a process of its own does it, one file at a time and
at low priority; and the file is kept for whoever asks for the same.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import streamlit as st

from ..controls.lesson_session import this_session
from ..controls.shared import AROUND, HIDE, LOCK, PREDICT, TASKS
from ..reactive import settings
from .file_names import file_name
from .started import no_writer

MOST_SECONDS = 300.0
"""For one file. A lesson with a training takes a minute, and more where the server is busy."""
MOST_WAITING = 6
"""Files that are being written or wait to be."""
MOST_KEPT = 12
"""Files of at most 0.8 MB, for all visitors."""
BESIDE = {PREDICT.name, HIDE.name, LOCK.name, TASKS.name}
"""Of the controls that stand around every page, those that a file takes over."""
ROOT = Path(__file__).parents[2]
"""Where the packages are, whatever folder the server was started in."""


@dataclass
class Written:
    """A file on its way, or there."""

    made: Future[bytes]
    asked: float = field(default_factory=time.monotonic)

    @property
    def wrong(self) -> str:
        """Why there is no file, in words; "" where it is there, or will be."""
        if not self.made.done() or not (error := self.made.exception()):
            return ""
        return str(error) if isinstance(error, CouldNot) else "The file could not be written."


@dataclass(frozen=True)
class Kind:
    """A kind of file: the command that writes it, and what a visitor is told."""

    command: str
    label: str
    saves: str
    suffix: str
    mime: str
    icon: str
    words: str


KINDS = (
    Kind(
        "page",
        "Lesson",
        "Save lesson",
        ".html",
        "text/html",
        ":material/web:",
        "This lesson with your settings, as one HTML file. It stays interactive without a server "
        "or the internet: mail it, or put it on any website. Writing it takes up to a minute.",
    ),
    Kind(
        "scorm",
        "Course package",
        "Save package",
        ".zip",
        "application/zip",
        ":material/school:",
        "This lesson as a package for a course platform such as Moodle (SCORM 1.2). Learners can "
        "resume it, and it reports how many questions they got right the first time.",
    ),
)


class CouldNot(RuntimeError):
    """A file that could not be written, in words."""


Wanted = tuple[str, str, str]
"""The command that writes a file, the address of the lesson, and where the app is."""


class Files:
    """The files of a server, the latest last."""

    def __init__(self) -> None:
        self._by_wanted: OrderedDict[Wanted, Written] = OrderedDict()
        self._lock = threading.Lock()
        self._one_at_a_time = ThreadPoolExecutor(1, "lesson as a file")

    def get(self, wanted: Wanted) -> Written | None:
        """A file, if anybody has asked for it."""
        return self._by_wanted.get(wanted)

    def ask(self, wanted: Wanted) -> bool:
        """Have a file written. Returns whether it will be: not where too many are waiting."""
        with self._lock:
            there = self._by_wanted.get(wanted)
            if there and not there.wrong:
                return True
            waiting = [each for each in self._by_wanted.values() if not each.made.done()]
            if len(waiting) >= MOST_WAITING:
                return False
            self._by_wanted[wanted] = Written(self._one_at_a_time.submit(_write, *wanted))
            self._by_wanted.move_to_end(wanted)
            for key, each in [*self._by_wanted.items()][:-MOST_KEPT]:
                if each.made.done():
                    del self._by_wanted[key]
            return True

    def n_before(self, one: Written) -> int:
        """How many files are written before this one."""
        every = [*self._by_wanted.values()]
        return sum(not each.made.done() and each.asked < one.asked for each in every)


def _write(command: str, address: str, app: str) -> bytes:
    """Write a file in another process, which is told what to write where nobody else can read."""
    run = [sys.executable, "-m", "attention_explorer", command, "-"]
    if app:
        run += ["--app", app]
    if nice := shutil.which("nice"):
        run = [nice, "-n", "10", *run]
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "lesson")
        try:
            ended = subprocess.run(
                [*run, "-o", str(output)],
                input=f"{address}\n",
                capture_output=True,
                encoding="utf-8",
                cwd=ROOT,
                env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONIOENCODING": "utf-8"},
                timeout=MOST_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise CouldNot(
                f"The file was not finished after {MOST_SECONDS:g} seconds. Write it on your own "
                "computer, with the command below."
            ) from None
        if ended.returncode or not output.exists():
            said = ended.stderr.strip().splitlines()
            is_said = ended.returncode == 1 and said
            raise CouldNot(said[-1] if is_said else "The file could not be written.")
        return output.read_bytes()


FILES = Files()


@dataclass
class Refused:
    """The file that this visitor asked for last, if the queue was full."""

    wanted: Wanted | None = None


def as_file(page: str) -> None:
    """For each kind of file a button that has it written, and then one that saves it."""
    address, app = _address(page)
    if no_writer():
        st.markdown(
            "The lesson can also be one HTML file that needs no server, but this app cannot write "
            'it. On your own computer, run `pip install ".[site]"` in the project’s folder, then:'
        )
        _command(KINDS[0], address)
        return
    for kind in KINDS:
        wanted = (kind.command, address, app)
        stage = _stage(FILES.get(wanted))
        every = 1.0 if stage == "on its way" else None
        st.fragment(_put, run_every=every)(page, kind, wanted, stage)
        if stage == "failed":
            _command(kind, address)


def _stage(there: Written | None) -> str:
    if there is None:
        return "not asked for"
    if not there.made.done():
        return "on its way"
    return "failed" if there.wrong else "there"


def _put(page: str, kind: Kind, wanted: Wanted, stage: str) -> None:
    there = FILES.get(wanted)
    if _stage(there) != stage:
        st.rerun()  # only a run of the page decides whether this looks every second
    name = f"as_{kind.command}"
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=name):
        _button_and_words(page, kind, wanted, stage, there)


def _button_and_words(
    page: str, kind: Kind, wanted: Wanted, stage: str, there: Written | None
) -> None:
    look = {"icon": kind.icon, "width": 150, "key": f"write_{kind.command}"}
    if stage == "there":
        made = there.made.result()
        name = file_name(page, settings.values().get("sentence", ""), kind.suffix)
        look |= {"key": f"save_{kind.command}", "type": "primary", "on_click": "ignore"}
        st.download_button(kind.saves, made, name, kind.mime, **look)
        st.markdown(f"As the lesson is now: {len(made) / 1_000:,.0f} kB.", width=560)
        return
    is_waiting = stage == "on its way"
    st.button(kind.label, on_click=_ask, args=(wanted,), disabled=is_waiting, **look)
    if stage == "failed":
        st.text(there.wrong, width=560)  # it may quote what was typed
    elif is_waiting:
        n, seconds = FILES.n_before(there), time.monotonic() - there.asked
        becomes = f"is waiting, with {n} ahead of it" if n else "is being written"
        st.markdown(f"Your file {becomes}: {seconds:.0f} s so far.", width=560)
    elif this_session().own(Refused).wanted == wanted:
        st.markdown("Too many files are waiting. Press the button again in a minute.", width=560)
    else:
        st.markdown(kind.words, width=560)


def _ask(wanted: Wanted) -> None:
    this_session().own(Refused).wanted = None if FILES.ask(wanted) else wanted


def _address(page: str) -> tuple[str, str]:
    """The lesson as it is now, and where the app is if others get there too."""
    ours = {each.name for each in this_session().controls}
    texts = {name: text for name, text in settings.chosen().items() if name in ours}
    around = {each.name for each in AROUND} - BESIDE
    at = urlsplit(st.context.url or "")
    is_here = at.hostname in (None, "localhost", "127.0.0.1", "::1")
    app = "" if is_here else f"{at.scheme}://{at.netloc}{at.path.rstrip('/').rpartition('/')[0]}"
    return _with(page, {name: text for name, text in texts.items() if name not in around}), app


def _with(page: str, texts: Mapping[str, str]) -> str:
    return page + (f"?{urlencode(texts)}" if texts else "")


def _command(kind: Kind, address: str) -> None:
    """The one command that does the same."""
    quoted = f"'{address}'" if "?" in address else address  # percent-encoded: no quote within
    st.code(f"attention-explorer {kind.command} {quoted}", language=None, wrap_lines=True)
