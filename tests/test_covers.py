"""A question covers what its verdict is computed from, under whatever name it is drawn."""

from functools import partial
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
import torch

from attention_core.largest_effect import telling_query
from attention_core.operations import Add, Given, MatMul, ScaleBy, Softmax
from attention_core.trace import Trace
from attention_ui.cards import page as declared
from attention_ui.cards import show
from attention_ui.cards.cached import MOST_BYTES
from attention_ui.cards.covers import SHAPE, giving_away, read_by
from attention_ui.controls.shared import FIRST
from attention_ui.frame.take_away import as_frame
from attention_ui.lessons.how_a_matrix_learns import layer as learning
from attention_ui.lessons.tiny_language import lesson as tiny
from attention_ui.picture.matrix import is_unknown
from attention_ui.reactive.cache import Cache
from sampling import few
from visiting import (
    PAGES,
    has_sentence,
    lesson_module,
    noted_layouts,
    pictures,
    small_charts,
    stands,
    visit,
)


def forget_traces():
    """Those that lessons keep for everybody: they are changed here."""
    tiny.told.cache_clear()
    learning.layer.cache_clear()


@pytest.fixture(autouse=True)
def nothing_changed_is_kept():
    yield
    forget_traces()


LEAVES = ("embedding_table",)
"""Also where numbers of it were typed."""
EXAMPLES = ("wild_cat", "journey_123")


def asked(page, link, change=None):
    """Each question of a page, by name, what it covers (a mask a step) and is about, and what is
    drawn above.
    """
    forget_traces()
    found, above = {}, set()
    made = SimpleNamespace(traces=[])  # what closes over such a one is kept for nobody
    lesson = lesson_module(page)
    trace_of = lesson.trace_of

    def changed(values):
        made.traces.append(trace_of(values))
        if change:
            change(made.traces[-1])
        return made.traces[-1]

    def asks(one):
        question, _ = one.made()
        if question is not None:
            found[one.name] = question, dict(one.hides()), {*one.about}, {*above}

    def noted(one):
        above.update(each.step.name for each in one.now().matrices if not each.covered)

    with (
        patch.object(lesson, "trace_of", changed),
        patch.object(declared.Page, "cache", Cache(MOST_BYTES)),
        patch.object(declared.Ask, "draw", asks),
        patch.object(show, "put_picture", noted),
    ):
        stands(visit(page, predict="on", **link))
    return found, made.traces[0]


def verdict(question):
    if hasattr(question, "choices"):
        return question.judged([0]), question.judged([len(question.choices) - 1])
    if hasattr(question, "weights"):
        return tuple(question.weights)
    return getattr(question, "before", 0), getattr(question, "after", 0)


def other(name, row=None):
    """A change of a step, or of one of its rows, that is larger than any rounding."""

    def change(trace):
        if name not in trace:
            return  # another trace of the page
        value = trace[name].value.clone()
        rows = ... if row is None else row
        # One row alone keeps its order, so that the same question is asked of it.
        turned = value.flip(-1) if row is None and value.ndim else value[rows]
        value[rows] = turned * 1.7 + 0.3
        trace[name]._kept = value

    return change


def answers(asked_with):
    """(name, question, covers, about, steps of the verdict, numbers telling it, numbers given)."""
    plain, trace = asked_with()
    said = {name: verdict(question) for name, (question, *_) in plain.items()}

    def changes(name, *step):
        return verdict(asked_with(other(*step))[0][name][0]) != said[name]

    floats = [n for n, s in trace.items() if s.value.is_floating_point() and not s.is_shared]
    moved = {}
    for step in floats:
        now, _ = asked_with(other(step))
        for name in plain:
            if verdict(now[name][0]) != said[name]:
                moved.setdefault(name, set()).add(step)
    for name, (question, covers, about, above) in plain.items():
        # What the answer is to be worked out from has to be there.
        leaves = {each for each, step in trace.items() if not step.inputs or each in LEAVES}
        given = ((above | leaves) - covers.keys()) & trace.keys()
        given = {each: trace[each].value.double().flatten().numpy() for each in given}
        told = {}
        for step in sorted(covers.keys() & trace.keys()):
            value = trace[step].value
            if covers[step].at:
                told |= lines_of(step, value, covers[step].mask)
                continue
            whole = value.ndim != 3
            told |= {step: value} if whole else {f"{step}[{n}]": one for n, one in enumerate(value)}
            if step in moved.get(name, ()) and value.ndim == 2:
                told[f"the largest of each row of {step}"] = value.max(dim=-1).values
                rows = [row for row in range(len(value)) if changes(name, step, row)]
                few_rows = rows if len(rows) < len(value) else []
                told |= {f"row {row} of {step}": value[row] for row in few_rows}
        yield name, question, covers, about, moved.get(name, set()), told, given


