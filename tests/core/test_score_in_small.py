"""Scores of our own small networks taken apart: their sums, their traces, what is handed on."""

import pytest
import torch

from attention_core.real_model.score_in_small import carried, small_score_parts, small_score_trace
from attention_core.small_models import shipped
from attention_core.small_models.grammar import START, WORDS
from attention_core.small_models.induction import EXAMPLE, shipped_run
from attention_core.small_models.repeated import NAMES
from attention_core.small_models.tracing import pass_through

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
