"""The exercise: its checks name the first wrong step and the mistake, and let right lines pass."""

import math
import re
import tomllib
from dataclasses import replace
from functools import cache
from pathlib import Path

import hypothesis
import pytest
import torch
from hypothesis import strategies as st

from attention_core import EXAMPLES, Trace, attention, embed, encode_block
from attention_core import operations as ops
from attention_core.experiments.learning import Goal, attend_to_learn, with_gradients
from attention_core.experiments.training import TrainingSettings, start
from attention_core.experiments.variance import few_trials
from attention_core.export.exercise import exercise, exercise_steps, exercise_trace
from attention_core.export.notebook import MOST_NUMBERS
from attention_core.mechanism.builder import project as project_from
from attention_core.mechanism.flash import attend_in_tiles
from attention_core.mechanism.masking import attend_masked
from attention_core.mechanism.memory import attend_with_memory
from attention_core.mechanism.multi_head import add_big_projection, add_head_parts, attend_heads
from attention_core.mechanism.trainable import attend_trainable, project
from attention_core.mistakes.base import is_mistake
from attention_core.mistakes.lines import mistakes
from attention_core.published.building import BUILDERS
from attention_core.recipes import HeadsRecipe, Projections
from attention_core.rounding import largest
from checks import random
from fresh import solved
from traces import LESSONS, example_trace, lesson_trace, workshop


def causal():
    """Masked attention on 6 tokens, 3 wide, divided."""
    return attend_masked(embed(EXAMPLES["journey_123"].inputs), scale="sqrt_d")


def trainable():
    """Queries, keys and values of 5 and 7 columns from 11 tokens."""
    recipe = Projections(d_query=5, d_value=7, start="linear", seed=3, bias=True)
    return attend_trainable(embed(EXAMPLES["wild_cat"].inputs), recipe)


def heads():
    """Masked heads that are split, joined and taken apart: 3 heads, 5 and 2 wide."""
    recipe = HeadsRecipe(n_heads=3, d_head=5, d_value=2, d_model=7, seed=3, causal=True)
    trace = attend_heads(embed(EXAMPLES["wild_cat"].inputs), recipe)
    return add_head_parts(add_big_projection(trace))


def square():
    """Two heads, 2 wide, from vectors 4 wide: two different mistakes give the same numbers."""
    recipe = HeadsRecipe(n_heads=2, d_head=2, d_value=2, d_model=4, seed=3)
    return attend_heads(embed(EXAMPLES["wild_cat"].inputs), recipe)


def of_flash_attention(name):
    """A block of queries, cut as the lesson cuts it: of its loop, one round is asked for."""
    trace = embed(EXAMPLES[name].inputs)
    attend_in_tiles(trace, *project(trace, EXAMPLES[name].projections), 3, 3, blocks=[0])
    return trace


def block():
    """A transformer block whose gains are 1 and whose biases are 0, as they start."""
    return encode_block(random(7, 6, seed=1), norm="before", n_heads=2)


def crossed():
    """Five tokens ask, and seven of another sentence answer."""
    trace = Trace()
    asks, answers = (
        trace.step(name, ops.Draw("normal", (n, 3), seed=n), axes=(axis, "d_in"))
        for name, n, axis in (("embeddings", 5, "token"), ("other_embeddings", 7, "other"))
    )
    sources = {"query": asks, "key": answers, "value": answers}

    def matrix(role):
        draw = ops.Draw("normal", (3, 4), seed=len(role))
        return trace.step(f"W_{role}", draw, axes=("d_in", "d_query")), None

    attention(trace, *project_from(trace, sources, matrix))
    return trace


def learned():
    """A causal layer of 5 columns that predicts next tokens, and its backward pass."""
    embedded = embed(EXAMPLES["named_features"].inputs)
    matrices = start(6, 8, TrainingSettings(width=5), torch.float32)
    return with_gradients(attend_to_learn(embedded, matrices, Goal("next_token")))


def memory():
    """A memory by the delta rule, with decay: of its loop, one token is asked for."""
    trace = embed(EXAMPLES["named_features"].inputs)
    made = project(trace, EXAMPLES["named_features"].projections)
    decays = trace.step("decays", ops.Given(((0.75,),) * 9), axes=("key", "row"))
    attend_with_memory(trace, *made, decays=decays, delta=True)
    return trace


