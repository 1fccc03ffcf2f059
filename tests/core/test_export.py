"""Programs and notebooks: in a fresh interpreter they give the same tensors, whatever the text."""

import ast
import json
import math
import warnings
from dataclasses import replace

import pytest
import torch

from attention_core import EXAMPLES, Inputs, Trace, attend, embed, expand_query, program
from attention_core import operations as ops
from attention_core.export import checker
from attention_core.export.checker import unpacked
from attention_core.export.exercise import exercise, exercise_steps
from attention_core.export.notebook import MOST_NUMBERS, notebook, packed, picture
from attention_core.mechanism.masking import attend_masked
from attention_core.mechanism.multi_head import (
    add_batched,
    add_big_projection,
    add_head_parts,
    attend_heads,
    switch_off,
)
from attention_core.mechanism.trainable import add_other_ways, attend_trainable, expand_token
from attention_core.recipes import HeadsRecipe, Projections
from fresh import all_of, end, solved, start, start_all
from traces import LESSONS, VARIANTS, all_ways_to_hide, example_trace, lesson_trace, score_in_small
from traces import workshop as every_operation


# --- the traces -----------------------------------------------------------------------------------
def own_trace(*texts, **inputs):
    return expand_query(attend(embed(Inputs(*texts, **inputs))), 0)


def forked_draws():
    """Draws that share beginnings: the program must go back to where each one follows on."""
    skipped = ops.Draw("uniform", (7,), seed=123)
    first = ops.Draw("normal", (3,), after=skipped)  # an odd number: torch keeps one in store
    second = ops.Draw("linear", (5, 3), after=first)
    other_seed = ops.Draw("uniform", (2, 3), seed=69)
    after_first_again = ops.Draw("normal", (5,), after=first)
    after_other = ops.Draw("integers", (2, 3), after=other_seed, below=11)
    after_second = ops.Draw("uniform", (2,), after=second)
    steps = {
        "first": first, "second": second, "other_seed": other_seed,
        "after_first_again": after_first_again, "after_other": after_other,
        "after_second": after_second, "first_again": first, "skipped": skipped,
        "after_skipped": first,
    }  # fmt: skip
    trace = Trace()
    for name, draw in steps.items():
        trace.step(name, draw, axes=[f"{name}_{place}" for place in range(len(draw.shape))])
    return trace


def special_numbers():
    """Numbers that are hard to write: to the last bit, tiny, huge, negative zero, none at all."""
    numbers = (1 / 3, 0.1, -0.0, 1e-45, -1.17549435e-38, 3.4028235e38, 16777217.0, math.pi * 1e20)
    trace = Trace()
    given = trace.step("given", ops.Given(numbers), axes=("key",))
    trace.step("no_numbers", ops.Given((math.nan, math.inf, -math.inf)), axes=("d",))
    trace.step("ids", ops.Given(((3, -2), (0, 20_000))), axes=("i", "j"))
    rows = trace.step("rows", ops.Given((numbers, numbers[::-1])), axes=("i", "key"))
    edits = ((1, 0, 1 / 7), (0, 1, -0.0), (0, 3, math.inf), (1, 7, 1e-45))
    trace.step("edited", ops.Edit(edits), rows, axes=("i", "key"))
    trace.step("shares", ops.Softmax(), given, axes=("key",))
    trace.step("one_edit", ops.Edit(((1, 7, 5.0),)), rows, axes=("i", "key"))
    return trace


def further_forms():
    trace = Trace()
    keys = trace.step("keys", ops.Draw("normal", (7, 5), seed=3), axes=("key", "d"))
    zeroed = trace.step("zeroed", ops.ScaleRow(6, 0.0), keys, axes=("key", "d"))
    trace.step("zeroed_units", ops.L2Normalize(), zeroed, axes=("key", "d"))
    trace.step("placed", ops.Sinusoid(13, 7), axes=("place", "key"))
    trace.step("placed_odd", ops.Sinusoid(3, 1), axes=("query", "one"))
    return trace


def own_matrices():
    """Seeds of their own, biases, and typed numbers, whole ones too: all out of the plain order."""
    trace = embed(EXAMPLES["wild_cat"].inputs)
    edits = (((0, 1, 2),), (), ((2, 0, -0.5), (1, 1, 1 / 3)))
    recipe = Projections(3, 5, "linear", seeds=(None, 7, None), bias=True, edits=edits, scale="d")
    return expand_token(add_other_ways(attend_trainable(trace, recipe)), 3)