def lines_of(step, value, mask):
    """The rows of a step that are covered whole, by what they are."""
    rows = mask.reshape(-1, value.shape[-1]).all(dim=-1).nonzero().flatten().tolist()
    each = value.reshape(-1, value.shape[-1])
    return {f"row {row} of {step}": each[row] for row in rows}


def taken_apart(page, **link):
    """The page with its questions open, and the answers of each."""
    with noted_layouts() as layouts:
        at = stands(visit(page, predict="on", **link))
    return at, layouts, [*answers(partial(asked, page, link))]


def numbers_on(at, layouts):
    """What a page shows, and its numbers: matrices not covered, sentence, charts' columns."""
    for layout in layouts:
        for matrix in layout.matrices:
            if not matrix.covered:
                yield matrix.name, of_tensor(matrix.seen)
                step, may_be = matrix.step, matrix.untold
                told = torch.ones(step.value.shape, dtype=torch.bool) if may_be is None else ~may_be
                for operand, given in enumerate(step.inputs):  # its arithmetic has them
                    read = read_by(step, operand, told)
                    yield f"what {matrix.name} is made of", of_tensor(given.value[read])
        if layout.sentence is not None:
            yield "the sentence", of_tensor(layout.sentence.weights)
    for picture in small_charts(at):
        sent = picture.table
        for name in () if sent is None else sent.column_names:
            if pa.types.is_floating(sent[name].type):
                yield f"{name} of {picture.alt!r}", of_tensor(sent[name].to_pylist())


def of_tensor(values):
    numbers = np.asarray(torch.as_tensor(values, dtype=torch.float64)).flatten()
    return numbers[np.isfinite(numbers)]


def is_in(told, shown):
    """Whether all of some numbers are among those shown, each as often."""
    left = np.sort(shown)
    for number in np.sort(told):
        near = np.flatnonzero(np.abs(left - number) <= 1e-5 * max(1e-3, abs(number)))
        if not len(near):
            return False
        left = np.delete(left, near[0])
    return True


def tells(shown, told, only_shapes):
    """Whether a column has these numbers, or their ratios; of shapes alone, that shape."""
    told = told.double().flatten().numpy()
    told = told[np.isfinite(told)]
    if len(np.setdiff1d(told.round(4), [0, 1])) < 3 or len(told) > len(shown):
        return False
    if only_shapes:
        return len(told) == len(shown) and is_in(told, shown)
    as_shares = len(told) == len(shown) and abs(told.sum() - 1) < 1e-5 and shown.sum() > 0
    return is_in(told, shown) or (as_shares and is_in(told, shown / shown.sum()))


@pytest.mark.slow("15 s: every page")
@pytest.mark.parametrize(("page", "example"), few([
    ("pages/simplified_attention.py", "asked"),
    *((page, each) for page in PAGES for each in EXAMPLES[: 1 + has_sentence(page)]),
], 9))  # fmt: skip
def test_a_question_covers_what_it_is_judged_by_under_any_name(page, example):
    link = {"example": example}
    if example == "asked":
        link = {"query": str(telling_query(pictures(page)[0].trace["weights"].value))}
    at, layouts, found = taken_apart(page, **link)
    assert found
    traces = {id(layout.trace): layout.trace for layout in layouts}.values()
    earlier = {step.name: {*step.earlier()} for trace in traces for step in trace.values()}
    everything = [*numbers_on(at, layouts)]
    assert everything
    for name, question, covers, about, moved, told, given in found:
        # What a step is made of tells on it: with other numbers there the guess is asked for again.
        names = covers.keys() | about
        before = {each for one in names & earlier.keys() for each in earlier[one]}
        known = names | before | given.keys()
        assert moved <= known, f"{name} is judged by what it does not cover"
        for what, numbers in told.items():
            for where, shown in everything:
                if any(is_in(each, shown) for each in given.values()):
                    continue
                assert not tells(shown, numbers, question.only_shapes), (
                    f"with {link}, the picture of {where} shows {what}, which answers {name}: "
                    "cover this step too, or ask about another row"
                )


