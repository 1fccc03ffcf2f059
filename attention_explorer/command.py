"""The command `attention-explorer`: starts the app, checks code of your own, gets a model."""

import argparse
import os
import re
import socket
import sys
from collections.abc import Callable
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from attention_core.lights.own_code.trial import IS_TRIAL, tried, with_verdict

from . import __version__

NAME = "attention-explorer"
HERE = Path(__file__).resolve().parent
SERVED = HERE / "served" if (HERE / "served").is_dir() else HERE.parent
"""Where app.py, the pages and the theme are: installed, or in the project's own folder."""
STOPPED = 130
"""The status that shells give to what Ctrl-C has ended."""


def main(arguments: list[str] | None = None) -> int | str:
    """What is asked for on the command line: a status, or a sentence on why it cannot be done."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        if arguments[:1] == ["check"]:
            return _check(arguments[1:])
        asked = _asked(arguments)
        if find_spec("attention_ui.frame") is None:
            return "The app is not in this package of pictures: `pip install .` brings it."
        does = {"model": lambda _: _get_model(), "serve": _serve}
        does |= {"page": _writes("write_page"), "scorm": _writes("write_package")}
        does |= {"site": _writes("write_site")}
        return does.get(asked.command, _start)(asked)
    except KeyboardInterrupt:
        return STOPPED


def _asked(arguments: list[str]) -> argparse.Namespace:
    """What is asked for; lessons and their settings may also stand behind options."""
    parser = _parser()
    asked, rest = parser.parse_known_args(arguments)
    takes_more = hasattr(asked, "given")
    if rest and (not takes_more or any(each.startswith("-") for each in rest)):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if not takes_more:
        return asked
    given = [*asked.given, *rest]
    n_lessons = len(given) if asked.command == "scorm" else 1
    lessons = [each for each in given if not _IS_SETTING.match(each)][:n_lessons]
    try:
        asked.settings = dict(_setting(each) for each in given if each not in lessons)
        asked.lessons = [_lesson(each) for each in lessons]
    except argparse.ArgumentTypeError as error:
        parser.error(str(error))
    asked.app = asked.app or next(filter(None, map(_app_of, lessons)), None)
    return asked


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=NAME, description="Learn how attention works, number by number, in your browser."
    )
    parser.add_argument("--version", action="version", version=f"{NAME} {__version__}")
    parser.add_argument("--port", type=_port, help="where the app is served; else 8501 or the next")
    parser.add_argument(
        "--no-browser", action="store_true", help="say the address, open no browser"
    )
    parser.add_argument(
        "--model",
        metavar="PATH",
        type=_model,
        help="a model of yours for the page “A real model”: a GGUF file, or a folder with "
        "config.json, tokenizer.json and safetensors files",
    )
    parser.add_argument(
        "--recording",
        metavar="PATH",
        type=_recording,
        help="what `recorded` has seen of a model, saved by seen.save(…), for the same page: a "
        "file, or a folder with several",
    )
    commands = parser.add_subparsers(dest="command", title="instead of the app", metavar="")
    served = commands.add_parser("serve", help="serve it to others: serve --processes 2")
    # Given before the name of the command or after it.
    served.add_argument("--port", default=argparse.SUPPRESS, type=_port,
                        help="where the app is served; else 8501")  # fmt: skip
    served.add_argument("--address", default="", help="listen on this one alone; else on all")
    served.add_argument("--processes", type=lambda told: _whole(told, 64), default=1, metavar="N",
                        help="one for each core; more than one needs nginx")  # fmt: skip
    served.add_argument("--from-one-address", type=_whole, default=400, metavar="N",
                        help="of several processes: so many open connections, then 429; a page "
                        "holds one, and a school may have one address (400)")  # fmt: skip
    commands.add_parser("check", help="check an attention of yours: check my_file.py:attention")
    commands.add_parser("model", help="get SmolLM2, a real language model (98 MB, Apache-2.0)")
    # Of a positional argument, argparse has no help where its name is a pair: the usage says it.
    page = commands.add_parser(
        "page",
        help="write a lesson as one file: page causal_mask",
        usage=f"{NAME} page [options] lesson [name=value ...]",
    )
    page.add_argument("--strict", action="store_true",
                      help="for pages that let no text become code")  # fmt: skip
    page.add_argument(
        "given",
        nargs="+",
        metavar="lesson",
        help="a lesson's name, such as causal_mask, or the address that Share gives, or - "
        "to read either from standard input; then settings as in a link, such as seed=3",
    )
    scorm = commands.add_parser(
        "scorm",
        help="write lessons for a course platform: scorm causal_mask, SCORM 1.2",
        usage=f"{NAME} scorm [options] lesson [lesson ...] [name=value ...]",
    )
    scorm.add_argument(
        "given",
        nargs="+",
        metavar="lesson",
        help="as for page, but several lessons may be named: they make one course",
    )
    for each in (page, scorm):
        each.add_argument("-o", "--output", type=Path, help="the file; else the lesson's name")
        each.add_argument("--app", default=None, metavar="URL", type=_address,
                          help="where the app is, for links to what only it can do")  # fmt: skip
    site = commands.add_parser("site", help="write all lessons for a file host: site out/")
    site.add_argument("folder", type=Path, help="where the files go")
    site.add_argument("--lesson", action="append", default=[], metavar="NAME", dest="lessons",
                      help="this lesson alone, or one of several")  # fmt: skip
    site.add_argument("--app", default=None, metavar="URL", type=_address,
                      help="where the app is, for links to what only the app can do")  # fmt: skip
    return parser


_IS_SETTING = re.compile(r"\w+=")


def _lesson(text: str) -> tuple[str, dict[str, str]]:
    """The name of a lesson and its own settings, of an address if it is one."""
    at = urlsplit(sys.stdin.readline().strip() if text == "-" else text)
    own = dict(parse_qsl(at.query, keep_blank_values=True))
    return at.path.strip("/").rpartition("/")[2], {
        name: value for name, value in own.items() if not name.startswith("embed")
    }


def _app_of(text: str) -> str:
    """Where the app is that an address leads to; "" for one on this machine alone."""
    at = urlsplit(text)
    if at.scheme not in ("http", "https") or at.hostname in (None, "localhost", "127.0.0.1", "::1"):
        return ""
    return f"{at.scheme}://{at.netloc}{at.path.rstrip('/').rpartition('/')[0]}"


def _setting(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not (sign and name.isidentifier()):
        raise argparse.ArgumentTypeError(f"{text!r}: give a setting as name=value, such as seed=3")
    return name, value


def _address(text: str) -> str:
    if not re.match(r"https?://[^\s\"'<>]+$", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no address: it begins with https://")
    return text


def _port(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 65536:
        raise argparse.ArgumentTypeError(f"{text!r} is no port: choose a number from 1 to 65535")
    return int(text)


def _whole(text: str, most: int = 10_000) -> int:
    if not text.isdecimal() or not 0 < int(text) <= most:
        raise argparse.ArgumentTypeError(f"{text!r}: give a whole number from 1 to {most:,}")
    return int(text)


def _model(text: str) -> str:
    return _path(text, "a GGUF file or a model's folder")


def _recording(text: str) -> str:
    return _path(text, "what seen.save(…) has written, or of a folder with such files")


def _path(text: str, of: str) -> str:
    path = os.path.expanduser(text)  # which, unlike Path's, refuses no name
    if not os.path.exists(path):
        raise argparse.ArgumentTypeError(
            f"there is no file or folder {text!r}: give the path of {of}"
        )
    # A link stays one: where a model was downloaded, what it leads to has another name.
    return os.path.abspath(path)


def _check(arguments: list[str]) -> int:
    """Check a learner's code, in a process of its own as `check_my_attention.py` does."""
    if IS_TRIAL not in os.environ:
        return tried()
    from attention_core.lights.own_code import command

    def compare(*given: Any) -> tuple[str, bool]:
        from attention_core.comparing.own_code import compare_code

        found = compare_code(*given)
        return str(found), found.same

    return with_verdict(lambda: command.main(arguments, f"{NAME} check", compare))