TRACES = {
    each.__name__: each
    for each in (*(causal, trainable, heads, square, workshop), *(block, crossed, learned, memory))
}
TRACES |= {
    "plain": lambda: example_trace("journey_123"),
    "one_row": lambda: lesson_trace("softmax_or_sum/wild_cat"),
    "tiles": lambda: of_flash_attention("named_features"),
    "few_trials": lambda: few_trials(0),
    "by_sum": lambda: example_trace("wild_cat", "sum"),
    "together": lambda: example_trace("wild_cat", "together"),
    "tokens": lambda: embed(EXAMPLES["life_is_short"].inputs, with_product=True),
}
TRACES = {name: cache(lambda make=make: exercise_trace(make())) for name, make in TRACES.items()}


class Learner:
    """An exercise in which every line is right so far."""

    def __init__(self, trace):
        self.trace = exercise_trace(trace)
        self.names = {"__name__": "__main__"}
        for cell in solved(trace, exercise(trace))["cells"]:
            if cell["cell_type"] == "code":
                exec(cell["source"], self.names)

    def write(self, step, *lines, **others):
        """What the check says of these lines; "" if they pass. `others` replace some tensors."""
        right = {name: self.names[name] for name in (step, *others)}
        self.names |= others
        source = "\n    ".join([f'with checked("{step}"):', *lines])
        try:
            exec(source, self.names)
        except self.names["Wrong"] as wrong:
            return str(wrong)
        finally:
            self.names |= right
        return ""


@pytest.fixture(scope="module")
def learners():
    return {name: Learner(make()) for name, make in TRACES.items()}


# --- the mistakes people make, written as they write them -----------------------------------------
LINES = tomllib.loads(Path(__file__).with_name("written_lines.toml").read_text(encoding="utf-8"))


@pytest.mark.filterwarnings("ignore:The use of `x.T`")
@pytest.mark.parametrize(
    ("name", "line", "mistake"),
    [(name, *line) for name, lines in LINES["wrong"].items() for line in lines],
)
def test_a_known_mistake_is_named_with_its_step(name, line, mistake, learners):
    step = line.partition(" = ")[0]
    said = learners[name].write(step, line)
    assert said.startswith(f"{step} is not right yet.\n")
    likely = said.splitlines()[1]
    assert likely.startswith("Likely: ")
    assert mistake in likely.partition(": ")[2]


@pytest.mark.slow("3 s: every wrong line of every exercise")
@pytest.mark.parametrize("name", TRACES)
def test_every_mistake_that_changes_the_numbers_is_refused_and_named(name, learners):
    """Another mistake may be named, if it gives the same numbers, or stops with the same error."""
    learner, refused, with_lines = learners[name], 0, 0
    for step in map(learner.trace.__getitem__, exercise_steps(learner.trace)):
        known = mistakes(step.operation, *(given.name for given in step.inputs))
        with_lines += bool(known)
        for mistake in known:
            said = learner.write(step.name, f"{step.name} = {mistake.line}")
            if said:
                refused += 1
                assert said.startswith(f"{step.name} is not right yet.\nLikely: "), said
            else:
                made = eval(mistake.line, dict(learner.names))
                slack = 1e-4 * largest(step.value) if step.value.is_floating_point() else 0
                assert torch.allclose(made, step.value, atol=float(slack), equal_nan=True)
    assert refused >= with_lines > 1


# --- right lines, written in other ways -----------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "lines"), [(name, each) for name, lines in LINES["right"].items() for each in lines]
)
def test_a_right_line_passes_however_it_is_written(name, lines, learners):
    assert learners[name].write(lines.partition(" = ")[0], *lines.splitlines()) == ""


# --- more numbers than are kept one by one --------------------------------------------------------
@pytest.fixture(scope="module")
def large():
    recipe = HeadsRecipe(n_heads=8, d_head=4, d_value=4, d_model=8, seed=3, causal=True)
    inputs = replace(EXAMPLES["wild_cat"].inputs, sentence="a b " * 16)
    learner = Learner(attend_heads(embed(inputs), recipe))
    assert learner.trace["head_scores"].value.numel() > MOST_NUMBERS
    return learner


@pytest.mark.slow("2 s: many wrong lines")
@hypothesis.settings(max_examples=60, deadline=None)
@hypothesis.given(st.data())
def test_no_single_cell_of_many_may_be_wrong(large, data):
    step = data.draw(st.sampled_from(["head_scores", "head_masked_scores", "head_weights"]))
    shape = large.trace[step].value.shape
    at = tuple(data.draw(st.integers(0, size - 1)) for size in shape)
    right = large.trace[step].value[at].item()
    size = largest(large.trace[step].value)
    wrong = data.draw(st.sampled_from([99.0, math.nan, math.inf, -math.inf, 0.001 * size]))
    wrong = right + wrong if wrong == 0.001 * size else wrong
    if wrong == right:
        return
    said = large.write(step, large.trace[step].code, f"{step}[{at}] = float('{wrong}')")
    assert said.startswith(f"{step} is not right yet.\nIt differs first "), said
    assert f"head {at[0]}, query " in said