def all_ways_to_heads():
    """Heads behind the embeddings' draw, masked, taken apart, and one of them switched off."""
    recipe = HeadsRecipe(n_heads=3, d_head=5, d_value=2, d_model=7, seed=None, causal=True)
    trace = attend_heads(embed(EXAMPLES["wild_cat"].inputs), recipe)
    return switch_off(add_head_parts(add_big_projection(add_batched(trace))), 1)


def seen_down_the_columns():
    trace = embed(EXAMPLES["wild_cat"].inputs)
    return attend_heads(trace, HeadsRecipe(causal=True), softmax_dim=-2)


HOSTILE = {
    "quotes": """it's "quoted" '''thrice''' \"""and again\""" ' " """,
    "backslashes": r"\ \\ \n \" \' \x41 \u0041 \N{DIGIT ONE} ends with \\"[:-1],
    "newlines": "first\nsecond\r\nthird\rfourth\ttab\n\n  indented",
    "other_line_ends": "a\x0bb\x0cc\x1cd\x1ee\x85f\u2028g\u2029h",
    "control": "bell\x07 escape\x1b[31m delete\x7f",
    "html": "<script>alert(1)</script> <b>&amp;</b> <!-- -->",
    "emoji": "👨\u200d👩\u200d👧 🏴\U000e0067\U000e007f 🇫🇷 ❤\ufe0f",
    "right_to_left": "שלום \u202eevil\u202c العربية \u2066x\u2069",
    "braces": "{} {0} {name!r} {{}} %s %d %(x)s $x ${x} {",
    "code": "import\tos; os.system('true') #\nimport sys\n__import__('os') \"); raise SystemExit",
    "comment": "# not a comment # torch.manual_seed(0)",
    "names": "torch generator tokens vocabulary token_ids None True print",
    "numbers": "1 -1 0x10 1e400 nan inf",
}


TRACES = {f"{name}-as_published": lambda name=name: example_trace(name) for name in EXAMPLES}
TRACES |= {
    f"wild_cat-{each}": lambda each=each: example_trace("wild_cat", each) for each in VARIANTS
}
TRACES |= {name.replace("/", "-"): lambda name=name: lesson_trace(name) for name in LESSONS}
TRACES["every_operation"] = every_operation
TRACES |= {
    "unknown_tokens": lambda: own_trace("the wild cat, the dog", learned_from="the cat,"),
    "no_blanks": lambda: embed(replace(EXAMPLES["wild_cat"].inputs, drop_blanks=True)),
    "one_token": lambda: own_trace("cat", d_in=1),
    "duplicates": lambda: own_trace("is it is", vocabulary="duplicates"),
    "random_ids": lambda: own_trace("is it is", vocabulary="random", d_in=2),
    "forked_draws": forked_draws,
    "special_numbers": special_numbers,
    "further_forms": further_forms,
    "own_matrices": own_matrices,
    "all_ways_to_hide": all_ways_to_hide,
    "all_ways_to_heads": all_ways_to_heads,
    "seen_down_the_columns": seen_down_the_columns,
    "score_in_small": score_in_small,
}
TRACES |= {
    f"hostile-{name}": lambda text=text: own_trace(text, tokenizer="blanks_kept", d_in=2, seed=3)
    for name, text in HOSTILE.items()
}
every_trace = pytest.mark.parametrize("name", TRACES)


# --- one fresh interpreter for all programs -------------------------------------------------------
@pytest.fixture(scope="module")
def programs():
    titles = {f"hostile-{name}": text for name, text in HOSTILE.items()}
    return {name: program(make(), titles.get(name, name)) for name, make in TRACES.items()}


@pytest.fixture(scope="module")
def in_fresh_interpreters(programs, tmp_path_factory):
    """All programs and notebooks run in one process, and one as `python file.py` in another."""
    folder = tmp_path_factory.mktemp("programs")
    files = {f"{name}.py": source for name, source in programs.items()}
    for name, make in TRACES.items():
        trace = make()
        files[f"{name}.ipynb"] = notebook(trace, HOSTILE.get(name.removeprefix("hostile-"), name))
        files[f"{name}-exercise.ipynb"] = solved(trace, exercise(trace, name))
    running = start_all(folder, files)
    printed = end(start(folder, "all/wild_cat-as_published.py"))
    return all_of(folder, running), printed


runs_every_program = pytest.mark.slow("14 s: runs every program, once for all that ask for it")