def _get_model() -> int | str:
    from attention_ui.frame import models

    print("Getting SmolLM2 and what reads it ...", flush=True)
    *_, (_, wrong) = models.install()
    if wrong:
        return f"It could not be installed: {wrong}"
    print(f"SmolLM2 is there: `{NAME}` shows it on the page “A real model”.")
    return 0


def _writes(name: str) -> Callable[[argparse.Namespace], int | str]:
    """What writes lessons as files, by its name in `attention_ui/site/command.py`."""

    def write(asked: argparse.Namespace) -> int | str:
        if wrong := _no_writer():
            return wrong
        from attention_ui.site import command

        return getattr(command, name)(SERVED / "pages", asked)

    return write


def _no_writer() -> str:
    """What to do where the packages that write lessons as files are missing, in words."""
    from attention_ui.frame.started import no_writer

    return no_writer()


def _start(asked: argparse.Namespace) -> int | str:
    """Serve the app on this machine alone until Ctrl-C."""
    if wrong := _port_taken("localhost", asked.port) or _no_streamlit():
        return wrong
    from attention_ui.frame.started import ALONE

    os.environ[ALONE] = "1"
    _tell(asked)
    return _run("localhost", asked.port, headless=asked.no_browser)


def _serve(asked: argparse.Namespace) -> int | str:
    """Serve the app to others until it is stopped."""
    port = asked.port or 8501
    if wrong := _port_taken(asked.address, port) or _no_streamlit():
        return wrong
    from attention_ui.frame.started import ALONE

    os.environ.pop(ALONE, None)
    _tell(asked)
    if asked.processes == 1:
        return _run(asked.address or "0.0.0.0", port, headless=True)
    from .processes import serve

    return serve(SERVED / "app.py", asked.processes, asked.address, port, asked.from_one_address)


