"""The card that says why a head looks there: its picture, its words, the part taken away."""

import re

import pyarrow as pa
import pytest
import torch

from attention_core.real_model.changes import Changes
from attention_core.real_model.circuit import circuit_by_heads
from attention_core.real_model.run import logits, run
from attention_core.small_models import shipped
from attention_core.small_models.grammar import WORDS
from attention_core.small_models.induction import SIZE, shipped_run
from attention_core.small_models.network import Network
from attention_core.small_models.repeated import NAMES
from attention_ui.cards import why_there
from attention_ui.charts.score_parts import chart
from attention_ui.lessons.heads_learning import lesson as heads_learning
from attention_ui.lessons.real_model import lesson, raster, running, way_back, why
from attention_ui.lessons.tiny_language import lesson as tiny_language
from attention_ui.picture.sentence import WORD
from attention_ui.words import number, percent
from chosen import of, read
from visiting import charts, rendered, stands, texts, visit, visit_deeper

PAGE, TEXT = "real_model", "the tired cat sees the dog because it"


def asked(**link):
    values = of(model="tiny", prompt=TEXT, **link)
    for _ in running.passes(lesson.whole(values)):
        pass
    return why.why_of(values), values


@pytest.mark.parametrize("link", [{}, {"model_head": "1.2"}, {"model_head": "0.1"}])
def test_the_picture_adds_up_to_how_far_the_score_is_above_the_others(link):
    about, _ = asked(**link)
    drawn = chart(about.parts, about.words).frame
    cells, queries, keys = (drawn[drawn.kind == kind] for kind in ("cell", "q", "k"))
    for part in (cells, queries, keys):
        assert part.amount.sum() == pytest.approx(about.lead, abs=1e-4)
    for place, amount in zip(keys.column, keys.amount, strict=True):
        assert cells[cells.column == place].amount.sum() == pytest.approx(amount, abs=1e-4)
    at = {"q": about.parts.query, "k": about.parts.key}
    for each in drawn.itertuples():
        of_query, _, of_key = each.name.partition(" × ")
        sides = {"cell": [("k", of_key), ("q", of_query)]}.get(each.kind, [(each.kind, each.name)])
        heads = [(name[5:], at[side]) for side, name in sides if name.startswith("head ")]
        assert heads[:1] == [(each.id, each.token)] * bool(each.id), "a click goes to a head alone"


def test_the_strongest_key_is_asked_about_first_and_any_other_that_the_token_sees():
    about, _ = asked(model_head="1.2", looks_from="5")
    assert about.parts.key == int(about.weights[1, 2, 5].argmax())
    about, _ = asked(model_head="1.2", looks_from="5", looks_at="3")
    assert about.parts.key == 3
    _, wrong = read(model="tiny", prompt=TEXT, looks_from="5", looks_at="6")
    assert "looks_at" in wrong, "which comes later"
    assert lesson.word_clicked((WORD, (3,))) == {"looks_at": "3"}
    assert lesson.word_clicked(("head_weights", (0, 1, 2))) == {}


def test_what_is_said_are_the_numbers_of_the_run():
    for head in range(4):
        about, _ = asked(model_head=f"1.{head}", looks_from="8")
        told, (part, amount) = why_there.told(about), about.best
        names = [each.name for each in about.parts.parts]
        amounts = dict(zip(names, about.parts.by_key().tolist(), strict=True))
        assert part.name == max(amounts, key=amounts.get)
        assert told.startswith(f"Head 1.{head} finds ")
        assert ("what several parts wrote there" in told) == (amount < why_there.CLEAR * about.lead)
        assert all(number(each, 2) in told for each in (amount, about.lead))
        least = int(about.weights[1, head, 8].argmin())
        below, _ = asked(model_head=f"1.{head}", looks_from="8", looks_at=str(least))
        assert below.lead < 0
        assert "has no reason to look at" in why_there.told(below)
        assert why.without(below) == ()


def test_taking_the_part_away_is_a_run_without_it():
    head = next(
        name
        for name in (f"1.{head}" for head in range(4))
        if (about := asked(model_head=name)[0]).best[0].kind == "head"
    )
    about, values = asked(model_head=head)
    seen = lesson.seen(values)
    off, *others = why.without(about)
    part, _ = about.best
    assert off == f"{part.layer}.{part.head}"
    assert len(others) == why_there.OTHERS
    amounts = dict(
        zip([p.name for p in about.parts.parts], about.parts.by_key().abs(), strict=True)
    )
    beside = [n for n in amounts if n.startswith(f"head {part.layer}.") and n != part.name]
    assert [f"head {other}" for other in others] == sorted(beside, key=amounts.get)[: len(others)]
    changes = Changes(heads=frozenset({(part.layer, part.head)}))
    left = run(seen.run.model, seen.run.ids, changed=changes)
    token = int(seen.chances.argmax())
    weight = float(left.weights[(about.parts.layer, about.parts.head, *about.at)])
    at = stands(visit(PAGE, model="tiny", prompt=TEXT, model_head=head))
    told = next(each for each in texts(at).split("\n") if each.startswith(f"Without head {off}"))
    assert f"{percent(weight)} of its weight, in place of {percent(about.weight)}" in told
    assert f"has {percent(float(logits(left, [-1])[0].softmax(-1)[token]))} then" in told
    (button,) = [each for each in at.button if each.label == f"Switch off head {off}, below"]
    button.click().run()
    assert stands(at).query_params["model_off"] == off