@pytest.fixture
def ran(in_fresh_interpreters):
    return in_fresh_interpreters[0]


# --- what the programs give -----------------------------------------------------------------------
@every_trace
@runs_every_program
def test_a_program_gives_the_same_tensors(name, ran):
    """To the last bit: the same calls, in the same torch, on the same machine, in one thread."""
    names = ran[f"{name}.py"]
    assert isinstance(names, dict), names
    for step in TRACES[name]().values():
        assert names[step.name].dtype == step.value.dtype, step
        assert names[step.name].shape == step.value.shape, step
        assert same_bits(names[step.name], step.value), step


@every_trace
@runs_every_program
def test_a_notebook_gives_the_same_tensors_and_says_so(name, ran):
    names, trace = ran[f"{name}.ipynb"], TRACES[name]()
    assert isinstance(names, dict), names
    assert all(same_bits(names[step.name], step.value) for step in trace.values())
    assert f"All {len(trace)} tensors are the lesson's." in names["said"]
    assert "No picture" in names["said"]


@every_trace
@runs_every_program
def test_the_lines_of_a_trace_solve_its_exercise(name, ran):
    names, trace = ran[f"{name}-exercise.ipynb"], TRACES[name]()
    assert isinstance(names, dict), names
    assert names["said"].splitlines() == [f"✓ {step} is right." for step in exercise_steps(trace)]


def same_bits(left, right):
    """Whether two tensors are equal, where NaN is equal to NaN and 0 is not equal to -0."""
    if not torch.equal(left.isnan(), right.isnan()):
        return False
    left, right = (side.where(~side.isnan(), 0) for side in (left, right))
    return torch.equal(left, right) and torch.equal(left.signbit(), right.signbit())


@runs_every_program
def test_a_program_run_as_a_file_prints_each_tensor_with_its_name_and_shape(in_fresh_interpreters):
    trace, (_, rest) = example_trace("wild_cat"), in_fresh_interpreters
    for step in trace.values():
        block = f"{step.name}\n{tuple(step.value.shape)}\n{step.value}\n\n"
        before, found, rest = rest.partition(block)
        assert found, f"{step.name} is not printed, or not in its place: {before[:500]}"
        assert before == ""
    assert rest == ""


@every_trace
def test_a_program_imports_torch_and_what_reads_a_file_where_it_reads_one(name, programs):
    imported = []
    for node in ast.walk(ast.parse(programs[name])):
        if isinstance(node, ast.Import):
            imported += [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            imported += [f"{node.module}.{alias.name}" for alias in node.names]
        assert not (isinstance(node, ast.Name) and node.id in ("__import__", "eval", "exec"))
    reads = ["safetensors.safe_open"] if " = safe_open(" in programs[name] else []
    if " = from_gguf(" in programs[name]:
        reads += ["functools.cache", "gguf.GGUFReader", "gguf.quants.dequantize"]
    assert imported == ["torch", *reads]


# --- hostile text ---------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "title",
    ["coding: latin-1", "-*- coding: klingon -*-", "a\x00b", "\ud800"],
    ids=["latin-1", "klingon", "null", "surrogate"],
)
def test_no_title_changes_how_the_file_is_read_and_what_none_can_hold_is_written_otherwise(title):
    source = program(embed(Inputs("a\ud800b \udfff\x00 café", tokenizer="blanks")), title)
    names = {}
    exec(compile(source.encode("utf-8"), "program", "exec"), names)
    assert names["tokens"] == ["a\ud800b", "\udfff\x00", "café"]


# --- the notebook ---------------------------------------------------------------------------------
@pytest.fixture(autouse=True)
def _print_as_before():
    """A notebook says how its tensors are printed; the other tests print as torch does."""
    yield
    torch.set_printoptions(profile="default")


def run(made, **changed):
    """The names that a notebook leaves, some of its lines written in another way."""
    names = {"__name__": "__main__"}
    for cell in made["cells"]:
        if cell["cell_type"] == "code":
            lines = [changed.get(i.partition(" = ")[0], i) for i in cell["source"].split("\n")]
            exec("\n".join(lines), names)
    return names