def _tell(asked: argparse.Namespace) -> None:
    """Tell the server, by its environment, which files it was started with."""
    from attention_ui.frame.started import MODEL, RECORDING

    for name, path in ((MODEL, asked.model), (RECORDING, asked.recording)):
        if path:
            os.environ[name] = path


def _run(address: str, port: int | None, headless: bool) -> int:
    options = [f"--server.address={address}"]
    if port:
        options.append(f"--server.port={port}")
    if headless:
        options.append("--server.headless=true")
    from streamlit.web import cli

    try:
        cli.main(["run", str(SERVED / "app.py"), *options], prog_name=NAME, standalone_mode=False)
    except cli.click.Abort:  # what becomes of Ctrl-C there
        return STOPPED
    return 0


def _port_taken(address: str, port: int | None) -> str:
    if port:
        try:
            socket.create_server((address, port)).close()
        except OSError as error:
            why = str(error.strerror).partition(" (while")[0]
            if address != "localhost":
                where = f"{address}, port {port}," if address else f"Port {port}"
                return f"{where} cannot be used ({why}): choose another by --address and --port."
            return (
                f"Port {port} cannot be used ({why}): choose another, or "
                "leave --port out and the first free one from 8501 is taken."
            )
    return ""


def _no_streamlit() -> str:
    """What to do where there is no Streamlit, in words; another one than was tried is said."""
    (wanted,) = (line for line in _needs() if line.startswith("streamlit"))
    install = f"{sys.executable} -m pip install '{wanted}'"
    try:
        here = metadata.version("streamlit")
    except metadata.PackageNotFoundError:
        return f"Streamlit, which shows the pages, is not installed. This brings it: {install}"
    (tried_with,) = re.findall(r">=([\d.]+)", wanted)
    if not f"{here}.".startswith(f"{tried_with}."):
        print(
            f"Streamlit {here} is installed, and this app was tried with {tried_with}. If a page "
            f"looks wrong, this brings the one that was tried: {install}",
            file=sys.stderr,
        )
    return ""


def _needs() -> list[str]:
    """What the app needs: as its package says, or in the project's own folder its list."""
    if HERE.parent == SERVED:
        return (SERVED / "requirements-app.txt").read_text(encoding="utf-8").splitlines()
    return metadata.requires(NAME) or []
