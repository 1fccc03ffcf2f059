"""Heads that learn to continue what repeats: the run that comes along, a fresh one, its scores."""

from itertools import islice, pairwise, product
from statistics import fmean

import pytest
import torch

from attention_core.small_models import induction, repeated
from attention_core.small_models.induction import induction_head
from attention_core.small_models.network import Network


def drawn(seed, n_sequences=7):
    return repeated.draw_sequences(n_sequences, torch.Generator().manual_seed(seed))


def test_a_sequence_repeats_tokens_none_of_which_stands_twice_before():
    found = set()
    for ids in drawn(3, 200).tolist():
        period = ids.index(ids[0], 1)
        found.add(period)
        assert len({*ids[:period]}) == period
        assert ids == [ids[place % period] for place in range(induction.LENGTH)]
    assert found == {*range(repeated.PERIODS[0], repeated.PERIODS[1] + 1)}, "every period is drawn"
    assert drawn(3).max() < repeated.N_TOKENS == len(repeated.NAMES)


def test_both_scores_are_those_of_a_loop_over_every_row():
    sequences, length = drawn(2), induction.LENGTH
    generator = torch.Generator().manual_seed(5)
    weights = torch.rand(2, 7, 3, length, length, generator=generator)
    before = induction.previous_token(weights)
    matching = induction.prefix_matching(weights, sequences)
    assert before.shape == matching.shape == (2, 3)
    for layer, head in product(range(2), range(3)):
        on_before, on_targets = [], []
        for ids, each in zip(sequences.tolist(), weights[layer, :, head], strict=True):
            on_before += [each[query, query - 1] for query in range(1, length)]
            for query, row in enumerate(each):
                keys = [place + 1 for place in range(query) if ids[place] == ids[query]]
                on_targets += [row[keys].sum()] * bool(keys)
        assert before[layer, head].item() == pytest.approx(fmean(on_before), rel=1e-5)
        assert matching[layer, head].item() == pytest.approx(fmean(on_targets), rel=1e-5)


def has_learned(records):
    first, last = records[0], records[-1]
    assert first.prefix_matching.max() < 0.1
    assert last.prefix_matching[1].max() > 0.5
    assert last.loss_repeated < last.loss_first / 10
    assert last.loss_first > 2.5, "what cannot be known is not known"
    assert last.previous_token[0].max() > 2 * first.previous_token.max()
    assert 0 < induction.appearance(records) < len(records) - 1


def test_in_the_run_that_comes_along_an_induction_head_appears():
    records = induction.shipped_run().records
    has_learned(records)
    assert [record.step for record in records] == induction.recorded_steps()
    assert 60 <= len(records) <= 100
    assert induction.shipped_run().one_layer_loss > 20 * records[-1].loss_repeated
    assert induction.SHIPPED.stat().st_size < 300_000


@pytest.mark.slow("10 s: trains a network")
def test_in_a_fresh_run_one_appears_too():
    """As short as shows it with every seed that was tried."""
    has_learned([*induction.learn(induction.LearningSettings(seed=5, steps=180))])


def test_training_does_not_touch_the_random_numbers_of_others():
    before = torch.random.get_rng_state()
    list(islice(induction.learn(induction.LearningSettings(3, 8)), 2))
    assert torch.equal(before, torch.random.get_rng_state())


def test_the_steps_that_are_recorded_begin_and_end_the_run():
    for steps in (1, 2, 7, 40, 300, 3_000):
        found = induction.recorded_steps(steps)
        assert (found[0], found[-1]) == (0, steps)
        assert found == sorted({*found})
        assert max(b - a for a, b in pairwise(found)) <= 8


@pytest.mark.parametrize("steps", [0, -1, 100_000])
def test_a_number_of_steps_that_is_none_is_refused_in_words(steps):
    with pytest.raises(ValueError, match=f"{steps} steps: choose 1 to"):
        induction.LearningSettings(steps=steps)


def test_the_traced_weights_are_those_recorded_at_the_end():
    run = induction.shipped_run()
    trace = induction_head(run)
    last = run.records[-1]
    assert torch.allclose(
        trace["weights"].value, last.weights[induction.best_head(last)], atol=5e-4
    )
    on_targets = (trace["weights"].value * repeated.next_of_earlier(induction.EXAMPLE_IDS)).sum(-1)
    assert on_targets[len(induction.EXAMPLE) // 2 :].min() > 0.5


def test_what_is_kept_of_a_network_gives_its_own_weights():
    """Whatever network: a fresh one, as a trace."""
    run = induction.finished_run(induction.LearningSettings(seed=11, steps=2))
    assert run.records[0].weights.shape == run.records[-1].weights.shape
    last = run.records[-1]
    made = induction_head(run)["weights"].value
    assert torch.allclose(made, last.weights[induction.best_head(last)], atol=1e-6)
    with torch.no_grad():
        _, untrained = Network(induction.SIZE, 11)(induction.EXAMPLE_IDS[None])
    assert torch.equal(untrained[:, 0], run.records[0].weights)


def test_a_stored_run_is_read_as_it_was(tmp_path, monkeypatch):
    run = induction.finished_run(induction.LearningSettings(seed=1, steps=5))
    path = tmp_path / "run.safetensors"
    induction.store(run, path)
    monkeypatch.setattr("attention_core.small_models.induction.SHIPPED", path)
    read = induction.shipped_run.__wrapped__()
    assert read.one_layer_loss == pytest.approx(run.one_layer_loss)
    for before, after in zip(run.records, read.records, strict=True):
        assert before.step == after.step
        assert before.loss_first == pytest.approx(after.loss_first)
        assert torch.equal(before.prefix_matching, after.prefix_matching)
        assert torch.allclose(before.weights, after.weights, atol=5e-4)
    assert run.weights.keys() == read.weights.keys()
    for name, each in read.weights.items():
        torch.testing.assert_close(each, run.weights[name], atol=6e-6, rtol=0)