def test_cells_of_many_that_change_places_are_wrong(large):
    swapped = "head_weights[0, 40, :2] = head_weights[0, 40, :2].flip(0)"
    said = large.write("head_weights", large.trace["head_weights"].code, swapped)
    assert "between head 0, query 39, key 60 and head 0, query 40, key 4." in said


def test_many_numbers_pass_however_they_are_written(large):
    line = "torch.einsum('hid,hjd->hij', head_queries.double(), head_keys.double()).float()"
    assert large.write("head_scores", f"head_scores = {line}") == ""
    assert large.write("head_weights", "head_weights = F.softmax(head_masked_scores, -1)") == ""


# --- what else a check says -----------------------------------------------------------------------
CHANGED = "scores = scores.index_put((torch.tensor(4), torch.tensor(7)), torch.tensor(9.0))"
DTYPE = "Yours are torch.float16, which has fewer digits: use torch.float32."
SAID = [
    ("trainable", "scores = ...", "It is still to be written"),
    ("trainable", "scores = [[1.0]]", "It must be a tensor, and yours is of type list"),
    ("trainable", "scores = torch.zeros(2, 3)", "must be query 11 × key 11, and yours is 2 × 3"),
    ("trainable", "scores = torch.tensor(1.0)", "yours is a single number"),
    ("trainable", "scores = (queries @ keys.mT) > 0", "be torch.float32, and yours are torch.bool"),
    ("trainable", "scores = queries @ nothing", "Your line stopped with NameError"),
    ("trainable", "scores = 3 * (queries @ keys.mT)", "Each of your numbers is 3 times what is"),
    ("trainable", "scores = queries @ keys.mT + torch.eye(11)", "first at query 0, key 0: yours"),
    ("trainable", "scores = (queries @ keys.mT) * torch.nan", "yours is nan, wanted"),
    (
        "trainable",
        f"scores = queries @ keys.mT; {CHANGED}",
        "at query 4, key 7: yours is 9, wanted",
    ),
    ("causal", "weights = masked_scores.half().softmax(-1)", DTYPE),
]


@pytest.mark.parametrize(("name", "line", "words"), SAID)
def test_what_is_wrong_is_said_in_words(name, line, words, learners):
    step = line.partition(" ")[0]
    said = learners[name].write(step, line)
    assert said.startswith(f"{step} is not right yet.\n")
    assert words in said


def test_a_tensor_of_another_name_is_not_the_step(learners):
    said = learners["trainable"].write("scores", "score = queries @ keys.mT")
    assert "There is no tensor called scores" in said


def test_what_was_changed_above_is_named(learners):
    learner = learners["trainable"]
    line = "weights = scaled_scores.softmax(dim=-1)"
    said = learner.write("weights", line, scores=learner.names["scores"] / 2)
    assert said.startswith("scores is the first step that is wrong: fix it before the ones below.")
    said = learner.write("weights", line, W_key=learner.names["W_key"] + 1)
    assert said.startswith("W_key is given, and is not the lesson's any more: run the notebook")


def test_a_line_that_writes_into_an_earlier_step_is_told_so():
    """What it gives is right, and what it was made from is destroyed."""
    said = Learner(causal()).write(
        "masked_scores", "masked_scores = scaled_scores.masked_fill_(~mask, -torch.inf)"
    )
    assert said.startswith("masked_scores is not right yet.\nYour line has changed scaled_scores")


@pytest.mark.parametrize(("step", "line"), [
    ("masked_scores", "scaled_scores * mask"),
    ("masked_scores", "scaled_scores.masked_fill(~mask, torch.inf)"),
    ("masked_scores", "scaled_scores.masked_fill(~mask, -12345)"),
    ("masked_scores", "scaled_scores"),
    ("mask", "torch.ones(6, 6).bool().triu(1)"),
    ("scores", "embeddings @ embeddings.mT * 0"),
    ("weights", "masked_scores.softmax(-1) * 2 + ~mask"),
])  # fmt: skip
def test_no_factor_is_told_where_the_numbers_do_not_have_it(step, line, learners):
    said = learners["causal"].write(step, f"{step} = {line}")
    assert said.startswith(f"{step} is not right yet.\n")
    assert "times what is wanted" not in said


def test_a_right_tensor_of_another_dtype_serves_the_lines_below():
    learner = Learner(causal())
    line = "weights = torch.softmax(masked_scores.double(), -1)"
    exec(f'with checked("weights"):\n    {line}', learner.names)
    assert learner.names["weights"].dtype == torch.float32
    assert not learner.write("context_vectors", "context_vectors = weights @ embeddings")


