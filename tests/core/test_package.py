"""What is installed: a wheel of the core alone, and the names that people import from it."""

import inspect
import os
import re
import shutil
import subprocess
import sys
from importlib import import_module, metadata
from pathlib import Path

import pytest

import attention_core
from attention_core.trace import Trace

ROOT = Path(__file__).resolve().parents[2]
README = "\n".join(
    (ROOT / each).read_text(encoding="utf-8") for each in ("README.md", "attention_core/README.md")
)
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def run(*arguments, **options):
    """Run Python; what it printed."""
    process = subprocess.run(
        [sys.executable, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        **options,
    )
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
def wheel(tmp_path_factory):
    """The wheel, built from a copy, so that nothing is left in this folder."""
    copy, made = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("wheel")
    for name in ("attention_core", "attention_ui", "benchmarks", "pages"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "app.py"):
        shutil.copy(ROOT / name, copy)
    pip = ("-m", "pip", "--disable-pip-version-check", "wheel", "--no-deps")
    run(*pip, "--no-build-isolation", "--no-index", "--wheel-dir", made, copy)
    (built,) = made.iterdir()
    return built


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """`run` in another folder, with the wheel, torch and safetensors in reach and nothing else."""
    target, beside = tmp_path_factory.mktemp("target"), tmp_path_factory.mktemp("beside")
    pip = ("-m", "pip", "--disable-pip-version-check", "install", "--no-deps", "--no-index")
    run(*pip, "--target", target, wheel)
    for distribution in [*needed_by("torch"), *needed_by("safetensors")]:
        for top in {file.parts[0] for file in distribution.files or []} - {"..", "__pycache__"}:
            if not (beside / top).exists():
                (beside / top).symlink_to(distribution.locate_file(top))
    bare = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (target, beside)))}
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    return lambda *arguments: run("-S", *arguments, cwd=elsewhere, env=bare)


@pytest.mark.slow("2 s: builds the wheel and installs it")
def test_the_wheel_has_the_core_its_data_and_two_requirements(installed, wheel):
    parts = wheel.name.split("-")
    assert parts[:2] == ["attention_core", attention_core.__version__]
    (target, *_) = installed("-c", "import sys; print(sys.path[1])").split("\n")
    wanted = {path.relative_to(ROOT) for path in (ROOT / "attention_core").rglob("*.py")}
    for data in ("*.json", "*.toml", "*.safetensors", "sentences.txt"):
        wanted |= {path.relative_to(ROOT) for path in (ROOT / "attention_core").rglob(data)}
    found = {path.relative_to(target) for path in Path(target).rglob("*") if path.is_file()}
    assert {path for path in found if ".dist-info" not in str(path) and path.suffix != ".pyc"} == (
        wanted
    )
    (distribution,) = metadata.distributions(path=[target])
    needed = [each for each in distribution.requires if "extra ==" not in each]
    names = [re.match(r"[\w-]+", each)[0] for each in needed]
    assert names == ["torch", "safetensors"]


def test_the_requirements_are_those_of_the_app():
    pinned = set(
        re.findall(r"torch(?:==|-)(\d+\.\d+)\.\d+", (ROOT / "requirements.txt").read_text())
    )
    (low,) = pinned
    major, minor = map(int, low.split("."))
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'"torch>={low},<{major}.{minor + 1}"' in text
    asked = (ROOT / "requirements.txt").read_text()
    (reader,) = re.findall(r"^safetensors\S+", asked, re.MULTILINE)
    assert f'"{reader}"' in text


@pytest.mark.slow("2 s: builds the wheel and installs it")
@pytest.mark.parametrize(
    "name", ["streamlit", "altair", "pandas", "attention_ui", "pages", "tests"]
)
def test_nothing_of_the_app_is_in_reach_of_the_installed_core(installed, name):
    code = f"import importlib.util as util; print(util.find_spec({name!r}))"
    assert installed("-c", code).strip() == "None"


@pytest.mark.slow("2 s: builds the wheel and installs it")
def test_the_readme_s_lines_run_with_the_installed_core_and_print_what_they_say(installed):
    assert len(BLOCKS) > 1
    said = re.findall(r"^print\(.*\)  # (.*)$", "\n".join(BLOCKS), re.MULTILINE)
    printed = installed("-c", "\n".join(BLOCKS)).splitlines()
    assert len(said) > 3
    assert [line for line in said if line not in printed] == []


@pytest.mark.slow("2 s: builds the wheel and installs it")
def test_the_published_numbers_come_out_of_the_installed_core(installed):
    *_, total = installed("-m", "attention_core.published").splitlines()
    assert total.startswith("total")
    assert "2,563 of 2,603" in total


def test_the_changelog_tells_of_this_version():
    said = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\n## {attention_core.__version__}\n" in said


# --- the names ------------------------------------------------------------------------------------


def test_the_readme_imports_from_the_package_itself():
    lines = [line for line in "\n".join(BLOCKS).splitlines() if "attention_core" in line]
    assert lines
    assert all(line.startswith("from attention_core import ") for line in lines)


def compositions():
    """Every function of the core that adds steps to a trace and gives it back."""
    for path in sorted((ROOT / "attention_core" / "mechanism").glob("[a-z]*.py")):
        module = import_module(f"attention_core.mechanism.{path.stem}")
        for name, function in vars(module).items():
            own = inspect.isfunction(function) and function.__module__ == module.__name__
            if (
                own
                and not name.startswith("_")
                and inspect.signature(function).return_annotation is (Trace)
            ):
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


def test_a_name_that_is_not_there_is_named():
    with pytest.raises(AttributeError, match="has no attribute 'atention'"):
        _ = attention_core.atention
