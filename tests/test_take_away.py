"""What each lesson lets people take along, made by the page itself for every example."""

import itertools
import json
import random
import re
import shutil
from functools import cache
from typing import NamedTuple

import nbformat
import pytest
import torch

from attention_core import EXAMPLES, Inputs, attend, embed
from attention_core.export.exercise import exercise, exercise_steps, exercise_trace
from attention_core.export.notebook import notebook
from attention_core.export.telling import unnoticed
from attention_core.real_model.tiny import TINY
from attention_core.trace import Trace
from attention_ui.cards import show
from attention_ui.controls.lesson_session import this_session
from attention_ui.controls.shared import inputs_of
from attention_ui.frame import ends
from attention_ui.frame.file_names import file_name
from attention_ui.frame.take_away import DOWNLOADS, name_of, title_of
from fresh import BARE, all_of, close, solved, start_all
from recalculated import needs_office, wrong
from sampling import is_long, pairs
from serving import HANG
from visiting import LESSONS, _opened, stands, visit, words

SLOW = pytest.mark.slow("20 s: runs what every lesson gives")


class Ended(NamedTuple):
    """What a page ends with: its name, its trace, its sentence."""

    page: str
    trace: Trace
    sentence: str

    def name(self, kind, suffix=""):
        return name_of(self.page + suffix, self.trace, self.sentence, kind)


everywhere = pytest.mark.parametrize(
    "place",
    [
        pytest.param(each.values, id=each.id, marks=each.marks)
        for each in pairs(LESSONS, EXAMPLES, more=0)
    ],
)


@pytest.fixture(scope="module")
def view_at():
    @cache
    def at(place):
        found, drawn = [], ends.put_ends

        def noted(trace, *parts, **named):
            values = this_session().values
            sentence = inputs_of(values).sentence if "sentence" in values else ""
            found.append(Ended(place[0], trace, sentence))
            drawn(trace, *parts, **named)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ends, "put_ends", noted)
            patch.setattr(show, "put_picture", lambda *_: None)
            stands(visit(place[0], example=place[1]))
        return found[-1]

    return at


@pytest.fixture(scope="module")
def files_at(view_at):
    # A sheet is tried below, at one place of each lesson, and elsewhere at night.
    here = [each for each in DOWNLOADS if is_long() or each.label != "Spreadsheet"]

    @cache
    def made(place):
        view = view_at(place)
        return {each.label: each.make(view.trace, title_of(view.page)) for each in here}

    return made


@pytest.fixture(scope="module")
def ran(request, view_at, files_at, tmp_path_factory):
    """What programs, notebooks and solved exercises say and have, in one fresh interpreter."""
    mine = [item for item in request.session.items if item.path == request.path]
    asked_for = [getattr(item, "callspec", None) for item in mine]
    places = {each.params["place"] for each in asked_for if each and "place" in each.params}
    named, kept = {}, {}
    for place in sorted(places):
        made = files_at(place)
        exercise = json.loads(made["Exercise"])
        for ending, content in (
            (".py", made["Program"]),
            (".ipynb", json.loads(made["Notebook"])),
            ("-exercise.ipynb", solved(view_at(place).trace, exercise)),
        ):
            name = "-".join(place) + ending
            named[place, ending] = kept.setdefault(json.dumps([ending, content]), (name, content))
    folder = tmp_path_factory.mktemp("taken")
    # What a program of a real model asks its reader for, at its top: the model's file beside it.
    shutil.copy(TINY / "model.safetensors", folder)
    said = all_of(folder, start_all(folder, dict(kept.values())))
    return {which: said[name] for which, (name, _) in named.items()}


@SLOW
@everywhere
def test_what_is_taken_along_gives_the_tensors_of_the_screen(place, view_at, ran):
    trace = view_at(place).trace
    for ending in (".py", ".ipynb"):
        names = ran[place, ending]
        assert isinstance(names, dict), names
        for step in trace.values():
            assert close(names[step.name], step.value), step
    assert f"All {len(trace)} tensors are the lesson's." in ran[place, ".ipynb"]["said"]
    names, wanted = ran[place, "-exercise.ipynb"], exercise_steps(trace)
    assert isinstance(names, dict), names
    assert wanted
    assert names["said"].splitlines() == [f"✓ {step} is right." for step in wanted]


@SLOW
@everywhere
def test_files_are_valid_small_named_and_have_the_tensors_shown(place, view_at, files_at, tmp_path):
    view, files = view_at(place), files_at(place)
    path = tmp_path / "tensors.pt"
    path.write_bytes(files["All tensors"])
    held = torch.load(path, weights_only=True)
    assert list(held) == list(view.trace)
    for name, step in view.trace.items():
        assert held[name].dtype == step.value.dtype
        assert torch.equal(held[name], step.value)
    for label in ("Notebook", "Exercise"):
        nbformat.validate(nbformat.reads(files[label], as_version=nbformat.NO_CONVERT))
        assert len(files[label]) < 500_000
    names = [view.name(each.kind, each.suffix) for each in DOWNLOADS]
    assert len(set(names)) == len(names)
    assert all(name.startswith(place[0]) for name in names)
    assert (f"{place[0]}.py" in names) == ("token_ids" not in view.trace)  # no sentence of its own


LARGE = ("heads_learning", "tiny_language")
"""Sheets of 40,000 numbers and more, made of what `score_in_small` in the core has too."""