def test_a_picture_that_answers_under_another_name_is_found():
    weights = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.15, 0.75]])
    flat = weights.flatten().double().numpy()
    assert tells(flat[::-1], weights, False)
    assert tells(np.array([5.0, 3.0, 2.0]), weights[0], False)
    assert not tells(flat[:5], weights, False)
    assert not tells(np.array([0.5, 0.3, 0.1, 0.1]), weights[0], False)


# --- nor in the arithmetic of what stands open ---------------------------------------------------
def drawn_open(layouts):
    """Of each matrix that is drawn, its axes, its numbers, nan where they are covered, and its
    step's name.
    """
    for layout in layouts:
        for matrix in layout.matrices:
            if matrix.covered or is_unknown(matrix) or not matrix.drawn.is_floating_point():
                continue
            value = matrix.drawn.double().clone()
            if matrix.unseen is not None:
                value[matrix.unseen] = np.nan
            value = value.mT if matrix.transposed else value
            axes = matrix.step.axes[-value.ndim :] if value.ndim else ()
            yield matrix.step.name, axes, value


def added_up(layouts, line, axes, at, given):
    """Two matrices whose rows at a place are, added up or one less the other, a covered line."""
    each = [
        (name, value[at])
        for name, has, value in drawn_open(layouts)
        if has == axes and value.ndim == 2 and at < len(value) and len(value[at]) == len(line)
    ]
    for one, (first, left) in enumerate(each):
        for second, right in each[one + 1 :]:
            if {first, second} <= given or not left.any() or not right.any():
                continue
            for made in (left + right, left - right, right - left):
                if bool(((made - line).abs() <= 2e-5 * line.abs().max()).all()):
                    return first, second
    return None


@pytest.mark.slow("30 s: every page")
@pytest.mark.parametrize(("page", "example"), few(
    [("pages/multi_head_attention.py", "mean"),
     *((page, each) for page in PAGES for each in (FIRST, *EXAMPLES))], 9,
))  # fmt: skip
def test_what_is_asked_is_no_sum_of_what_stands_open(page, example):
    """Nor a difference, nor what the others of a row leave of 1, nor a copy of plain numbers."""
    link = {"example": FIRST, "n_heads": "3"} if example == "mean" else {"example": example}
    found, trace = asked(page, link)
    with noted_layouts() as layouts:
        stands(visit(page, predict="on", **link))
    for name, (question, covers, about, _) in found.items():
        if not question.at:
            continue
        given = {each for one in about & trace.keys() for each in trace[one].earlier()}
        for step in sorted(covers.keys() & trace.keys()):
            if trace[step].value.ndim < 2:
                continue
            width, places = trace[step].value.shape[-1], len(trace[step].value[..., 0].flatten())
            rows = trace[step].value.double().reshape(places, width)
            whole = covers[step].mask.reshape(places, width).all(dim=-1)
            for place in whole.nonzero().flatten().tolist():
                line, at = rows[place], place % trace[step].value.shape[-2]
                if len(line.unique()) < 3 or not line.isfinite().all():
                    continue
                two = added_up(layouts, line, trace[step].axes[-2:], at, given)
                assert two is None, f"{name} is answered by row {at} of {' and '.join(two)}"
    for layout in layouts:
        for matrix in layout.matrices:
            if matrix.covered or matrix.unseen is None or not matrix.drawn.ndim:
                continue
            value, unseen = matrix.drawn.double(), matrix.unseen
            is_one = (value.sum(dim=-1) - 1).abs() < 1e-3
            alone = is_one & (unseen.sum(dim=-1) == 1) & (value.shape[-1] > 1)
            assert not alone.any(), f"{matrix.name}: the others leave one number"


def test_a_difference_that_is_what_is_asked_for_is_covered_on_one_side():
    trace = small()
    more = trace.step("more", Given.of(trace["queries"].value * 2.3 + 0.4), axes=("query", "d"))
    both = trace.step("both", Add(), trace["queries"], more, axes=("query", "d"))
    told = giving_away(trace, ["more"], {"query": (1,)}, ["values"])
    assert told["more"].any(dim=-1).tolist() == [False, True, False]
    assert told[both.name].any(dim=-1).tolist() == [False, True, False]
    assert "queries" not in told


