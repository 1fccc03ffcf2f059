"""What a lesson ends with: questions answered from its numbers, with the way to a picture."""

import math
import re
from functools import cache
from types import SimpleNamespace
from unittest.mock import patch

import pytest
import torch

from attention_core.examples import EXAMPLES
from attention_ui.cards import page, show
from attention_ui.frame import contents, ends
from attention_ui.frame.basics import takes
from attention_ui.reactive.cache import Cache
from attention_ui.words import percent
from chosen import chosen
from hostile import HARD, MARK, TEXTS
from sampling import few, pairs
from visiting import A_PAGE, LESSONS, PAGES, lesson_module, rendered, stands, texts, visit

SLOW = pytest.mark.slow("30 s: whole pages")

HOSTILE = {"sentence": f"{TEXTS['markdown']} {TEXTS['directives']}", "tokenizer": "blanks"}


def by_script(lesson, link, change=None):
    """A page's trace and values at a link, its answers, and what questions cover; undrawn."""
    told, covers, traces = [], set(), []
    given = []
    room = lesson_module(lesson)
    made = room.trace_of

    def noted(values):
        traces.append(made(values))
        if change:
            change(traces[-1])
        return traces[-1]

    def answered(each, _, covered, *__):
        told.extend(each)
        covers.update(covered)

    def ended(trace, *_, **__):
        given.append(trace)

    with (
        patch.object(room, "trace_of", noted),
        patch.object(ends, "put_ends", ended),
        patch.object(ends, "put_answers", answered),
        patch.object(page.Page, "cache", Cache(1 << 26)),
        patch.object(show, "put_picture", lambda *_, **__: None),
    ):
        at = stands(visit(lesson, **link))
    return SimpleNamespace(trace=(traces or given)[0], values=chosen(at)), told, covers


@cache
def closed(lesson, **link):
    return by_script(lesson, {"example": "wild_cat", **link, "predict": "off"})[:2]


@SLOW
@pytest.mark.parametrize("lesson", few(LESSONS, 1, first="simplified_attention"))
def test_up_to_three_questions_are_answered_with_numbers_wherever_the_settings_stand(lesson):
    known = {each.name for each in lesson_module(lesson).CONTROLS}
    for link in (*({"example": each} for each in EXAMPLES), *HARD.values()):
        # This raises where no heading above has an answer's anchor.
        _, answers = closed(lesson, **(link if known & link.keys() else {}))
        assert len(answers) <= 3
        for each in answers:
            assert each.question.endswith("?")
            assert each.answer.endswith("."), (link, each)
            assert not re.search(r"\b(nan|inf|None)\b|!|-\d|`|\*[A-Z]", each.answer), (link, each)


@SLOW
@pytest.mark.parametrize("lesson", few(LESSONS, 5))
def test_an_answer_is_plain_text_and_links_to_a_heading_of_the_page(lesson):
    at = stands(visit(lesson, **HOSTILE))
    headings = {each.proto.anchor: each.value for each in at.header}
    answers = by_script(lesson, {**HOSTILE, "predict": "off"})[1]
    labels = [each.label for each in at.expander]
    for each in answers:
        assert each.question in labels
        assert each.answer in texts(at)
        assert f"The card [“{headings[each.card]}”](#{each.card}) shows it." in [
            m.value for m in at.markdown
        ]
        assert {*re.findall("under “([^”]+)”", each.answer)} <= {*headings.values()}
        titles = re.findall("lesson “([^”]+)”", each.answer)
        assert {*titles} <= {every.title for every in contents.LESSONS}
    assert MARK not in rendered(at)


@SLOW
@pytest.mark.parametrize("page", few(PAGES, 3, first=A_PAGE))
def test_an_answer_stays_covered_while_a_question_asks_for_its_numbers(page):
    asked, plain = visit(page, predict="on"), visit(page)
    _, answers, covered = by_script(page, {"predict": "on"})
    others = by_script(page, {"predict": "off"})[1]
    assert [each.question for each in answers] == [each.question for each in others]
    for each, other in zip(answers, others, strict=True):
        assert other.answer in texts(plain)
        assert (each.answer in texts(asked)) != bool(covered & {*each.shows})
        assert each.question in [fold.label for fold in asked.expander]


def flipped(value):
    return value.flip(-1) * 1.7 + 0.3


def moved(value):
    """Other numbers in the same order along each row, and rows that differ from each other."""
    rows = torch.arange(1.0, len(value) + 1).reshape(-1, *[1] * (value.ndim - 1))
    return value * 1.7 + rows


