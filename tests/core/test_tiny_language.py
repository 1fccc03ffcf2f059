"""The shipped network: what it reaches, what its heads do, and that a trace shows what it does."""

import math
import random
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from itertools import pairwise

import pytest
import torch

from attention_core.real_model.tiny import TINY
from attention_core.small_models import grammar, recording, shipped
from attention_core.small_models.figures import shipped_figures
from attention_core.small_models.grammar import START, WORDS, nearest, next_words, split
from attention_core.small_models.heads import BAR, FAR, KINDS, named
from attention_core.small_models.measuring import measure
from attention_core.small_models.network import Network
from attention_core.small_models.tiny_language import (
    HELD_OUT,
    SIZE,
    TrainingPlan,
    as_ids,
    bigram_loss,
    told,
    train,
    untrained,
)
from attention_core.small_models.tracing import contributions, pass_through

SENTENCES = (
    "the tired cat sees the dog because it",
    "the small frog follows the old horse but it",
    "anna brook finds the ball . the cow moos in the garden . anna",
    "clara hill says “ the bird sings in the forest",
    "",
)
HEADS = shipped_figures().heads
WANTED = {"pronoun to noun", "because", "name again", "whose name", "opening mark"}
"""What the grammar cannot be told without, and heads of the shipped network do."""


def words(sentence):
    return [START, *sentence.split()]


def traced(sentence, off=None):
    return pass_through(shipped.weights(), WORDS, words(sentence), off)


@pytest.fixture(scope="module")
def held_out():
    return told(1_000, HELD_OUT)


# --- what is shipped ------------------------------------------------------------------------------
def test_the_shipped_file_is_small_and_has_the_weights_of_the_network():
    assert shipped.WEIGHTS.stat().st_size < 300_000
    shapes = {name: p.shape for name, p in untrained(0).named_parameters()}
    assert {name: tensor.shape for name, tensor in shipped.weights().items()} == shapes


def test_the_loss_is_far_below_that_of_pairs_and_heads_do_what_the_grammar_asks_for():
    figures = shipped_figures()
    assert figures.entropy < figures.loss < 1.1 * figures.entropy
    assert figures.bigram > 1.3 * figures.loss
    assert {name for head in HEADS for name in figures.names(head)} >= WANTED
    left = (figures.loss - figures.entropy) / (figures.bigram - figures.entropy)
    assert left < 0.1  # of what pairs of words lack


@pytest.mark.slow("15 s: tells the texts that it was trained on")
def test_the_shipped_weights_give_the_shipped_figures(held_out):
    plan = TrainingPlan()
    found = measure(shipped.network(), untrained(plan.seed), held_out, told(plan.n_texts, seed=0))
    said = shipped_figures()
    assert found.loss == pytest.approx(said.loss, rel=1e-5)
    assert found.entropy == pytest.approx(said.entropy, rel=1e-6)
    assert found.bigram == pytest.approx(said.bigram, rel=1e-5)
    for name in ("scores", "untrained"):
        ours, theirs = getattr(found, name), getattr(said, name)
        assert ours.keys() == theirs.keys()
        for kind, table in ours.items():
            assert torch.allclose(torch.tensor(table), torch.tensor(theirs[kind]), atol=2e-4), kind


# --- heads ----------------------------------------------------------------------------------------
def test_names_are_given_by_rule():
    low = {kind.name: 0.1 for kind in KINDS}
    assert named(low, low) == ()
    assert named({**low, "itself": 0.7, "same word": 0.9}, low) == ("same word", "itself")
    assert named({**low, "itself": 0.7}, {**low, "itself": 0.6}) == ()
    assert named({**low, "itself": BAR - 0.01}, {**low, "itself": 0.0}) == ()


# --- the trace ------------------------------------------------------------------------------------
@pytest.mark.parametrize("sentence", SENTENCES)
def test_the_trace_has_the_numbers_of_transformers(sentence):
    reference = pytest.importorskip("transformers").GPT2LMHeadModel
    model = reference.from_pretrained(TINY, attn_implementation="eager")
    for block in model.transformer.h:
        block.mlp.forward = torch.zeros_like  # there is none
    with torch.no_grad():
        ids = as_ids(words(sentence))[None]
        wanted = model(ids, output_attentions=True, output_hidden_states=True)
    trace = traced(sentence)
    names = {f"layer_{at}_weights": each for at, each in enumerate(wanted.attentions)}
    streams = ("embeddings", "layer_0_stream", "normed")
    names |= dict(zip(streams, wanted.hidden_states, strict=True)) | {"logits": wanted.logits}
    for name, value in names.items():
        torch.testing.assert_close(trace[name].value, value[0], rtol=1e-5, atol=2e-5)
    torch.testing.assert_close(trace["probabilities"].value, wanted.logits[0].softmax(-1))


