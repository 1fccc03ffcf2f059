"""Rooms and doors: who may import whom, the list of lessons, and calls that are not made."""

import ast
import re
import sys
import tomllib
from functools import cache
from importlib import import_module
from itertools import groupby

import pytest

from attention_ui.frame.contents import LESSONS, lesson
from attention_ui.reactive.control import Control
from conftest import ROOT, ran

PAGES = sorted(ROOT.glob("pages/*.py"))
CORE = sorted(ROOT.glob("attention_core/**/*.py"))
UI = sorted(ROOT.glob("attention_ui/**/*.py"))
CHARTS = [path for path in UI if "import altair" in path.read_text(encoding="utf-8")]
APP = ROOT / "app.py"
SHOWN = [APP, *PAGES, *UI]
RULES = tomllib.loads((ROOT / "tests" / "rooms.toml").read_text(encoding="utf-8"))
DOORS = {
    f"{package}.{room}": doors.replace("TOP", RULES["TOP"]).replace("PUBLIC", RULES["PUBLIC"])
    for package in ("attention_core", "attention_ui")
    for room, doors in RULES[package].items()
}


def every(paths):
    """Runs a check on each of these files, in one test that says all that is wrong."""

    def of(check):
        def test():
            wrong = {}
            for path in paths:
                try:
                    check(path)
                except AssertionError as error:
                    wrong[path.relative_to(ROOT).as_posix()] = str(error)
            assert wrong == {}

        test.__name__, test.__doc__ = check.__name__, check.__doc__
        return test

    return of