def at_a_first_visit(lesson, other_steps=(), change=None):
    """The answers of a lesson that no question covers; with other numbers in some steps."""

    kept = []  # put back afterwards: a step may be in a trace that the lesson makes only once

    def changed(trace):
        for name in other_steps:
            kept.append((trace[name], trace[name].value))
            trace[name]._kept = change(trace[name].value)

    view, answers, covered = by_script(lesson, {"predict": "on"}, changed)
    for step, value in reversed(kept):
        step._kept = value
    view.covered = covered
    return {each.question: each.answer for each in answers if not covered & {*each.shows}}, view


@SLOW
@pytest.mark.parametrize("lesson", LESSONS)
def test_an_answer_that_is_not_covered_knows_nothing_of_what_is(lesson):
    answers, view = at_a_first_visit(lesson)
    for change in (flipped, moved):
        others, _ = at_a_first_visit(lesson, {*view.covered} & {*view.trace}, change)
        for question in answers.keys() & others.keys():  # others may be asked for otherwise
            assert answers[question] == others[question]


@pytest.mark.parametrize(("lesson", "question"), [
    ("softmax_or_sum", "How much more weight does a score get that is larger by 1?"),
    ("divide_by_sqrt_d", "Why √d, and not d?"),
    ("multi_head_attention",
     "Why does splitting into heads take a transpose, and not just a view?"),
])  # fmt: skip
def test_an_answer_that_is_worked_out_otherwise_is_covered_too(lesson, question):
    assert question not in at_a_first_visit(lesson)[0]
    assert question in [each.question for each in closed(lesson, example="wild_cat")[1]]


def test_a_share_is_said_as_all_or_nothing_only_where_it_is_that():
    said = [percent(share) for share in (0.0, 1e-9, 0.004, 0.126, 0.994, 0.9999, 1.0)]
    assert said == ["0%", "less than 1%", "less than 1%", "13%", "99%", "over 99%", "100%"]


# --- the numbers, worked out anew -----------------------------------------------------------------
def find(pattern, answers):
    """The groups of a pattern, in the one answer that has it."""
    (found,) = [match for each in answers if (match := re.search(pattern, each.answer))]
    return found.groups()


def near(said, value, digits=2):
    return abs(float(said.replace("−", "-").replace(",", "")) - value) <= 0.51 * 10**-digits


def is_share(said, share):
    return said == percent(float(share))


def of_tokens(view, answers):
    table = view.trace["embedding_table"].value
    place, row = find(r"\(token (\d+)\) has id [\d,]+, so it takes row ([\d,]+)\.", answers)
    looked_up = view.trace.get("token_embeddings", view.trace["embeddings"])
    assert table[int(row.replace(",", ""))].equal(looked_up.value[int(place)])


def of_simplified(view, answers):
    weights, query = view.trace["weights"].value.double(), view.values.query
    pattern = r"is (.+%) “.*?” \(key (\d+)\), (.+%) “.*?” \(key (\d+)\), and (.+%) all others"
    best, first, second_best, second, rest = find(pattern, answers)
    assert is_share(best, weights[query, int(first)])
    assert is_share(second_best, weights[query, int(second)])
    assert weights[query].sort(descending=True).values[1] <= weights[query, int(second)] + 1e-6
    assert is_share(rest, 1 - weights[query, [int(first), int(second)]].sum())
    row, column = find(r"sums to ([\d.]+)(?:; its column, .* to ([\d.]+)\.|;)", answers)
    assert near(row, weights[query].sum())
    assert near(column or "1", weights[:, query].sum())


def of_softmax(view, answers):
    scores = view.trace["score_row"].value.double()
    best, following, lead, times = find(
        r"\(key (\d+)\) leads .* \(key (\d+)\) by ([\d.]+), so .* that power, (.+) times", answers
    )
    gap = (scores[int(best)] - scores[int(following)]).item()
    assert scores[int(best)] == scores.max()
    assert near(lead, gap, 2)
    if times == "over a million":
        assert math.exp(gap) > 1e6
    else:
        assert float(times) == pytest.approx(math.exp(gap), rel=1e-3, abs=0.006)


def of_root(view, answers):
    trace = view.trace
    count, mean, deviation = find(
        r"The (\d+) under “Products” have a mean of (\S+) and a standard deviation of ([\d.]+)\. ",
        answers,
    )
    products = trace["products"]
    drawn = torch.stack([each.value for each in products.inputs])
    assert near(count, drawn.numel())
    assert near(mean, drawn.mean())
    assert near(deviation, drawn.std())
    d, root = find(r"At d = (\d+) it is √\d+ = ([\d.]+), and dividing", answers)
    assert near(root, int(d) ** 0.5)


