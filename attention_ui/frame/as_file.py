"""*Lesson*: what is on the screen as one HTML file, written by a process of its own.

To write it is work of some seconds to a minute, in Python throughout: a thread of the server would
take every other turn from a whole class. One file is written at a time, at low priority, and kept
for whoever asks for the same.
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

MOST_SECONDS = 180.0
"""For one file. A lesson with a training takes a minute."""
MOST_WAITING = 6
"""Files that are being written or wait to be."""
MOST_KEPT = 12
"""Files of at most 0.8 MB, for all visitors."""
BESIDE = {PREDICT.name, HIDE.name, LOCK.name, TASKS.name}
"""What a file takes over of what stands around every page."""
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


class CouldNot(RuntimeError):
    """A file that could not be written, in words."""


class Files:
    """Those of a server: by the addresses of their lessons, the latest last."""

    def __init__(self) -> None:
        self._by_address: OrderedDict[tuple[str, str], Written] = OrderedDict()
        self._lock = threading.Lock()
        self._one_at_a_time = ThreadPoolExecutor(1, "lesson as a file")

    def get(self, address: str, app: str) -> Written | None:
        """The file of a lesson as it is at an address, if anybody has asked for it."""
        return self._by_address.get((address, app))

    def ask(self, address: str, app: str) -> bool:
        """Have a file written. Returns whether it will be: not where too many are waiting."""
        with self._lock:
            there = self._by_address.get((address, app))
            if there and not there.wrong:
                return True
            waiting = [each for each in self._by_address.values() if not each.made.done()]
            if len(waiting) >= MOST_WAITING:
                return False
            made = self._one_at_a_time.submit(_write, address, app)
            self._by_address[address, app] = Written(made)
            self._by_address.move_to_end((address, app))
            for key, each in [*self._by_address.items()][:-MOST_KEPT]:
                if each.made.done():
                    del self._by_address[key]
            return True

    def n_before(self, one: Written) -> int:
        """How many files are written before this one."""
        every = [*self._by_address.values()]
        return sum(not each.made.done() and each.asked < one.asked for each in every)


def _write(address: str, app: str) -> bytes:
    """Write a file in another process, which is told what to write where nobody else can read."""
    command = [sys.executable, "-m", "attention_explorer", "page", "-"]
    if app:
        command += ["--app", app]
    if nice := shutil.which("nice"):
        command = [nice, "-n", "10", *command]
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "lesson.html")
        try:
            ended = subprocess.run(
                [*command, "-o", str(output)],
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
                f"It was not done after {MOST_SECONDS:g} seconds. On a computer of your own, the "
                "command below writes it."
            ) from None
        if ended.returncode or not output.exists():
            said = ended.stderr.strip().splitlines()
            raise CouldNot(said[-1] if ended.returncode == 1 and said else "It broke off.")
        return output.read_bytes()


FILES = Files()


@dataclass
class Refused:
    """For which address the queue was full when this visitor asked last."""

    address: str = ""


def as_file(page: str) -> None:
    """A button that has the lesson written as it is now, and then one that saves it."""
    address, app = _address(page)
    if no_writer():
        st.markdown(
            "The lesson itself, as one HTML file that needs no server: this app lacks what writes "
            'it. On a computer of yours, after `pip install ".[site]"` in the project’s folder:'
        )
        _command(address)
        return
    there = FILES.get(address, app)
    stage = _stage(there)
    every = 1.0 if stage == "on its way" else None
    st.fragment(_put, run_every=every)(page, address, app, stage)
    if stage == "failed":
        _command(address)


def _stage(there: Written | None) -> str:
    if there is None:
        return "not asked for"
    if not there.made.done():
        return "on its way"
    return "failed" if there.wrong else "there"


def _put(page: str, address: str, app: str, stage: str) -> None:
    there = FILES.get(address, app)
    if _stage(there) != stage:
        st.rerun()  # only a run of the page decides whether this looks every second
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="as_file"):
        _button_and_words(page, address, app, stage, there)


def _button_and_words(page: str, address: str, app: str, stage: str, there: Written | None) -> None:
    look = {"icon": ":material/web:", "width": 150, "key": "write_lesson"}
    if stage == "there":
        made = there.made.result()
        name = file_name(page, settings.values().get("sentence", ""), ".html")
        look |= {"key": "save_lesson", "type": "primary", "on_click": "ignore"}
        st.download_button("Save", made, name, "text/html", **look)
        st.markdown(f"The lesson as it is now: {len(made) / 1_000:,.0f} kB.", width=560)
        return
    st.button("Lesson", on_click=_ask, args=(address, app), disabled=stage == "on its way", **look)
    if stage == "failed":
        st.text(there.wrong, width=560)  # it may quote what was typed
    elif stage == "on its way":
        n, seconds = FILES.n_before(there), time.monotonic() - there.asked
        first = f" after {n} more" if n else ""
        st.markdown(f"It is being written{first}: {seconds:.0f} s so far.", width=560)
    elif this_session().own(Refused).address == address:
        st.markdown("This server is writing other files. Ask again in a minute.", width=560)
    else:
        st.markdown(WORDS, width=560)


WORDS = (
    "This lesson as it is now, as one HTML file: alive without a server and without the internet, "
    "to mail or to put up anywhere. Writing it takes some seconds to a minute."
)


def _ask(address: str, app: str) -> None:
    is_taken = FILES.ask(address, app)
    this_session().own(Refused).address = "" if is_taken else address


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


def _command(address: str) -> None:
    """The one command that does the same."""
    quoted = f"'{address}'" if "?" in address else address  # percent-encoded: no quote within
    st.code(f"attention-explorer page {quoted}", language=None, wrap_lines=True)