@SLOW
@needs_office
def test_the_spreadsheet_of_every_lesson_has_its_numbers_and_follows_a_change(view_at, tmp_path):
    lessons = LESSONS if is_long() else [each for each in LESSONS if each not in LARGE]
    traces = {lesson: view_at((lesson, "wild_cat")).trace for lesson in lessons}
    assert wrong(traces, tmp_path) == {}


MARK = "zqzq"
HOSTILE = [
    f"<img src=x onerror=alert(1)> <script>{MARK}</script>",
    f"**{MARK}** ![{MARK}](http://evil/x.png) $${MARK}$$ `{MARK}` [a](javascript:{MARK})",
    f"{MARK} \"\"\" ''' \\ \n\r\u2028 %magic !ls {{}} $x^$ \ud800 \x00 \u202e",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_of_a_person_is_in_a_cell_that_is_rendered(text):
    trace = attend(embed(Inputs(text, tokenizer="blanks_kept")))
    plain = attend(embed(Inputs("cat", tokenizer="blanks_kept")))
    for make in (notebook, exercise):
        made = nbformat.reads(json.dumps(make(trace, text)), as_version=nbformat.NO_CONVERT)
        nbformat.validate(made)
        written = [cell.source for cell in made.cells if cell.cell_type == "markdown"]
        usual = [c["source"] for c in make(plain)["cells"] if c["cell_type"] == "markdown"]
        assert MARK not in json.dumps([*written, made.metadata])
        assert [_no_sizes(cell) for cell in written] == [_no_sizes(cell) for cell in usual]


def _no_sizes(source):
    return re.sub(r"\d+", "n", source)


@pytest.mark.parametrize(("sentence", "name"), [
    ("The dog attacks the wild cat", "causal_mask-the_dog_attacks_the_wild_cat.py"),
    ("../../etc/passwd", "causal_mask-etc_passwd.py"),
    ('a"; rm -rf / #\x00\n.exe', "causal_mask-a_rm_rf_exe.py"),
    ("Zoë Şimşek", "causal_mask-zoe_simsek.py"),
    ("猫は\u202e寝る 🐈", "causal_mask.py"),
    ("", "causal_mask.py"),
    ("word " * 64, "causal_mask-word_word_word_word_word_word_word_word.py"),
    ("x" * 3_000, f"causal_mask-{'x' * 40}.py"),
    ("CON", "causal_mask-con.py"),
])  # fmt: skip
def test_a_file_is_named_by_its_lesson_and_what_is_plain_of_the_sentence(sentence, name):
    assert file_name("causal_mask", sentence, ".py") == name


@SLOW
def test_jupyter_says_what_is_wrong_and_nothing_else(view_at):
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    trace = view_at(("queries_keys_values", "life_is_short")).trace
    made = solved(trace, exercise(trace))
    right = f"\n    {trace['scaled_scores'].code}  #"
    for cell in made["cells"]:
        cell["source"] = cell["source"].replace(right, "\n    scaled_scores = scores / 24  #")
    node = nbformat.reads(json.dumps(made), as_version=nbformat.NO_CONVERT)
    # Streamlit, in this process, tells matplotlib to show nothing.
    env = {name: value for name, value in BARE.items() if name != "MPLBACKEND"}
    with pytest.raises(CellExecutionError) as stopped:
        NotebookClient(node, timeout=HANG, kernel_name="python3").execute(env=env)
    said = str(stopped.value)
    assert (
        "scaled_scores is not right yet.\nLikely: d in place of √d, or divided by √d twice: "
        in said
    )
    assert "Traceback" not in said


@SLOW
def test_a_sheet_too_large_is_refused_in_words_before_it_is_made(monkeypatch):
    monkeypatch.setattr("attention_core.export.spreadsheet.workbook.MOST_CELLS", 10)
    at = _opened("simplified_attention", {"predict": "off"}, row_take_away=True)
    assert not at.exception
    (button,) = (each for each in at.get("download_button") if "Spreadsheet" in each.proto.label)
    assert button.proto.disabled
    assert "a spreadsheet of more than 10 formulas" in words(at)


# --- exercises ------------------------------------------------------------------------------------
# The tiny model has biases of 0 and gains of 1, whose lines may be left out.
PLACES = list(itertools.product(sorted({*LESSONS} - {"real_model"}), EXAMPLES))
TELLING = [
    ("flash_attention", "wild_cat"),
    ("flash_attention", "journey_123"),
    ("transformer_block", "wild_cat"),
    ("simplified_attention", "sorry_dave_first_run"),
    ("cross_attention", "journey_123"),
    *random.Random(28).sample(PLACES, 5),
]
"""Where wrong lines gave right numbers once, and some more."""


CASES = [pytest.param(*each, marks=pytest.mark.slow("2 s: many lines")) for each in TELLING]
CASES += [pytest.param(*each, marks=pytest.mark.long) for each in PLACES]


@SLOW
@pytest.mark.parametrize(("lesson", "example"), CASES)
def test_no_wrong_line_and_no_operand_as_it_is_passes_in_an_exercise(lesson, example, view_at):
    trace = exercise_trace(view_at((lesson, example)).trace)
    wanted = exercise_steps(trace)
    needed = {name for step in wanted for name in (step, *trace[step].earlier())}
    found = unnoticed(trace, [trace[name] for name in trace if name in needed], wanted)
    # The whole memory is that after the last token, written in one line.
    assert not {line for _, line in found if not line.endswith("@ whole_memory")}
