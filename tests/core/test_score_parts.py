"""Scores of a real model taken apart into who wrote what."""

import pytest
import torch

from attention_core.real_model.attribution import attribution
from attention_core.real_model.changes import Changes
from attention_core.real_model.circuit import MOST_HEADS, Place, circuit_by_heads
from attention_core.real_model.layer_trace import layer_trace
from attention_core.real_model.model import open_model
from attention_core.real_model.run import run
from attention_core.real_model.score_in_small import carried, small_score_parts, small_score_trace
from attention_core.real_model.score_parts import read_by_head, score_parts
from attention_core.real_model.score_trace import score_trace
from attention_core.real_model.written import Writer
from attention_core.small_models import shipped
from attention_core.small_models.grammar import START, WORDS
from attention_core.small_models.induction import EXAMPLE, shipped_run
from attention_core.small_models.repeated import NAMES
from attention_core.small_models.tracing import pass_through
from checks import held, run_anew
from model_folders import EACH_KIND, FAMILIES, make, smollm2
from sampling import marked

IDS = (3, 17, 5, 5, 41, 29, 52, 0)
QUERY = 6


def off_by(found, step=1):
    """By how much parts miss the model's scores, as a share of a head's largest."""
    worst, last = 0.0, len(found.ids) - 1
    for layer in range(0, found.model.settings.n_layers, step):
        trace = layer_trace(found.model, found.before[layer], layer, parts="attention")
        own = trace["head_scaled_scores"].value[:, last]
        for head, scores in enumerate(own):
            _, queries = read_by_head(found, layer, head, "query", [last])
            _, keys = read_by_head(found, layer, head, "key", range(last + 1))
            made = queries.sum(0) @ keys.sum(0).T * found.model.settings.scale(layer)
            worst = max(worst, float((made - scores).abs().max() / scores.abs().max()))
    return worst


DIFFER = ("gemma2 tight caps", "llama biases", "llama slowed", "gpt2", "bert", "gpt_neox in turn")
DIFFER += ("phi3 longer", "granite biases", "gemma3 pattern")
DRAWN = ("gemma2 tight caps", "gemma3", "qwen3 biases", "gpt2", "gpt_neox in turn")
OTHERS = pytest.mark.slow("0.3 s: the same of other families")


@pytest.mark.parametrize("name", marked(FAMILIES, DIFFER, OTHERS))
def test_the_parts_add_up_to_the_scores_of_every_family(tmp_path, name):
    make(tmp_path, name)
    found = run(open_model(tmp_path), IDS)
    assert off_by(found) < 1e-4
    parts = score_parts(found, 2, 3, QUERY, 5)
    scores = layer_trace(found.model, found.before[2], 2)["head_scaled_scores"]
    assert parts.score == pytest.approx(float(scores.value[3, QUERY, 5]), rel=1e-4, abs=1e-4)
    assert parts.cap == found.model.settings.score_cap
    names = [each.name for each in parts.parts]
    assert len({*names}) == len(names), "each has a name of its own"
    others = [key for key in found.weights[2, 3, QUERY].nonzero().flatten().tolist() if key != 5]
    mean = sum(score_parts(found, 2, 3, QUERY, key).table for key in others) / len(others)
    torch.testing.assert_close(parts.above, parts.table - mean, atol=1e-4, rtol=1e-4)


TRACED = [
    "gpt2",
    "gpt2 deeper smaller",
    "bert",
    "gemma2 tight caps",
    "gemma3",
    "llama slowed",
    "qwen2",
    "qwen3 biases",
]
TRACED += sorted({*EACH_KIND} - {*TRACED})


@pytest.mark.parametrize("name", marked(TRACED, DRAWN, OTHERS))
def test_the_trace_has_the_same_table_down_to_the_file(tmp_path, monkeypatch, name):
    make(tmp_path, name)
    found = run(open_model(tmp_path), IDS)
    made, trace = score_parts(found, 2, 3, QUERY, 5), score_trace(found, 2, 3, QUERY, 5)
    scale = float(made.table.abs().max())
    table = trace["pair_scores"].value.double()
    torch.testing.assert_close(table, made.table, atol=1e-5 * scale, rtol=1e-4)
    assert float(trace["score"].value) == pytest.approx(made.score, abs=1e-4 * scale)
    assert ("capped_score" in trace) == (made.cap is not None)
    names = tuple(each.name.replace(" ", "·") for each in made.parts)
    assert trace.labels("key_part") == trace.labels("query_part") == names
    held(trace, 5)
    monkeypatch.chdir(tmp_path)
    run_anew(trace, rounding=1e-5)


