"""What heads do over many sentences: the sums, the strongest pairs."""

from dataclasses import fields
from types import SimpleNamespace

import pytest
import torch

from attention_core.real_model import survey as surveys
from attention_core.real_model import tiny
from attention_core.real_model.measures import MEASURES
from attention_core.real_model.model import open_model
from attention_core.real_model.run import run
from attention_core.real_model.survey import english, of_tiny_language, survey
from model_folders import make

FEW = (
    "the cat sees the dog because it purrs",
    "the zebra is no word of this language",
    "anna brook finds the ball and anna brook holds the kite",
    "the old cow moos",
)


@pytest.fixture(scope="module")
def model():
    return open_model(tiny.TINY)


def whole(model, sentences):
    *_, (_, found) = survey(model, sentences)
    return found


@pytest.fixture(scope="module")
def few(model):
    return whole(model, FEW)


def same(one, other):
    def numbers(of):
        return [torch.as_tensor(getattr(of, each.name)).nan_to_num(-1) for each in fields(of)]

    return all(map(torch.equal, numbers(one), numbers(other)))


# --- the sentences -------------------------------------------------------------------------------
def test_the_sentences_are_short_and_none_is_there_twice():
    assert len(set(english())) == len(english()) == 200
    assert all(8 <= len(each.split()) <= 24 for each in english())
    assert len(set(of_tiny_language())) == surveys.N_TINY


def test_the_tiny_language_reads_its_own_sentences(model):
    found = whole(model, of_tiny_language())
    assert found.n_read == surveys.N_TINY
    assert min(found.n_queries) > 200, "each measure is asked often"


# --- the sums ------------------------------------------------------------------------------------
def test_means_are_those_of_the_sentences_joined_by_hand(model, few):
    runs = [run(model, model.tokenizer.encode(each).ids) for each in FEW if "zebra" not in each]
    assert few.n_read == 3
    for at, (name, measure) in enumerate(MEASURES.items()):
        counts = []
        for each in runs:
            n = len(each.ids)
            seen_before = sum(token in each.ids[:place] for place, token in enumerate(each.ids))
            counts.append(
                {"same": seen_before, "induction": seen_before, "near": n - 5}.get(name, n - 1)
            )
        of_each = [measure.of(each.weights, each.ids).double() for each in runs]
        total = sum(n * mean for n, mean in zip(counts, of_each, strict=True) if n > 0)
        joined = total / sum(count for count in counts if count > 0)
        torch.testing.assert_close(few.means[at], joined, atol=1e-6, rtol=0)
        some = [count for count in counts if count > 0]
        assert few.asked(name) == (sum(some), len(some)), name
        assert few.mean(name, 1, 2) == float(few.means[at, 1, 2])


def test_shares_rise_to_1_and_each_survey_is_of_the_sentences_so_far(model):
    told = [*survey(model, FEW)]
    assert [share for share, _ in told] == [0.25, 0.5, 0.75, 1]
    assert [found.n_read for _, found in told] == [1, 1, 2, 3]
    for n, (_, found) in enumerate(told, 1):
        assert same(found, whole(model, FEW[:n])), "what was told is not changed by what comes"


# --- the strongest pairs -------------------------------------------------------------------------
def test_pairs_are_the_strongest_without_the_first_token_and_oneself(model, few):
    for layer, head in ((0, 0), (1, 3)):
        by_hand = sorted(
            (
                (float(weights[query, key]), number, query, key)
                for number, sentence in enumerate(FEW)
                if "zebra" not in sentence
                for ids in [model.tokenizer.encode(sentence).ids]
                for weights in [run(model, ids).weights[layer, head]]
                for query in range(len(ids))
                for key in range(1, query)
            ),
            reverse=True,
        )[:10]
        found = few.pairs(layer, head)
        assert [each.weight for each in found] == [weight for weight, *_ in by_hand]
        assert {(e.sentence, e.query, e.key) for e in found} == {tuple(p) for _, *p in by_hand}


def test_a_head_that_looks_at_the_first_token_and_itself_alone_has_no_pairs():
    sums = surveys._Sums(SimpleNamespace(settings=SimpleNamespace(n_layers=1, n_heads=2)))
    both = torch.stack([torch.eye(4)[[0, 0, 0, 3]], torch.eye(4)[[0, 1, 1, 1]]])
    sums.add(7, (1, 2, 3, 4), both[None])
    found = sums.survey()
    assert found.pairs(0, 0) == []
    assert found.pairs(0, 1) == [surveys.Pair(1, 7, 2, 1), surveys.Pair(1, 7, 3, 1)]


def test_a_token_that_is_read_both_ways_may_look_ahead(tmp_path):
    make(tmp_path, "bert")
    model = open_model(tmp_path)
    sentence = " ".join(f"t{each}" for each in (3, 17, 5, 5, 41, 29, 52, 9))
    found = whole(model, [sentence])
    weights = run(model, model.tokenizer.encode(sentence).ids).weights[2, 1].clone()
    weights.fill_diagonal_(0)
    weights[:, 0] = 0
    assert found.pairs(2, 1)[0].weight == float(weights.max())
    assert found.asked("spread")[0] == len(weights), "the first token sees others too"


def test_a_model_that_can_read_nothing_has_nothing_to_tell(model):
    found = whole(model, ["no zebra", "none at all"])
    assert (found.n_read, found.pairs(0, 0)) == (0, [])
    assert found.means.isnan().all()
    assert whole(model, [" ".join(["the cat sees"] * 20)]).n_read == 0