@pytest.mark.parametrize("off", [None, HEADS[1], HEADS[-2]])
@pytest.mark.parametrize("sentence", SENTENCES)
def test_what_the_parts_bring_adds_up_to_the_logit(sentence, off):
    trace = traced(sentence, off)
    for token in {0, len(words(sentence)) // 2, len(words(sentence)) - 1}:
        for word in ("purrs", "barks", ".", START):
            at = WORDS.index(word)
            parts = contributions(trace, at, token)
            assert len(parts) == 2 + len(HEADS)
            logit = trace["logits"].value[token, at].item()
            assert sum(part.amount for part in parts) == pytest.approx(logit, abs=1e-5)
            assert all(part.amount == 0 for part in parts if part.head == off and off)


def told_right(sentence, off):
    """The chance that the network, without a head, gives to what the grammar may say next."""
    right = [WORDS.index(word) for word in next_words(words(sentence))]
    return traced(sentence, off)["probabilities"].value[-1, right].sum().item()


@pytest.mark.parametrize(("kind", "sentence"), [
    ("because", "the tired cat sees the dog because it"),
    ("whose name", "anna brook finds the ball . ben hill paints the kite . anna"),
    ("name again", "anna brook finds the ball . ben hill paints the kite . anna"),
])  # fmt: skip
def test_a_sentence_goes_wrong_without_the_head_that_it_needs(kind, sentence):
    assert told_right(sentence, None) > 0.95
    assert told_right(sentence, shipped_figures().best(kind)) < 0.3


@pytest.mark.parametrize(("typed", "read"), [
    ('Anna Brook says "the cat purrs" .', "anna brook says “ the cat purrs ” ."),
    ("anna(the dog barks)holds", "anna ( the dog barks ) holds"),
    ('“the" "it', "“ the ” “ it"),
    ("  ", ""),
    ("<start>*", "<start>*"),
])  # fmt: skip
def test_what_is_typed_is_cut_into_words_and_marks(typed, read):
    assert split(typed) == read.split()


def test_the_nearest_words_of_one_that_is_not_known():
    assert (nearest("cats")[0], nearest("barked")[0]) == ("cat", "barks")
    for other in ("zebra", "猫", "lion"):
        assert nearest(other) == [], "spelled like none of them"
    assert START not in nearest(START)


def test_unknown_words_and_lengths_are_refused():
    with pytest.raises(ValueError, match="'lion' is not in the vocabulary"):
        pass_through(shipped.weights(), WORDS, [START, "the", "lion"])
    for wrong in ([], [START] * (SIZE.n_positions + 1)):
        with pytest.raises(ValueError, match=f"reads 1 to {SIZE.n_positions}"):
            pass_through(shipped.weights(), WORDS, wrong)
    assert pass_through(shipped.weights(), WORDS, [START] * SIZE.n_positions)


# --- training -------------------------------------------------------------------------------------
@pytest.mark.slow("1 s: trains")
def test_a_few_steps_of_training_learn_and_are_the_same_again():
    texts, plan = told(100, 5), TrainingPlan(seed=4, steps=60, batch=8)

    def run(plan):
        return [wrong for _, wrong, _ in train(plan, texts)]

    first = run(plan)
    assert first[-1] < 0.8 * first[0]
    assert len(first) == plan.steps
    assert first == run(plan)
    assert first[0] != run(replace(plan, steps=1, seed=5))[0]


def test_the_rate_rises_for_50_steps_and_falls_along_a_cosine(monkeypatch):
    rates, step = [], torch.optim.Adam.step
    monkeypatch.setattr(
        torch.optim.Adam,
        "step",
        lambda self: (rates.append(self.param_groups[0]["lr"]), step(self)),
    )
    plan = TrainingPlan(seed=4, steps=60, batch=2, learning_rate=0.01)
    assert [done for done, *_ in train(plan, told(10, 5))] == [*range(1, 61)]
    falls = [(1 + math.cos(math.pi * at / 60)) / 2 for at in range(60)]
    rises = [min(1, at / 50) for at in range(1, 61)]
    assert rates == pytest.approx([0.01 * one * two for one, two in zip(rises, falls, strict=True)])


# --- the recorded training ------------------------------------------------------------------------
def test_the_recording_is_small_and_goes_from_the_first_step_to_the_last():
    moments = recording.shipped_recording()
    assert recording.RECORDING.stat().st_size < 150_000
    steps = [moment.step for moment in moments]
    assert steps == recording.recorded_steps(TrainingPlan().steps)
    assert (steps[0], steps[-1], len(steps)) == (0, TrainingPlan().steps, recording.MOMENTS)
    gaps = [later - earlier for earlier, later in pairwise(steps)]
    assert gaps[0] >= 1
    assert all(later - earlier >= -1 for earlier, later in pairwise(gaps)), "denser at the start"
    n_words = len(recording.SENTENCE)
    for moment in moments:
        assert moment.scores.shape == (len(recording.ASKED_FOR), SIZE.n_layers, SIZE.n_heads)
        assert moment.weights.shape == (SIZE.n_layers, SIZE.n_heads, n_words, n_words)
        assert torch.allclose(moment.weights.sum(-1), torch.ones(()), atol=4e-3)
        assert not moment.weights.triu(1).any()
    assert next_words(recording.SENTENCE), "the grammar says the sentence"


def test_heads_get_their_names_one_after_the_other():
    moments = recording.shipped_recording()
    first, last = moments[0], moments[-1]
    assert last.loss == pytest.approx(shipped_figures().loss, rel=0.02)
    assert first.loss > 3 * last.loss
    for kind, scores in zip(recording.ASKED_FOR, last.scores, strict=True):
        at = recording.first_named(moments, kind)
        if at is None:
            assert kind not in WANTED
            continue
        head = recording.best(last, kind)
        assert scores[head] == scores.max() > 0.9
        assert first.scores_of(head)[kind] < 0.2
        assert kind in recording.names_at(moments, at, recording.best(moments[at], kind))
        place = recording.ASKED_FOR.index(kind)
        before = [each.scores[place] for each in moments[:at]]
        assert all((each < BAR).all() or (each - before[0]).max() < FAR for each in before)
        assert moments[at].scores[place].max() >= BAR
        (kind_of,) = [each for each in KINDS if each.name == kind]
        looks = list(kind_of.looks(recording.SENTENCE))
        assert looks
        for query, keys in looks:
            assert last.weights[*head, query, list(keys)].sum() > BAR, "so it does on the sentence"
    steps = [recording.first_named(moments, kind) for kind in WANTED]
    assert len({*steps}) > 3


def test_a_run_is_recorded_by_the_way_and_read_as_it_was(held_out, tmp_path, monkeypatch):
    texts, plan = told(60, 5), TrainingPlan(seed=4, steps=5, batch=8)
    few = replace(held_out, ids=held_out.ids[:40], chances=held_out.chances[:40])
    moments, (*_, network) = zip(*list(recording.record(plan, texts, few)), strict=True)
    assert [moment.step for moment in moments] == [0, 1, 2, 3, 4, 5]
    *_, (_, _, alone) = train(plan, texts)
    for name, parameter in network.named_parameters():
        shortened = (dict(alone.named_parameters())[name].double() * 1e4).round() / 1e4
        assert torch.allclose(parameter.double(), shortened, atol=1e-7), "what is shipped"
    figures = measure(network, untrained(4), few, texts)
    assert figures.loss == pytest.approx(moments[-1].loss, rel=1e-6)
    for place, name in enumerate(recording.ASKED_FOR):
        found = torch.tensor(figures.scores[name])
        assert torch.allclose(found, moments[-1].scores[place], atol=1e-4, equal_nan=True)
    recording.store(moments, tmp_path / "run.safetensors")
    monkeypatch.setattr(recording, "RECORDING", tmp_path / "run.safetensors")
    for before, after in zip(moments, recording.shipped_recording.__wrapped__(), strict=True):
        assert (before.step, pytest.approx(before.loss)) == (after.step, after.loss)
        assert torch.equal(before.scores, after.scores)
        assert torch.allclose(before.weights, after.weights, atol=5e-4)


@pytest.mark.long  # 10 s: tells texts and measures
def test_the_command_trains_says_what_came_and_writes_it(monkeypatch, capsys, tmp_path):
    command = import_module("attention_core.small_models.__main__")

    @dataclass(frozen=True)
    class Short(TrainingPlan):
        steps: int = 3
        n_texts: int = 60

    monkeypatch.setattr(command, "TrainingPlan", Short)
    figures = import_module("attention_core.small_models.figures")
    monkeypatch.setattr(shipped, "WEIGHTS", tmp_path / "weights")
    monkeypatch.setattr(figures, "SHIPPED", tmp_path / "figures")
    monkeypatch.setattr(command, "store", partial(recording.store, path=tmp_path / "recording"))
    command.main()
    said = capsys.readouterr().out
    assert all(f"\nhead {i}.{j}: " in said for i, j in HEADS)
    assert {file.name for file in tmp_path.iterdir()} == {"recording", "weights", "figures"}


# --- its grammar ----------------------------------------------------------------------------------
SPOKEN = [grammar.spoken(random.Random(seed), 48) for seed in range(40)]


def sure(words, sentence):
    chances = grammar.next_words([grammar.START, *words, *sentence.split()])
    return {word for word, chance in chances.items() if chance > 0}


def test_the_vocabulary_has_every_word_once():
    assert len(grammar.WORDS) == len({*grammar.WORDS}) == 61
    assert {word for words, _ in SPOKEN for word in words} == {*grammar.WORDS}


@pytest.mark.parametrize("seed", range(5))
def test_the_chances_after_any_words_sum_to_1_and_are_those_of_the_text(seed):
    words, had = SPOKEN[seed]
    for place, word in enumerate(words):
        chances = grammar.next_words(words[:place])
        assert sum(chances.values()) == pytest.approx(1)
        assert {*chances} <= {*grammar.WORDS}
        assert min(chances.values()) > 0
        assert chances[word] == had[place]


def test_because_asks_for_the_first_animal_and_but_for_the_second():
    for before in ([], ["the", "old", "cow", "moos", "."]):
        assert sure(before, "the cat sees the dog because it") == {*grammar.ANIMALS["cat"]}
        assert sure(before, "the old cat sees the tired dog but it") == {*grammar.ANIMALS["dog"]}


def test_a_name_goes_on_as_before_and_others_are_free():
    said = ["anna", "brook", "finds", "the", "ball", "."]
    assert sure(said, "anna") == {"brook"}
    assert sure(said, "ben") == {*grammar.SECOND_NAMES}
    assert sure(said, "ben wood holds the kite and anna") == {"brook"}
    assert {*grammar.PEOPLE} <= sure(said, "")


def test_what_was_opened_is_closed():
    for mark in grammar.CLOSES:
        verb = "says “" if mark == "“" else "("
        assert sure([], f"anna brook {verb} the cat purrs") == {grammar.CLOSES[mark], "in"}
        assert sure([], f"anna brook {verb} the cat purrs in the house") == {grammar.CLOSES[mark]}
    assert sure([], "the cat purrs in the house") == {"."}


@pytest.mark.parametrize("wrong", ["the the", "the cat barks", "anna says", "<start>"])
def test_what_the_grammar_never_says_is_refused_with_the_word(wrong):
    with pytest.raises(ValueError, match=f"'{wrong.split()[-1]}' cannot come after"):
        grammar.next_words([grammar.START, *wrong.split()])


def test_the_same_seed_tells_the_same_texts_and_held_out_ones_are_others():
    assert told(20, 3).ids.equal(told(20, 3).ids)
    trained, held_out = told(2_000, 0), told(200, HELD_OUT)
    seen = {tuple(text) for text in trained.ids.tolist()}
    assert not seen & {tuple(text) for text in held_out.ids.tolist()}


def test_what_pairs_of_words_reach_is_counted_pair_by_pair():
    learned, texts = told(20, seed=1), told(5, seed=2)
    pairs, before = Counter(), Counter()
    for row in learned.ids.tolist():
        for pair in pairwise(row):
            pairs[pair] += 1
            before[pair[0]] += 1
    lost = [
        -math.log((pairs[one, other] + 1) / (before[one] + SIZE.n_tokens))
        for row in texts.ids.tolist()
        for one, other in pairwise(row)
    ]
    assert bigram_loss(learned, texts) == pytest.approx(sum(lost) / len(lost), rel=1e-5)


@pytest.mark.parametrize("d_model", [30, 60])
def test_a_network_starts_with_numbers_that_keep_a_stream_s_size(d_model):
    network = Network(replace(SIZE, d_model=d_model, n_layers=5), seed=3)
    spread = {name: each.std().item() * d_model**0.5 for name, each in network.named_parameters()}
    of_embeddings = d_model**0.5 / 2
    assert spread == pytest.approx(
        dict.fromkeys(spread, 1.0)
        | {"W_token": of_embeddings, "W_position": of_embeddings, "W_output": 0.5},
        rel=0.1,
    )