@pytest.mark.slow("1 s: runs notebooks")
@pytest.mark.parametrize(("step", "line"), [
    ("embedding_table", "embedding_table = torch.zeros(6, 3)"),
    ("mask", "mask = torch.ones(6, 6, dtype=torch.bool)"),
    ("masked_scores", "masked_scores = scores.masked_fill(~mask, -1e9)"),
    ("scores", "scores = embeddings @ embeddings.mT * 1.0001"),
    ("context_vectors", "context_vectors = weights @ embeddings + 2e-6"),
    ("weights", "weights = masked_scores.softmax(dim=-1)[:5]"),
])  # fmt: skip
def test_the_first_step_that_differs_is_named(step, line):
    made = notebook(attend_masked(embed(EXAMPLES["journey_123"].inputs)))
    run(made)
    with pytest.raises(AssertionError, match=f"^{step} is the first step that differs."):
        run(made, **{step: line})


def test_each_step_has_a_cell_of_words_and_one_of_code():
    trace = lesson_trace("qkv/wild_cat")
    cells = notebook(trace)["cells"]
    for step in trace.values():
        at = next(i for i, c in enumerate(cells) if c["source"].startswith(f"## `{step.name}` "))
        words, code = cells[at]["source"], cells[at + 1]["source"].split("\n")
        assert words.startswith(f"## `{step.name}` ({step.shape})\n\n$${step.formula}$$\n\n")
        assert all(f"${given.symbol}$ is `{given.name}`" in words for given in step.inputs)
        assert code[-1] == step.name
        sizes = ", ".join(map(str, step.value.shape))
        assert f"{step.code}  # ({sizes}) {' '.join(step.axes)}" in code
    assert len({cell["id"] for cell in cells}) == len(cells)


@pytest.mark.parametrize("name", ["rows", "panels", "panel", "value", "names", "steps", "row"])
def test_a_step_may_be_called_what_a_notebook_calls_things_inside(name):
    trace = Trace()
    given = trace.step(name, ops.Draw("normal", (2, 3), seed=1), axes=("query", "key"))
    trace.step("weights", ops.Softmax(), given, axes=("query", "key"))
    assert torch.equal(run(notebook(trace))[name], given.value)


NEEDED = "heatmap compare checked plt F class None name tensor unknown positions columns angles"


@pytest.mark.parametrize("name", [*NEEDED.split(), *vars(checker)])
def test_no_step_may_be_called_what_a_program_or_a_notebook_needs(name):
    with pytest.raises(ValueError, match="cannot name a step"):
        Trace().step(name, ops.Given((1.0, 2.0)), axes=("d",))


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool, torch.bfloat16])
def test_numbers_come_out_of_their_text_again(dtype):
    value = (torch.arange(35).reshape(5, 7) % 3).to(dtype)
    text, stride = packed(value.mT)
    assert stride == 1
    assert torch.equal(unpacked(str(dtype).removeprefix("torch."), text), value.mT.reshape(-1))


def test_of_a_large_tensor_a_part_is_compared():
    value = torch.randn(10_007, generator=torch.Generator().manual_seed(1))
    text, stride = packed(value)
    assert torch.equal(unpacked("float32", text), value[::stride])
    assert len(value[::stride]) <= MOST_NUMBERS < 2 * len(value[::stride])
    assert len(json.dumps(notebook(example_trace("sorry_dave")))) < 100_000


def test_every_column_and_every_row_is_among_what_is_compared():
    value = torch.arange(8 * 64 * 64).reshape(8, 64, 64)
    places = value.reshape(-1)[:: packed(value)[1]]
    assert len((places % 64).unique()) == len((places // 64 % 64).unique()) == 64
    assert len((places // 4096).unique()) == 8


def test_a_long_token_is_cut_where_the_picture_names_it():
    """A picture makes room for every label: one of thousands of characters took 6 GB."""
    word = "long" * 1_000
    trace = Trace(query=(word, "b"), key=(word, "b"))
    trace.step("weights", ops.Given(((0.25, 0.75), (0.5, 0.5))), axes=("query", "key"))
    line = picture(trace, trace["weights"])
    assert "longlonglonglon…" in line
    assert len(line) < 200


@pytest.mark.parametrize("letter", ["l", "W", "𝕎", "字"])
def test_a_picture_has_room_for_its_labels(letter):
    """A small matrix with long tokens made matplotlib warn that it has no room for them."""
    pytest.importorskip("matplotlib").use("Agg")
    word = letter * 4_800
    trace = Trace(query=(word, "b"), key=(word, "b"))
    trace.step("weights", ops.Given(((0.25, 0.75), (0.5, 0.5))), axes=("query", "key"))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        names = run(notebook(trace))
    names["plt"].close("all")
    assert not [each for each in said if "layout" in str(each.message)]