@cache
def tree(path):
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def imports(path):
    """The dotted names of everything a file imports, with relative ones written out.

    `from a import b` gives `a` and `a.b`, since b may be a module. Found as well where they stand
    in a function, and as `import_module("name")` or `__import__("name")`.
    """
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    names = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            home = ".".join([*above, *([node.module] if node.module else [])])
            names |= {home} | {f"{home}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Call):
            function = getattr(node.func, "attr", getattr(node.func, "id", None))
            if function in ("import_module", "__import__"):
                names |= {arg.value for arg in node.args if isinstance(arg, ast.Constant)}
    return names


def packages(path):
    return {name.partition(".")[0] for name in imports(path)}


def is_in(name, rooms):
    return any(name == room or name.startswith(f"{room}.") for room in rooms)


def modules_in_reach(path):
    """The files of attention_ui that a file imports, and those that these import, and so on."""
    reached, ahead = set(), [path]
    while ahead:
        found = ahead.pop()
        if found in reached:
            continue
        reached.add(found)
        for name in imports(found):
            if is_in(name, ["attention_ui"]):
                module = ROOT.joinpath(*name.split("."))
                files = (module.with_suffix(".py"), module / "__init__.py")
                ahead += [file for file in files if file.exists()]
    return reached


def test_the_rooms_are_not_empty():
    assert all(len(files) > 1 for files in (PAGES, CORE, UI, CHARTS))


def test_every_room_is_a_package_else_it_is_not_installed():
    folders = {path.parent for path in [*CORE, *UI]}
    assert [each for each in sorted(folders) if not (each / "__init__.py").exists()] == []


# --- who may import whom --------------------------------------------------------------------------
@every(CORE)
def test_the_core_imports_torch_the_standard_library_and_in_one_module_each_a_file_format(path):
    formats = {
        ROOT / "attention_core/files/tensor_file.py": "safetensors",
        ROOT / "attention_core/export/spreadsheet/workbook.py": "xlsxwriter",
        ROOT / "attention_core/real_model/cutting.py": "tokenizers",
    }
    known = {"attention_core", "torch", formats.get(path), *sys.stdlib_module_names}
    assert packages(path) <= known


def test_whatever_is_imported_is_asked_for():
    """A package that another one brings today it may leave out tomorrow."""
    files = ("requirements-app.txt", "requirements-notebook.txt", "requirements-site.txt")
    written = "\n".join((ROOT / file).read_text() for file in files)
    asked = re.findall(r"^[A-Za-z]+(?:2mathml)?", written, re.MULTILINE)
    others = {"pillow": "PIL", "vl": "vl_convert", "XlsxWriter": "xlsxwriter"}
    others |= {"markdown": "markdown_it", "fonttools": "fontTools"}
    asked = [others.get(name, name) for name in asked]
    known = {"attention_core", "attention_ui", *asked, *sys.stdlib_module_names}
    files = [*SHOWN, *CORE, *ROOT.glob("attention_explorer/*.py")]
    assert set().union(*map(packages, files)) - known == {"attention_explorer"}


@every([APP, *PAGES])
def test_a_page_imports_what_pages_share_and_no_other_page(path):
    shared = {"attention_core", "attention_ui", "streamlit"}
    assert packages(path) <= shared | set(sys.stdlib_module_names)


def rooms():
    found = {path.parent.relative_to(ROOT).parts[:2] for path in [*CORE, *UI]}
    return {".".join(parts) for parts in found if len(parts) == 2}


def test_every_room_says_which_rooms_it_imports():
    found = [path.relative_to(ROOT).with_suffix("").parts for path in [*CORE, *UI]]
    alone = {".".join(parts) for parts in found if len(parts) == 2 and parts[1] != "__init__"}
    assert set(DOORS) == rooms() | alone


def test_no_two_rooms_of_the_core_import_each_other():
    above = []
    for room, doors in DOORS.items():
        if room.startswith("attention_core."):
            assert set(doors.split()) <= set(above), room
            above.append(room.removeprefix("attention_core."))


@every([path for path in [*CORE, *UI] if path.stem != "__init__" or path.parent.parent != ROOT])
def test_a_room_imports_only_through_its_doors(path):
    package, room, *_ = path.relative_to(ROOT).with_suffix("").parts
    own = f"{package}.{room}"
    allowed = [own, *(f"{package}.{door}" for door in DOORS[own].split())]
    inside = {name for name in imports(path) if name.startswith(f"{package}.")}
    # `from ..reactive import fields` names the room too, which has nothing of its own.
    ways = {door.rpartition(".")[0] for door in allowed if door.count(".") > 1}
    assert {name for name in inside if not is_in(name, allowed)} <= ways


@every(PAGES)
def test_a_page_uses_of_the_engine_what_is_written_for_pages(path):
    public = [f"attention_ui.{door}" for door in RULES["PUBLIC"].split()]
    engine = {name for name in imports(path) if name.startswith("attention_ui.reactive.")}
    assert {name for name in engine if not is_in(name, public)} == set()


@every([*ROOT.glob("attention_ui/lessons/*/*.py"), *PAGES])
def test_a_lesson_takes_nothing_from_another_lesson_s_room(path):
    own = path.parent.name
    if path in PAGES:  # its own, or the one that it says it shares
        own = lesson(path.stem).room or path.stem
    own = f"attention_ui.lessons.{own}"
    lessons = {name for name in imports(path) if name.startswith("attention_ui.lessons.")}
    assert {name for name in lessons if not is_in(name, [own])} == set()


@every(CHARTS)
def test_streamlit_is_not_in_reach_of_a_chart(path):
    for module in modules_in_reach(path):
        assert "streamlit" not in packages(module), module


def imported_in_a_fresh_process(code, *names):
    code = f"{code}\nimport sys\nprint(*[name for name in {names!r} if name in sys.modules])"
    process = ran(sys.executable, "-c", code)
    assert process.returncode == 0, process.stderr
    return process.stdout.split()


@pytest.mark.parametrize("code", [
    "import attention_core",
    "from attention_core import EXAMPLES, TOKENIZERS",
    "import attention_core.text.vocabulary",
    "from attention_core.published import marking, printed, recipe; printed.notebook('wild_cat')",
])  # fmt: skip
def test_the_core_s_first_names_are_there_without_torch(code):
    heavy = ("torch", "safetensors.torch", "numpy", "pandas", "altair", "streamlit")
    assert imported_in_a_fresh_process(code, *heavy) == []


@pytest.mark.slow("2 s: in a process of its own")
def test_a_notebook_draws_without_streamlit():
    code = "from attention_explorer import show"
    assert imported_in_a_fresh_process(code, "torch", "streamlit", "pandas") == ["torch"]


@pytest.mark.slow("20 s: every page, in a process of its own")
def test_no_page_loads_what_only_torch_s_compiler_or_a_hand_out_needs():
    run = "import sys; sys.path.insert(0, 'tests'); from visiting import LESSONS, visit_deeper;"
    # PyTorch's own layer, whose `key_padding_mask` needs it, is shown where somebody opens it.
    run += "[visit_deeper(each) for each in LESSONS if each != 'cross_attention']"
    assert imported_in_a_fresh_process(run, "torch", "sympy", "torch._dynamo", "segno") == ["torch"]


def test_the_package_and_its_help_load_nothing_heavy():
    code = "import attention_explorer.command"
    assert imported_in_a_fresh_process(code, "torch", "streamlit") == []


def test_the_home_page_is_on_the_screen_before_torch():
    assert imported_in_a_fresh_process("import app", "torch") == []


# --- one owner for each decision ------------------------------------------------------------------
OWNERS = {
    "session_state": "reactive/session reactive/visibility reactive/widget",  # what lasts
    "is_stale": "reactive/fragments",  # what runs
    "waiting": "reactive/fragments reactive/visibility",  # what waits, and who tells the browser
    "rerun_stale": "reactive/fragments",  # when: at the end of an event, and nowhere else
    "Cache": "cards/cached reactive/cache reactive/page",  # what is kept for everybody
    "is_asked": "cards/page cards/question",  # what is covered
    # What looks at a source and tracks nothing: what a card shows of it would stay as it was.
    "unread": "cards/changing cards/show lessons/real_model/write_on "
    "reactive/control reactive/settings",
    "currents": "reactive/cache reactive/source",
    # What goes through the gate that is closed while something is made for everybody.
    "the_session": "cards/page reactive/long_run reactive/code_check reactive/session "
    "reactive/settings reactive/source",
    "gate_opened": "frame/models frame/recordings reactive/code_check reactive/isolation "
    "reactive/session reactive/source",
    "tracked_later": "cards/page reactive/code_check reactive/source",
    "made_for_everybody": "reactive/cache reactive/isolation reactive/page",
}
"""What stands for a decision, and the modules that may use it: see “Who decides” in NOTES.md."""


@pytest.mark.parametrize(("name", "owners"), OWNERS.items())
def test_what_one_module_decides_is_in_no_other(name, owners):
    users = []
    for path in [*PAGES, *UI]:
        if name in used_in(path) and path.parent.name != "streamlit_workarounds":
            users.append(path.relative_to(ROOT).with_suffix("").as_posix())
    allowed = sorted(f"attention_ui/{each}" for each in owners.split())
    assert users == allowed, f"`{name}` is for these alone: ask them, or add a module to OWNERS"


@cache
def used_in(path):
    """What a file has the attributes of, imports, or gives a name."""
    nodes = [*ast.walk(tree(path))]
    used = {each.attr for each in nodes if isinstance(each, ast.Attribute)}
    used |= {each.rpartition(".")[2] for each in imports(path)}
    return used | {each.name for each in nodes if hasattr(each, "name")}


def test_the_engine_knows_nothing_of_attention():
    """So that another app could take the folder."""
    for path in ROOT.glob("attention_ui/reactive/*.py"):
        assert "attention_core" not in packages(path), path.name
        code = path.read_text(encoding="utf-8")
        known = re.search(r"\b(attention|trace|weights|quer(y|ies)|tokens?)\b", code)
        assert not known, path.name


def test_a_control_has_one_name_in_the_address_and_in_python():
    """Its name is the parameter, the key and the argument as well."""
    made = {}
    for path in UI:
        module = import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
        for name, each in vars(module).items():
            if isinstance(each, Control):
                made[name, each.name] = module.__name__
    assert len(made) > 150
    wrong = {each: where for each, where in made.items() if each[0] != each[1].upper()}
    assert wrong == {}, "(Python name, name in a link) differ: rename both, or old links break"


# --- the map --------------------------------------------------------------------------------------
GUIDES = [
    "README.md",
    "NOTES.md",
    "CONTRIBUTING.md",
    *ROOT.glob("[a-z]*/README.md"),
    *ROOT.glob("docs/*.md"),
]


MADE_BY_THE_READER = {"pages/my_lesson.py", "check_my_attention.py"}


@pytest.mark.parametrize("guide", GUIDES, ids=str)
def test_a_guide_names_only_paths_that_are_there(guide):
    path = r"`([\w./-]+(?:/|\.(?:py|md|conf|txt|toml|json))|[\w.-]+/[\w./-]+\.\w+)`"
    named = re.findall(path, (ROOT / guide).read_text("utf-8"))
    assert named or guide not in ("README.md", "NOTES.md", "CONTRIBUTING.md")
    places = (ROOT, (ROOT / guide).parent)
    lost = [each for each in named if not any((place / each).exists() for place in places)]
    lost = [each for each in lost if each not in MADE_BY_THE_READER]
    assert lost == [], f"{guide} names these files, which are not there: where are they now?"


FOREIGN = "amazonaws ancestors checkip dark_theme docker dump ExecReload MAINPID pipx vmap"
"""Words of other programs that guides tell of."""


@pytest.mark.parametrize("guide", GUIDES, ids=str)
def test_a_guide_names_only_what_the_code_has(guide):
    words = re.sub(r"```.*?```", "", (ROOT / guide).read_text("utf-8"), flags=re.DOTALL)
    told = " ".join(re.findall(r"`([^`\n]+)`", words))
    known = known_words() | {*FOREIGN.split()}
    gone = [each for each in re.findall(r"[A-Za-z_]\w{2,}", told) if each not in known]
    assert gone == [], f"{guide} names these, which are in no file of code: what is it called now?"
    (targets,) = re.findall(r"^\.PHONY: (help .*)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    made = re.findall(r"(?:`|^    )make (\w+)", words, re.MULTILINE)
    assert {*made} <= {*targets.split()}, f"{guide} tells to make what the Makefile does not"


@cache
def known_words():
    """All that stands in a file of code, or in the name of one."""
    folders = ["attention_*", "benchmarks", "core_only", "docs", "examples", "pages", "tests"]
    files = [*ROOT.glob("*"), *ROOT.glob(".streamlit/*")]
    files += [path for each in folders for path in ROOT.glob(f"{each}/**/*")]
    names = {word for path in files for word in re.findall(r"\w+", path.name)}
    code = (".py", ".toml", ".js", ".css", ".txt", ".service", ".conf", "")
    read = [path for path in files if path.is_file() and path.suffix in code]
    return names.union(*(re.findall(r"[A-Za-z_]\w*", path.read_text("utf-8")) for path in read))


def test_the_map_of_the_readme_has_every_room():
    named = set(re.findall(r"^\| `([\w/]+)/` \|", (ROOT / "README.md").read_text(), re.MULTILINE))
    assert {name.replace(".", "/") for name in rooms()} <= named


# --- the list of lessons --------------------------------------------------------------------------
def test_each_page_is_one_lesson_of_the_list_and_the_other_way_round():
    assert sorted(lesson.page for lesson in LESSONS) == [f"pages/{path.name}" for path in PAGES]


def test_a_group_of_the_contents_stands_together():
    groups = [group for group, _ in groupby(each.group for each in LESSONS)]
    assert len(groups) == len(set(groups))


# --- calls that are not made ----------------------------------------------------------------------
@pytest.mark.parametrize("unsafe", ["unsafe_allow_html", "use_container_width", "components.v1"])
def test_what_is_unsafe_or_about_to_go_occurs_nowhere(unsafe):
    assert [path for path in [*SHOWN, *CORE] if unsafe in path.read_text(encoding="utf-8")] == []


@every(SHOWN)
def test_html_is_written_only_from_constants(path):
    called = {node.func: node for node in ast.walk(tree(path)) if isinstance(node, ast.Call)}
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Attribute) and node.attr == "html":
            assert node in called, f"line {node.lineno}: html under another name"
            assert is_constant(called[node]), f"line {node.lineno}: html of something computed"
        if isinstance(node, ast.ImportFrom) and node.module == "streamlit":
            assert "html" not in [alias.name for alias in node.names], f"line {node.lineno}"


def is_constant(call):
    """Whether a call has one argument: a string as it stands, or a name in capitals."""
    if len(call.args) != 1 or call.keywords:
        return False
    (body,) = call.args
    name = ast.unparse(body).rpartition(".")[2]
    return isinstance(body, ast.Constant) or (
        isinstance(body, ast.Name | ast.Attribute) and name.isupper()
    )


@pytest.mark.slow("9 s; mypy sees what imports are gone")
def test_the_benchmarks_start():
    """They are run by hand, and seldom: what they import may be gone."""
    done = ran(sys.executable, "-m", "benchmarks", "--help")
    assert done.returncode == 0, done.stderr
    results = (ROOT / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8")
    measured = re.findall(r"^<sub>`(\w+)`", results, re.MULTILINE)
    assert {"crowd", *measured} <= {*re.findall(r"\w+", done.stdout)}


# --- tests ----------------------------------------------------------------------------------------
CLOCKS = ("monotonic", "perf_counter", "time")
LIMITED = {"timeout": 0, "wait_for": 1, "wait": 0, "join": 0, "set_default_timeout": 0}
"""What waits, and which of its arguments says how long at most."""


@every([*(ROOT / "tests").rglob("*.py")])
def test_a_test_waits_for_a_state_and_not_for_a_time(path):
    """Beside other work all takes longer: whatever limits it is a HANG, which measures nothing."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func).rpartition(".")[2]
            limits = [each.value for each in node.keywords if each.arg in ("timeout", "seconds")]
            limits += [each.value for each in node.keywords if each.arg == "default_timeout"]
            limits += node.args[LIMITED[called] :][:1] if called in LIMITED else []
            if ast.unparse(node.func).startswith("AppTest.from_"):
                assert limits, f"line {node.lineno}: a page has 3 s, if nothing is said"
            numbers = [each for each in limits if isinstance(each, ast.Constant | ast.BinOp)]
            told = [ast.unparse(each) for each in numbers if "HANG" not in ast.unparse(each)]
            assert not [each for each in told if each[0] in "0123456789"], f"line {node.lineno}"
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and is_clock(node.left):
            assert ast.unparse(node.right) == "HANG", f"line {node.lineno}"
        if isinstance(node, ast.Assert):
            measured = [each for each in ast.walk(node) if is_clock(each)]
            others = [each for each in ast.walk(node) if isinstance(each, ast.BinOp)]
            assert not (measured and others), f"line {node.lineno} asserts how long it took"


def is_clock(node):
    return isinstance(node, ast.Call) and ast.unparse(node.func) in [f"time.{e}" for e in CLOCKS]