@pytest.mark.parametrize(("name", "at", "words"), [
    ("llama", (3, 0, 5, 1), "no layer 3: counted from 0, the last is 2"),
    ("llama", (1, 6, 5, 1), "no head 6"),
    ("llama", (1, 0, 8, 1), "no token 8"),
    ("llama", (1, 0, 3, 5), "token 3 does not see token 5, which stands behind it"),
    ("mistral", (1, 0, 6, 1), "token 6 does not see token 1, which is hidden from it"),
])  # fmt: skip
def test_what_has_no_parts_is_said(tmp_path, name, at, words):
    make(tmp_path, name)
    found = run(open_model(tmp_path), IDS)
    for take_apart in (score_parts, score_trace):
        with pytest.raises(ValueError, match=words):
            take_apart(found, *at)


def test_numbers_that_are_not_finite_have_no_parts(tmp_path):
    make(tmp_path, "llama")
    model = open_model(tmp_path)
    changes = Changes(patches={(0, 1): torch.full((30,), torch.inf)})
    with pytest.raises(ValueError, match="not finite stand in the stream before layer 2"):
        score_parts(run(model, IDS, changed=changes), 2, 0, 6, 1)


def test_a_token_that_sees_itself_alone_has_nothing_to_be_above_of(tmp_path):
    make(tmp_path, "llama")
    made = score_parts(run(open_model(tmp_path), IDS), 2, 0, 0, 0)
    assert made.is_alone
    assert made.score != 0


def checked(found, made):
    """A circuit whose every number stands in the tables, which are worked out anew."""
    assert 1 <= len(made.looks_at) <= MOST_HEADS
    last = len(found.ids) - 1
    for way in made.ways:
        if way.target is None:
            assert way.source.token == last
            continue
        at = way.target.part.layer, way.target.part.head, way.target.token
        key, weight = made.looks_at[way.target]
        assert weight == pytest.approx(float(found.weights[at].max()))
        parts = score_parts(found, *at, key)
        amounts = parts.by_key() if way.side == "key" else parts.by_query()
        assert way.source.token == (key if way.side == "key" else way.target.token)
        place = parts.parts.index(way.source.part)
        assert way.amount == pytest.approx(float(amounts[place]), abs=1e-4)
        assert way.share == pytest.approx(way.amount / float(parts.above.sum()), rel=1e-3)
        heads = [each.kind == "head" for each in parts.parts]
        best = amounts.max(), amounts[torch.tensor(heads)].max() if any(heads) else None
        assert float(amounts[place]) in [float(each) for each in best if each is not None]
    followed = {way.source for way in made.ways if way.source.part.kind == "head"}
    assert followed == {*made.looks_at}, "every head that is drawn goes on"
    assert 0 < made.of_answer <= 1
    assert 0 <= made.of_keys <= 1


@pytest.mark.parametrize("name", ["llama", "gpt2", "gemma2", "qwen3 biases"])
def test_the_way_back_is_drawn_from_the_tables_alone(tmp_path, name):
    make(tmp_path, name)
    found = run(open_model(tmp_path), IDS)
    *so_far, (share, made) = circuit_by_heads(found, 11)
    checked(found, made)
    assert [len(each.looks_at) for _, each in so_far] == [*range(len(made.looks_at))]
    assert share == 1 > so_far[-1][0]
    *_, (_, against) = circuit_by_heads(found, 11, 4)
    brought = [way for way in against.ways if way.side == "answer"]
    heads = attribution(found, 11, against=4).heads[: len(brought)]
    assert [way.amount for way in brought] == [each.amount for each in heads]


