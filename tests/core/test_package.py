"""What is installed: wheels of the app and of the core alone, and the names to import from it."""

import asyncio
import dataclasses
import inspect
import os
import re
import shutil
import sys
import tomllib
from contextlib import suppress
from importlib import import_module, metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import attention_core
from attention_core import operations
from attention_core.trace import Trace
from conftest import ROOT, ran
from serving import new_session, start_server, stream
from visitor import Visitor

README = "\n".join(
    (ROOT / each).read_text(encoding="utf-8") for each in ("README.md", "attention_core/README.md")
)
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
WITH_TORCH_ALONE = [each for each in BLOCKS if not each.startswith("# With these extras")]
NEEDS = (ROOT / "requirements-app.txt").read_text(encoding="utf-8")
ASKED = list(dict.fromkeys(re.findall(r"^[\w-]+", NEEDS, re.MULTILINE)))
PIP = ("-m", "pip", "--disable-pip-version-check")


def run(*arguments, **options):
    process = ran(sys.executable, *arguments, **options)
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout


def needed_by(name):
    """The distributions that one needs, itself among them, as they are installed here."""
    found, ahead = {}, [name]
    while ahead:
        name = ahead.pop()
        try:
            found[name] = metadata.distribution(name)
        except metadata.PackageNotFoundError:  # asked for on other systems only
            continue
        wanted = [each for each in found[name].requires or [] if "extra ==" not in each]
        names = {re.match(r"[\w.-]+", each)[0].lower() for each in wanted}
        ahead += names - found.keys()
    return found.values()


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    """The wheels of the app and of the core, built from a copy, so that nothing is left here."""
    copy, made = tmp_path_factory.mktemp("copy") / "all", tmp_path_factory.mktemp("wheels")
    left_out = (".git", ".venv*", "__pycache__", "*.egg-info", "build", "docs", "tests")
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*left_out))
    for folder in (copy, copy / "core_only"):
        options = ("--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", made)
        run(*PIP, "wheel", *options, folder)
    core, app = sorted(made.iterdir())
    return app, core


def installed_alone(wheel, beside, tmp_path_factory):
    """The folder a wheel is in, and options of a process elsewhere with what it needs alone."""
    target = tmp_path_factory.mktemp("target")
    # In a folder of another name Streamlit thinks that it is being developed.
    needed = tmp_path_factory.mktemp("needed") / "site-packages"
    needed.mkdir()
    run(*PIP, "install", "--no-deps", "--no-index", "--target", target, wheel)
    for distribution in {each.name: each for name in beside for each in needed_by(name)}.values():
        for top in {file.parts[0] for file in distribution.files or []} - {"..", "__pycache__"}:
            if not (needed / top).exists():
                (needed / top).symlink_to(distribution.locate_file(top))
    bare = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (target, needed)))}
    return target, {"cwd": tmp_path_factory.mktemp("elsewhere"), "env": bare}


def asked_by(target):
    """What the distribution in a folder asks for, by name, without its extras."""
    (distribution,) = metadata.distributions(path=[str(target)])
    wanted = [each for each in distribution.requires if "extra ==" not in each]
    return list(dict.fromkeys(re.match(r"[\w-]+", each)[0] for each in wanted))


def shipped(target):
    """The files that a wheel has put into a folder, without its description and its command."""
    found = {path.relative_to(target) for path in target.rglob("*") if path.is_file()}
    others = (".dist-info", ".pyc", "bin/")
    return {path for path in found if not any(each in path.as_posix() for each in others)}


def to_ship(*folders):
    """What wheels should have of these: the modules and their data."""
    found = (path for folder in folders for path in (ROOT / folder).rglob("*"))
    files = (path for path in found if path.is_file() and path.suffix not in (".md", ".pyc"))
    return {path.relative_to(ROOT) for path in files}


@pytest.fixture(scope="module")
def core(wheels, tmp_path_factory):
    """The folder of the installed core, and the options of a process that has it alone."""
    return installed_alone(wheels[1], ("torch", "safetensors"), tmp_path_factory)


@pytest.fixture(scope="module")
def installed(core):
    """`run` in another folder, with the core, torch and safetensors in reach alone."""
    return lambda *arguments: run("-S", *arguments, **core[1])