@pytest.mark.parametrize(("left", "rest", "share", "said"), [
    (0.1, (0.9, 0.88, 0.9), 0.9, "the sum and taking it away agree"),
    (0.6, (0.9, 0.9, 0.9), 0.9, "most is left"),
    (0.85, (0.9, 0.9, 0.9), 0.9, "The two disagree"),
    (0.95, (0.9, 0.9, 0.9), 0.9, "The two disagree"),
    (0.1, (0.9, 0.4, 0.9), 0.9, "not the only one"),
    (0.1, (), 0.9, "the sum and taking it away agree"),
    (0.1, (0.9, 0.9, 0.9), 0.29, "more than the sum says, which gives this part 29%"),
])  # fmt: skip
def test_where_the_sum_and_taking_it_away_disagree_the_words_say_so(left, rest, share, said):
    assert said in why_there.verdict(0.9, left, rest, share)


def test_the_whole_way_back_stands_over_the_sentence_and_names_what_a_measure_names():
    _, values = asked()
    seen = lesson.seen(values)
    *_, (_, made) = circuit_by_heads(seen.run, int(seen.chances.argmax()))
    pieces = list(lesson.encoded_of(values).pieces)
    drawn = way_back.chart(made, seen, pieces, "“purrs”").frame
    assert (drawn.kind == "way").sum() == len(made.ways)
    heads, tokens = drawn[drawn.kind == "head"], drawn[drawn.kind == "token"]
    assert {*heads.id} == {f"{each.part.layer}.{each.part.head}" for each in made.looks_at}
    assert not heads.duplicated(["x", "y"]).any(), "none stands on another"
    names = [pieces[at] for at in sorted({*drawn[drawn.token.notna()].token.astype(int)})]
    assert {*tokens.name} == {*names, "“purrs”"}
    for place in made.looks_at:
        shares = [
            float(lesson.scores_by(name, seen)[place.part.layer, place.part.head])
            for name in way_back.NAMES
        ]
        assert bool(way_back.name_of(place, seen)) == (max(shares) >= raster.MARKED_FROM)
    told = way_back.told(values, made, seen)
    assert percent(made.of_answer) in told
    assert percent(made.of_keys) in told
    *so_far, (share, again) = way_back.going_back(values).pieces()
    assert share == 1
    assert again == made
    assert len(so_far) == len(made.looks_at), "another visitor's turn after each head"


SMALL = {
    "tiny_language": (tiny_language, shipped.weights, WORDS, shipped.SIZE, "head 0.0", "cat"),
    "heads_learning": (heads_learning, lambda: shipped_run().weights, NAMES, SIZE, "head 0.1", "K"),
}


@pytest.mark.parametrize("page", SMALL)
def test_in_small_the_whole_table_stands_there_and_a_run_without_a_head_beside_it(page):
    lesson_of, weights, vocabulary, size, helper, found = SMALL[page]
    about = lesson_of.why_there(of())
    at = stands(visit_deeper(page))
    (sent,) = (each for each in charts(at) if each.alt.startswith("Who wrote what"))
    drawn = pa.ipc.open_stream(sent.data.data).read_pandas()
    cells = drawn[drawn.kind == "cell"]
    assert len(cells) == len(about.parts.parts) ** 2 == 36
    assert cells.amount.sum() == pytest.approx(about.lead, abs=1e-4)
    assert about.words[1] == f"“{found}”"
    told = texts(at)
    assert why_there.told(about) in told
    network = Network(size, seed=0).requires_grad_(False)
    network.load_state_dict(weights())
    network.W_output[0, int(helper[-1])] = 0
    _, rows = network(torch.tensor([[vocabulary.index(word) for word in about.pieces]]))
    left = float(rows[about.parts.layer, 0, about.parts.head, about.parts.query, about.parts.key])
    assert f"Without {helper}, {about.name} gives “{found}” {percent(left)} of its weight" in told
    heads = [each.kind == "head" for each in about.parts.parts]
    for side, called in ((about.parts.by_key(), "key"), (about.parts.by_query(), "query")):
        amount = number(float(side[torch.tensor(heads)].sum()), 2)
        assert re.search(
            rf"{called}: {re.escape(amount)}[^:]*\*\*{called}-composition", rendered(at)
        )


@pytest.mark.parametrize("page", SMALL)
def test_in_small_the_numbers_go_down_to_what_was_learned_and_can_be_taken_along(page):
    at = stands(visit_deeper(page))
    (button,) = (each for each in at.button if each.key == "open_why_numbers")
    button.click().run()
    assert "pair_scores" in stands(at).query_params["cell"]
    kinds = {each.label for each in at.get("download_button") if "score_" in each.key}
    assert {"Program", "Notebook", "Spreadsheet"} <= kinds