def test_scores_of_smollm2_and_who_wrote_what_its_induction_heads_find():
    model = smollm2()
    made = run(model, model.tokenizer.encode("The blorp zindle quaffs. Later, the blorp").ids)
    assert off_by(made, step=9) < 1e-4
    last, key = len(made.ids) - 1, 3
    for layer, head in ((17, 3), (17, 4), (17, 5), (18, 6)):
        parts = score_parts(made, layer, head, last, key)
        assert parts.parts[int(parts.by_key().argmax())].name == "head 16.0"
    assert made.weights[16, 0, key, key - 1] > 0.85
    (z,) = model.tokenizer.encode(" z").ids
    *_, (_, back) = circuit_by_heads(made, z)
    assert Place(Writer("head", 16, 0), key) in back.looks_at, "18.6, which 28.0 asks with"


# --- of our own small networks --------------------------------------------------------------------
TEXT = tuple(f"{START} the tired cat sees the dog because it".split())
OURS = {
    "tiny language": (shipped.weights, WORDS, TEXT),
    "induction": (lambda: shipped_run().weights, NAMES, EXAMPLE),
}
each_of_ours = pytest.mark.parametrize("name", OURS)


def ours(name):
    weights, vocabulary, words = OURS[name]
    return weights(), vocabulary, words, pass_through(weights(), vocabulary, words)


@each_of_ours
def test_the_parts_add_up_to_the_score_of_every_head_query_and_key(name):
    *_, words, trace = ours(name)
    for layer in range(2):
        scores = trace[f"layer_{layer}_scaled_scores"].value
        for head in range(len(scores)):
            for query in range(len(words)):
                for key in range(query + 1):
                    made = small_score_parts(trace, layer, head, query, key)
                    assert made.score == pytest.approx(float(scores[head, query, key]), abs=1e-4)
                    others = scores[head, query, [k for k in range(query + 1) if k != key]]
                    lead = scores[head, query, key] - others.mean() if query else torch.zeros(())
                    assert float(made.above.sum()) == pytest.approx(float(lead), abs=2e-4)
    assert [part.name for part in made.parts[:3]] == ["token", "position", "head 0.0"]


@each_of_ours
@pytest.mark.parametrize("at", [(1, 1, 8, 3), (1, 2, 5, 5), (0, 3, 4, 2)])
def test_the_trace_has_the_same_table_and_goes_down_to_what_was_learned(name, at):
    weights, vocabulary, words, trace = ours(name)
    parts, made = small_score_parts(trace, *at), small_score_trace(weights, vocabulary, words, *at)
    torch.testing.assert_close(
        made["pair_scores"].value.double(), parts.table, atol=1e-5, rtol=1e-4
    )
    assert float(made["score"].value) == pytest.approx(parts.score, abs=1e-4)
    assert made.labels("key_part")[:2] == ("token", "position")
    given = {each for each in made["score"].earlier() if not made[each].inputs}
    learned = {"W_token", "W_position", *(f"layer_{at[0]}_W_{role}" for role in ("query", "key"))}
    assert given - {"word_ids", "place_ids", "mask"} >= learned
    assert not [each for each in given if "written" in each], "what was written is worked out"


def test_a_head_of_ours_that_is_off_wrote_nothing_and_the_future_has_no_parts():
    weights, vocabulary, words, _ = ours("induction")
    trace = pass_through(weights, vocabulary, words, off=(0, 1))
    parts = small_score_parts(trace, 1, 0, 8, 1)
    assert float(parts.by_key()[3]) == float(parts.by_query()[3]) == 0
    made = small_score_trace(weights, vocabulary, words, 1, 0, 8, 1, off=(0, 1))
    assert float(made["score"].value) == pytest.approx(parts.score, abs=1e-4)
    with pytest.raises(ValueError, match="token 3 does not see token 5, which stands behind it"):
        small_score_parts(trace, 1, 0, 3, 5)


@each_of_ours
def test_what_is_handed_on_is_shared_out_among_all_that_wrote_it(name):
    weights, *_, trace = ours(name)
    shares = carried(trace, 1, 2, 4)
    assert float(shares.sum()) == pytest.approx(1)
    stream = trace["layer_1_normed"].inputs[0].value[4]
    wrote = trace["layer_0_head_outputs"].value[1, 4] / stream.std(correction=0)
    value = (wrote - wrote.mean()) @ weights["W_value"][1, 2]
    whole = trace["layer_1_values"].value[2, 4]
    wanted = float(value @ whole) / float(whole @ whole)
    assert float(shares[3]) == pytest.approx(wanted, abs=1e-3)