@pytest.fixture(scope="module")
def app(wheels, tmp_path_factory):
    """The folder of the installed app, and the options of a process that has it alone."""
    return installed_alone(wheels[0], ASKED, tmp_path_factory)


@pytest.mark.slow("20 s: builds the wheels and installs them")
def test_the_wheel_of_the_core_has_its_data_and_two_requirements(core, wheels):
    assert wheels[1].name.split("-")[:2] == ["attention_core", attention_core.__version__]
    draws = to_ship("attention_explorer", "attention_ui/picture", "attention_ui/notebook")
    draws |= {Path("attention_ui/__init__.py"), Path("attention_ui/words.py")}
    assert shipped(core[0]) == to_ship("attention_core") | draws
    assert asked_by(core[0]) == ["torch", "safetensors"]


@pytest.mark.slow("20 s: builds the wheels and installs them")
def test_the_wheel_of_the_app_has_every_page_and_its_data_and_asks_for_the_requirements(app):
    served = Path("attention_explorer/served")
    there = {Path("app.py"), Path(".streamlit/config.toml"), *to_ship("pages")}
    wanted = to_ship("attention_core", "attention_explorer", "attention_ui")
    assert shipped(app[0]) == wanted | {served / path for path in there}
    assert asked_by(app[0]) == ASKED


@pytest.mark.slow("20 s: builds the wheels and installs them")
def test_the_installed_command_serves_its_pages_in_their_theme(app, tmp_path):
    target, options = app
    start = ("-S", target / "bin" / "attention-explorer", "--no-browser", "--port={port}")
    server = start_server(tmp_path / "output.txt", start=start, **options)
    try:
        for page in ("", "simplified_attention"):
            visitor = asyncio.run(Visitor(server.url, page).enter())
            assert visitor.errors == []
        assert visitor.sliders
        assert asyncio.run(theme(server.url)).link_underline
        assert "http://localhost:" in server.output()  # and not for all
    finally:
        server.stop()


async def theme(url):
    async with stream(url) as socket:
        return (await new_session(socket)).custom_theme


def test_the_core_asks_for_what_the_app_asks_for():
    readers = (ROOT / "requirements-model.txt").read_text(encoding="utf-8")
    draws = (ROOT / "requirements-notebook.txt").read_text(encoding="utf-8")
    lines = [*NEEDS.splitlines(), *readers.splitlines(), *draws.splitlines()]
    core = tomllib.loads((ROOT / "core_only" / "pyproject.toml").read_text(encoding="utf-8"))
    others = core["project"]["dependencies"]
    for extra in core["project"]["optional-dependencies"].values():
        others += extra
    assert set(others) <= set(lines)


def test_an_index_or_its_mirror_has_all_of_it_and_a_torch_that_is_there_stays():
    wanted = [Requirement(line) for line in NEEDS.splitlines() if line[0] != "#"]
    assert not [each for each in wanted if each.url or each.marker]
    (torch,) = [each.specifier for each in wanted if each.name == "torch"]
    assert torch.contains("2.13.0+cu130")
    assert not torch.contains("2.14.0"), "what was not tried"


@pytest.mark.parametrize("folder", [".", "core_only"])
def test_an_older_python_is_told_which_one_is_needed_before_anything_is_fetched(folder):
    older = "sys.version, sys.version_info = '3.10.12 (main)', (3, 10, 12)"
    setup = str(ROOT / folder / "setup.py")
    code = f"import runpy, setuptools, sys; {older}; runpy.run_path({setup!r})"
    told = ran(sys.executable, "-c", code)
    assert told.returncode == 1
    assert told.stderr == "This project needs Python 3.11 or newer, and this is 3.10.12.\n"


@pytest.mark.slow("20 s: builds the wheels and installs them")
def test_pictures_are_drawn_without_the_app(wheels, tmp_path_factory, installed):
    core = tomllib.loads((ROOT / "core_only" / "pyproject.toml").read_text(encoding="utf-8"))
    extra = core["project"]["optional-dependencies"]["notebook"]
    draws = [re.match(r"[\w-]+", each)[0] for each in extra]
    options = installed_alone(wheels[1], ["torch", "safetensors", *draws], tmp_path_factory)[1]
    code = "from attention_core import *; from attention_explorer import show; import sys;"
    code += "html = show(attend(embed('the cat sat'))).page(); print(len(html) > 300_000);"
    code += "print({'streamlit', 'pandas'} & {*sys.modules})"
    assert run("-S", "-c", code, **options).split() == ["True", "set()"]
    asks = "import attention_explorer.command as c; print(c.main([]), c.main(['check', '--help']))"
    assert "The app is not in this package" in run("-S", "-c", asks, **options)
    bare = "import attention_explorer as a, attention_core as c; t = c.attend(c.embed('a cat'));"
    told = installed("-c", f"{bare} print(t._repr_mimebundle_()['text/plain'])")
    assert f"pictures need packages that are not here: pip install {' '.join(draws)}" in told