def of_projections(view, answers):
    trace, token = view.trace, view.values.token
    scores, weights = (trace[f"query_{of}"].value.double() for of in ("scores", "weights"))
    one = r"comes from (?:itself|“.*” \(key (\d+)\)): a score of (\S+), and (.+%) of"
    key, score, share = find(one, answers)
    key = token if key is None else int(key)
    assert near(score, scores[key])
    assert is_share(share, weights[key])
    assert weights[key] >= weights.max() - 1e-6
    (count,) = find(r"the ([\d,]+) numbers under “Three matrices”", answers)
    assert near(count, sum(trace[f"W_{role}"].value.numel() for role in ("query", "key", "value")))


def of_mask(view, answers):
    weights = view.trace["unmasked_weights"].value.double()
    sums = weights.tril().sum(dim=1)
    if sums.min() < 0.99:
        row, left = find(r"the row of .* \(query (\d+)\) would sum to ([\d.]+)\.", answers)
        assert near(left, sums[int(row)])
        assert near(left, sums.min())
    (score,) = find(
        r"sees only itself, with a score of (\S+), and gives itself the whole 1", answers
    )
    assert view.trace["weights"].value[0].tolist() == [1.0] + [0.0] * (len(weights) - 1)
    assert near(score, view.trace["unmasked_weights"].inputs[0].value[0, 0])


def of_heads(view, answers):
    trace, query = view.trace, view.values.query
    n_heads = trace.size("head")
    parts = trace["W_output"].value.unflatten(0, (n_heads, -1))
    of_heads = zip(trace["head_context_vectors"].value, parts, strict=True)
    lengths = torch.stack([(context[query] @ part).norm() for context, part in of_heads])
    head, length = find(r"head (\d+)\)? adds most: a vector of length ([\d.]+)\.", answers)
    assert near(length, lengths[int(head)])
    assert near(length, lengths.max())
    rows = trace["head_weights"].value[:, query]
    assert answers.count("looks at all tokens alike") == sum(
        len(set(row.tolist())) == 1 for row in rows
    )
    right, rows = find(r"only (\d+) of (\d+) rows", answers)
    n_tokens = len(trace["joined_queries"].value)
    # Row i of head h should hold piece h of token i; in memory order it is piece h · n + i.
    places = [(h * n_tokens + i, i * n_heads + h) for h in range(n_heads) for i in range(n_tokens)]
    assert (int(right), int(rows)) == (sum(a == b for a, b in places), len(places))


def of_layer(view, answers):
    weights, values = (view.trace[f"head_{of}"].value[0] for of in ("weights", "values"))
    query, key, weight = find(
        r"row of .*\(query (\d+)\) meets the column of .*\(key (\d+)\) in a weight of (\S+)\.",
        answers,
    )
    assert near(weight, weights[int(query), int(key)])
    assert near(weight, weights[int(query)].max())
    query, key, weight, value, part, whole = find(
        r"\(query (\d+)\) gives .*\(key (\d+)\) a weight of ([\d.]+): the value of that key "
        r"has (\S+) in “.*”, and (\S+) of it goes into the context vector\. Added up over all "
        r"keys, this entry comes to (\S+)\.",
        answers,
    )
    query, key = int(query), int(key)
    assert near(weight, weights[query, key])
    (entry,) = [at for at, each in enumerate(values[key]) if near(value, each)][:1]
    assert near(part, weights[query, key] * values[key, entry])
    assert near(whole, weights[query] @ values[:, entry])


NUMBERS = {
    "tokenize_and_embed": of_tokens, "simplified_attention": of_simplified,
    "softmax_or_sum": of_softmax, "divide_by_sqrt_d": of_root,
    "queries_keys_values": of_projections, "causal_mask": of_mask,
    "multi_head_attention": of_heads, "whole_layer": of_layer,
}  # fmt: skip


@SLOW
@pytest.mark.parametrize(("lesson", "example"), pairs(NUMBERS, EXAMPLES))
def test_the_numbers_in_an_answer_are_those_of_the_trace(lesson, example):
    NUMBERS[lesson](*closed(lesson, example=example))


# --- how long a lesson takes, and what comes before it --------------------------------------------
@SLOW
@pytest.mark.parametrize("lesson", few([each.name for each in contents.LESSONS], 5))
def test_a_lesson_comes_after_one_further_up_and_says_so(lesson):
    names = [each.name for each in contents.LESSONS]
    lesson = contents.lesson(lesson)
    assert lesson.after in ("", *names[: names.index(lesson.name)])
    assert any(takes(lesson) in each.value for each in visit(lesson.name).markdown)
    assert bool(takes(lesson)) == bool(lesson.minutes or lesson.after)
    if lesson.after:
        assert f"*{contents.lesson(lesson.after).title}*" in takes(lesson)