def test_a_sum_that_is_what_is_asked_for_is_covered_on_one_side():
    """What is asked for is no operand here, but what two open ones come to."""
    trace = small()
    queries, axes = trace["queries"].value, ("query", "d")
    less = trace.step("less", Given.of(queries * 2.3 + 0.4), axes=axes)
    more = trace.step("more", Given.of(queries * 1.7 - 0.9), axes=axes)
    trace.step("asked", Given.of(less.value + more.value), axes=axes)
    told = giving_away(trace, ["asked"], {"query": (1,)}, ["values"])
    assert told["asked"].any(dim=-1).tolist() == [False, True, False]
    covered = [name for name in ("less", "more") if name in told and told[name].any()]
    assert covered == ["more"], "the later of the two"
    assert told["more"].any(dim=-1).tolist() == [False, True, False]


def test_two_cells_of_a_row_of_shares_are_covered_where_one_is_asked_for():
    trace = Trace(key=list("abc"))
    scores = trace.step("scores", Given((0.5, 2.0, 1.0)), axes=("key",))
    trace.step("weights", Softmax(), scores, axes=("key",))
    told = giving_away(trace, ["weights"], {"key": (1,)})
    assert told["weights"].tolist() == [False, True, True]


def test_plain_numbers_are_covered_in_a_copy_of_all_of_them():
    with noted_layouts() as found:
        stands(visit("tokenize_and_embed", predict="on", example=FIRST))
    drawn = [m for layout in found for m in layout.matrices if m.step.axes == ("token", "d_in")]
    alike = [m for m in drawn if m.step.value.equal(drawn[0].step.value)]
    assert len(alike) > 2
    rows = [None if m.unseen is None else m.unseen.any(dim=-1).tolist() for m in alike]
    assert all(each == rows[0] and any(each) for each in rows)


# --- no more than that ---------------------------------------------------------------------------
MOST = 0.1
"""Of all cells of a page, how many may be question marks at a first visit."""


def how_covered(page, example):
    """Of a first visit: each picture's cells and how many of them are covered; and which pictures
    are covered whole, but for those whose shape is asked for.
    """
    pictures, whole = [], []
    with noted_layouts() as found:
        stands(visit(page, predict="on", example=example))
    for layout in found:
        every = sum(each.drawn.numel() for each in layout.matrices)
        covered = sum(each.drawn.numel() if each.covered
                      else 0 if each.unseen is None else int(each.unseen.sum())
                      for each in layout.matrices)  # fmt: skip
        pictures.append((every, covered))
        if every == covered and every and not all(map(is_unknown, layout.matrices)):
            whole.append([each.name for each in layout.matrices])
    return pictures, whole


@pytest.mark.slow("1 min: every page with every example")
@pytest.mark.parametrize(("page", "example"), few(
    [(page, each) for page in PAGES for each in (FIRST, *EXAMPLES)], 12
))  # fmt: skip
def test_a_first_visit_is_not_a_page_of_question_marks(page, example):
    pictures, whole = how_covered(page, example)
    every, covered = (sum(each) for each in zip(*pictures, strict=True)) if pictures else (0, 0)
    assert covered <= MOST * every, (
        f"{covered} of {every} cells of {page} with {example} are covered: ask about one row, or "
        "one cell, and say where (`at`)"
    )
    assert whole == [], "a picture of nothing but question marks says nothing"


@pytest.mark.slow("10 s: three pages with every example")
@pytest.mark.parametrize(("page", "example"), few(
    [(f"pages/{page}.py", example)
     for page in ("simplified_attention", "queries_keys_values", "causal_mask")
     for example in (FIRST, *EXAMPLES, "sorry_dave", "life_is_short")], 6,
))  # fmt: skip
def test_no_row_is_covered_without_need(page, example):
    """From each that is covered one sees which key gets most, as from the row that is asked for."""
    found, trace = asked(page, {"example": example})
    questions = [each for each in found.values() if each[2] == {"weights"}]
    assert questions
    for question, covers, *_ in questions:
        weights = trace["weights"].value
        row = weights[question.at["query"][0]]
        seen, most = row > 0, row >= row.max() - 1e-6
        for name, cover in covers.items():
            for what, line in lines_of(name, trace[name].value, cover.mask).items():
                if trace[name].axes[0] != "query":
                    continue  # of the page's own query, where it is the one that is asked about
                if trace[name].axes[-1] == "key":
                    tells = bool((line[most] >= line[seen].max() - 1e-5).any())
                else:  # a mixture: the part that it looks like
                    parts = trace[name].inputs[1].value
                    near = (parts - line).norm(dim=-1)
                    tells = bool((near[most] <= near.min() + 1e-5).any())
                assert tells, f"{what} is covered without need: it does not tell which key"