def test_an_error_of_dtypes_is_not_taken_for_a_known_mistake(learners):
    learner, line = learners["causal"], "context_vectors = weights @ embeddings"
    said = learner.write("context_vectors", line, weights=learner.names["weights"].double())
    assert "Likely" not in said
    assert "weights is torch.float64, and the lesson's is torch.float32.\nYour line" in said


@pytest.mark.parametrize(("line", "words"), [
    ("embeddings = embeddings * 2", "embeddings = … gives its name to another tensor"),
    ("embeddings *= 2", "and so do += and /="),
])  # fmt: skip
def test_how_an_earlier_step_was_changed_is_told(line, words):
    said = Learner(causal()).write("scores", "scores = embeddings @ embeddings.mT", line)
    assert said.splitlines()[1].startswith("Your line has changed embeddings itself: ")
    assert words in said


def test_a_mistake_among_numbers_of_any_size_is_refused():
    """A tolerance that does not look at the numbers would let tiny ones pass, whatever they are."""
    for size in (1e-6, 1e6):
        trace = Trace()
        scores = trace.step("drawn", ops.Draw("normal", (3, 5), seed=1), axes=("query", "key"))
        small = trace.step("scores", ops.ScaleBy(size), scores, axes=("query", "key"))
        trace.step("scaled_scores", ops.Scale(2), small, axes=("query", "key"))
        said = Learner(trace).write("scaled_scores", "scaled_scores = scores / 2")
        assert "d in place of √d" in said


# --- which steps are asked for --------------------------------------------------------------------
def test_the_lines_that_a_lesson_teaches_are_asked_for():
    asked_of = {name: exercise_steps(make()) for name, make in TRACES.items()}
    lines = ("scores", "scaled_scores", "masked_scores", "weights", "context_vectors")
    assert asked_of["causal"] == ("mask", *lines)
    projected = ("queries", "keys", "values")
    assert asked_of["trainable"] == (*projected, *lines[:2], *lines[3:])
    assert {"split_queries", "concat", "head_outputs"} <= set(asked_of["heads"])
    assert asked_of["few_trials"] == ("products", "dot_products", "scaled_dot_products")
    assert asked_of["tokens"] == ("embeddings_by_product", "embeddings")
    assert {"grad_masked_scores", "grad_scores", "grad_W_query"} <= set(asked_of["learned"])
    assert asked_of["one_row"][1:3] == ("score_sum", "sum_weights")


def test_what_tells_again_what_another_step_tells_is_not_asked_for():
    """A loop, one row, the same heads turned: and their lines do not stand there as answers."""
    told_again = {
        "simplified": ("scores_by_loop",),
        "qkv": ("one_query", "query_scores", "query_context"),
        "qkv_linear": ("linear_queries", "linear_scores", "queries_upright"),
        "multi_head": ("batched_queries", "one_head_query"),
    }
    for lesson, names in told_again.items():
        trace = BUILDERS[lesson](EXAMPLES["life_is_short"], 0)
        shown = "\n".join(cell["source"] for cell in exercise(trace)["cells"][4:])
        for name in names:
            assert name in trace
            assert f"{name} = " not in shown


def test_a_mistake_that_someone_chose_is_given_and_what_follows_it_asked_for():
    trace = attend_trainable(embed(EXAMPLES["wild_cat"].inputs), Projections(scale="d"))
    steps = exercise_steps(trace)
    assert steps == ("queries", "keys", "values", "scores", "weights", "context_vectors")
    wrong_axis = lesson_trace("qkv_wrong_axis/journey_789")
    assert exercise_steps(wrong_axis)[-2:] == ("scaled_scores", "context_vectors")


@pytest.mark.parametrize("name", [*TRACES, *LESSONS])
def test_no_line_that_is_asked_for_stands_in_the_exercise(name):
    trace = TRACES[name]() if name in TRACES else lesson_trace(name)
    cells = exercise(trace)["cells"]
    shown = "\n".join(cell["source"] for cell in cells[4:])
    wanted = exercise_steps(trace)
    assert wanted
    blanks = re.findall(r"^    (\w+) = \.\.\.  # your line: ", shown, re.MULTILINE)
    assert blanks == list(wanted)
    for step in wanted:
        assert trace[step].code not in shown
        assert not is_mistake(trace[step].operation)


def test_what_checks_the_answers_is_folded_away():
    cells = exercise(example_trace("wild_cat"))["cells"]
    folded = [each["metadata"].get("jupyter", {}).get("source_hidden") for each in cells]
    assert True in folded
    assert False not in folded
