"""The notebook: its asserts name the first step that differs, its picture shows any name."""

import json
import warnings

import pytest
import torch

from attention_core import EXAMPLES, Trace, embed
from attention_core import operations as ops
from attention_core.export import checker
from attention_core.export.checker import unpacked
from attention_core.export.notebook import MOST_NUMBERS, notebook, packed, picture
from attention_core.mechanism.masking import attend_masked
from traces import example_trace, lesson_trace


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
        assert any(line.startswith(f"{step.code}  # (") for line in code)
    assert len({cell["id"] for cell in cells}) == len(cells)


@pytest.mark.parametrize("name", ["rows", "panels", "panel", "value", "names", "steps", "row"])
def test_a_step_may_be_called_what_a_notebook_calls_things_inside(name):
    trace = Trace()
    given = trace.step(name, ops.Draw("normal", (2, 3), seed=1), axes=("query", "key"))
    trace.step("weights", ops.Softmax(), given, axes=("query", "key"))
    assert torch.equal(run(notebook(trace))[name], given.value)


@pytest.mark.parametrize(
    "name", ["heatmap", "compare", "checked", "plt", "F", "class", "None", *vars(checker)]
)
def test_no_step_may_be_called_what_a_notebook_needs(name):
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
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    word = letter * 4_800
    trace = Trace(query=(word, "b"), key=(word, "b"))
    trace.step("weights", ops.Given(((0.25, 0.75), (0.5, 0.5))), axes=("query", "key"))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        names = run(notebook(trace))
    names["plt"].close("all")
    assert not [each for each in said if "layout" in str(each.message)]