def small():
    """Queries and keys, scores, weights and what they mix; and one query by itself."""
    trace = Trace()
    trace.label("query", list("abc"))
    given = torch.tensor([[2.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    queries = trace.step("queries", Given.of(given), axes=("query", "d"))
    keys = trace.step("keys", Given.of(given.flip(0) * 1.5 + 0.1), axes=("key", "d"))
    values = trace.step("values", Given.of(given * 0.7 - 0.2), axes=("key", "d_value"))
    scores = trace.step("scores", MatMul(transpose=True), queries, keys, axes=("query", "key"))
    scaled = trace.step("scaled", ScaleBy(0.5), scores, axes=("query", "key"))
    weights = trace.step("weights", Softmax(), scaled, axes=("query", "key"))
    trace.step("context", MatMul(), weights, values, axes=("query", "d_value"))
    one = trace.step("one_query", Given.of(given[1:2]), axes=("one", "d"))
    alone = trace.step("one_scores", MatMul(transpose=True), one, keys, axes=("one", "key"))
    half = trace.step("one_scaled", ScaleBy(0.5), alone, axes=("one", "key"))
    trace.step("one_weights", Softmax(), half, axes=("one", "key"))
    return trace


def told_of(query, given=None, **more):
    found = giving_away(small(), ["weights"], {"query": (query,), **more}, given)
    return {name: mask.nonzero().tolist() for name, mask in found.items()}


def row(query, n_columns):
    return [[query, column] for column in range(n_columns)]


def test_a_row_is_covered_wherever_it_stands_and_no_other_row_is():
    told = told_of(1)
    assert told.pop("weights") == row(1, 3)
    assert told.pop("one_weights") == row(0, 3), "the very numbers, worked out by themselves"
    assert told.pop("context", row(1, 2)) == row(1, 2)
    assert told == {}, "what it is to be worked out from stays"
    told = told_of(1, given=["queries", "keys"])
    assert told["scores"] == told["scaled"] == row(1, 3), "what lies on the way tells the largest"
    assert told["one_scores"] == told["one_scaled"] == row(0, 3)
    assert not {"queries", "keys", "one_query", "values"} & told.keys()


def test_a_row_that_no_other_step_has_is_covered_alone():
    assert told_of(0).keys() - {"context"} == {"weights"}
    assert told_of(0)["weights"] == row(0, 3)


def test_a_mixture_is_covered_where_it_is_mostly_one_of_its_parts():
    weights = small()["weights"].value
    for query in range(3):
        is_mostly_one = bool(weights[query].max() >= 0.5)
        assert ("context" in told_of(query)) == is_mostly_one


def test_one_cell_is_covered_alone():
    found = giving_away(small(), ["scores"], {"query": (1,), "key": (2,)})
    assert {name: mask.nonzero().tolist() for name, mask in found.items()} == {
        "scores": [[1, 2]],
        "scaled": [[1, 2]],
    }


def test_a_shape_is_asked_on_one_card_and_nothing_is_covered_on_others():
    found, _ = asked("pages/multi_head_attention.py", {})
    assert {name: (each.how, each.card) for name, each in found["shape"][1].items()} == {
        "split_queries": (SHAPE, "split")
    }
    with noted_layouts() as found:
        stands(visit("multi_head_attention", predict="on"))
    drawn = [matrix for layout in found for matrix in layout.matrices]
    of_heads = [each for each in drawn if each.step.name == "split_queries"]
    assert [is_unknown(each) for each in of_heads].count(True) == 1
    assert not any(each.asks for each in of_heads if not is_unknown(each))


def test_a_table_of_a_tensor_leaves_covered_cells_empty():
    trace = small()
    hidden = giving_away(trace, ["weights"], {"query": (1,)})["weights"]
    frame = as_frame(trace, trace["weights"], hidden)
    assert frame.iloc[1].isna().all()
    assert not frame.iloc[[0, 2]].isna().any(axis=None)