@pytest.mark.slow("20 s: builds the wheels and installs them")
def test_the_readme_s_lines_and_the_published_numbers_come_out_of_the_installed_core(installed):
    assert len(BLOCKS) > 1
    command = "import runpy; runpy.run_module('attention_core.published', run_name='__main__')"
    lines = "\n".join([*WITH_TORCH_ALONE, command])
    *printed, total = installed("-c", lines).splitlines()
    assert missing_in(printed) == []
    assert total.startswith("total")
    assert "2,563 of 2,603" in total


def missing_in(printed):
    """What comments of the READMEs say that lines print, and they do not."""
    said = re.findall(r"^print\(.*\)  # (.*)$", "\n".join(BLOCKS), re.MULTILINE)
    assert len(said) > 10
    return [line for line in said if line not in printed]


def test_the_calls_of_the_readmes_give_what_they_say(capsys):
    """With all extras here. Those with torch alone run again out of the wheel: see above."""
    assert BLOCKS != WITH_TORCH_ALONE
    exec("\n".join(BLOCKS), {})
    assert missing_in(capsys.readouterr().out.splitlines()) == []


def test_the_changelog_tells_of_this_version_right_below_what_is_unreleased():
    said = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## (.*)$", said, re.MULTILINE)
    assert re.fullmatch(rf"{attention_core.__version__}, \d{{4}}-\d\d-\d\d", versions[1])


def test_the_readme_imports_from_the_package_itself():
    code = "\n".join(WITH_TORCH_ALONE)
    lines = [line for line in code.splitlines() if "attention_core" in line]
    assert lines
    assert all(line.startswith("from attention_core import ") for line in lines)


def compositions():
    """Every function of the core that adds steps to a trace and gives it back."""
    for path in sorted((ROOT / "attention_core" / "mechanism").glob("[a-z]*.py")):
        module = import_module(f"attention_core.mechanism.{path.stem}")
        for name, function in vars(module).items():
            own = inspect.isfunction(function) and function.__module__ == module.__name__
            if own and name[0] != "_" and inspect.signature(function).return_annotation is Trace:
                yield name, function


def test_every_composition_stands_in_the_package():
    found = dict(compositions())
    assert len(found) > 15
    for name, function in found.items():
        assert getattr(attention_core, name, None) is function, name


@pytest.mark.parametrize("name", attention_core.__all__)
def test_every_name_of_the_package_is_there_and_explained(name):
    value = getattr(attention_core, name)
    assert not callable(value) or value.__doc__
    assert name in dir(attention_core)


def defaults():
    """What each call of the package and of its operations takes where nothing is said, in words."""
    public = {name: getattr(attention_core, name) for name in attention_core.__all__}
    public |= {f"operations.{name}": each for name, each in vars(operations).items()
               if inspect.isclass(each) and issubclass(each, operations.Operation)}  # fmt: skip
    for name, each in public.items():
        if not callable(each) or (inspect.isclass(each) and issubclass(each, Exception)):
            continue
        for one in inspect.signature(each).parameters.values():
            if one.default not in (one.empty, None) and one.name[0] != "_":
                yield f"{name} {one.name}", _in_words(one.default)


def _in_words(value):
    with suppress(TypeError):
        if dataclasses.is_dataclass(value) and value == type(value)():
            return f"{type(value).__name__}()"
    return str(value)


def test_who_says_nothing_gets_the_same_in_every_version():
    known = tomllib.loads((ROOT / "tests/core/defaults.toml").read_text(encoding="utf-8"))
    assert dict(defaults()) == known, "a default is a promise: tell of another one in CHANGELOG.md"


def test_a_name_that_is_not_there_is_named():
    with pytest.raises(AttributeError, match="has no attribute 'atention'"):
        _ = attention_core.atention
