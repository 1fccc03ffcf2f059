"""The examples: the notebooks' own, whose inputs decide embeddings; and what they open with."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from attention_core import (
    EXAMPLES,
    TOKENIZERS,
    Inputs,
    attend,
    attend_heads,
    attend_trainable,
    embed,
)
from attention_core.largest_effect import (
    effect_of_rows,
    largest_cell,
    moving_vector,
    parting_row,
    spread_entries,
    telling_head,
    telling_query,
)
from attention_core.text.embedding import MAX_DRAWN_ROWS

PUBLISHED = Path(__file__).parents[2] / "attention_core" / "published"
WILD_CAT = EXAMPLES["wild_cat"].inputs
JOURNEY = EXAMPLES["journey_123"].inputs


def published(name):
    path = PUBLISHED / f"{EXAMPLES[name].notebook}.json"
    return json.loads(path.read_text(encoding="utf-8"))["inputs"]


def value(inputs, step="embeddings"):
    return embed(inputs)[step].value


@pytest.mark.parametrize("name", [name for name, example in EXAMPLES.items() if example.notebook])
def test_sentence_tokens_and_given_vectors_are_the_published_ones(name):
    inputs, own = published(name), EXAMPLES[name].inputs
    assert own.sentence == (inputs.get("sentence") or " ".join(inputs["words"]))
    assert list(own.tokens) == (inputs.get("tokens") or inputs["words"])
    if "inputs" in inputs:
        assert torch.equal(value(own), torch.tensor(inputs["inputs"]))


def in_one_number(trace):
    """Of all that a trace begins with, what is given and what is drawn: moves with each number."""
    begins = torch.cat(
        [each.value.double().flatten() for each in trace.values() if not each.inputs]
    )
    return round((begins * torch.arange(len(begins)).cos()).sum().item(), 3)


NUMBERS = {
    "named_features": (5.183, 2.366, 5.984),
    "tiny_language": (-23.883, -28.686, -18.796),
    "wild_cat": (-2.579, -3.066, -4.83),
    "journey_123": (-7.023, -8.119, -8.135),
    "sorry_dave": (32127.759, 32125.67, 32121.744),
    "sorry_dave_first_run": (24878.944, 24878.296, 24875.607),
    "life_is_short": (12.701, 11.446, 16.554),
    "journey_789": (-7.023, -8.119, -3.842),
}
"""Of the embeddings, of the three matrices, and of the heads."""


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_has_the_numbers_that_it_had(name):
    one = EXAMPLES[name]
    embedded, asked, heads = (embed(one.inputs) for _ in range(3))
    attend_trainable(asked, one.projections)
    attend_heads(heads, one.heads)
    told = "links that people kept, and what lessons say of an example, rest on its numbers"
    found = [*map(in_one_number, (embedded, asked, heads))]
    assert found == pytest.approx(NUMBERS[name], abs=0.002), told


def test_dropping_blanks_changes_no_vector():
    kept, dropped = embed(WILD_CAT), embed(replace(WILD_CAT, drop_blanks=True))
    words = [place for place, token in enumerate(WILD_CAT.tokens) if token != " "]
    assert dropped.labels("token") == ("The", "dog", "attacks", "the", "wild", "cat")
    assert torch.equal(dropped["embeddings"].value, kept["embeddings"].value[words])
    assert torch.equal(dropped["embedding_table"].value, kept["embedding_table"].value)
    assert dropped.labels("vocabulary") == kept.labels("vocabulary")


@pytest.mark.parametrize("inputs", [
    *(Inputs("", tokenizer=name) for name in TOKENIZERS),
    *(Inputs(" \t\n", tokenizer=name, drop_blanks=True) for name in TOKENIZERS),
    Inputs(" \n"),
    Inputs("", vocabulary="random"),
    Inputs("", learned_from="the cat"),
    replace(JOURNEY, sentence=""),
], ids=str)  # fmt: skip
def test_a_sentence_without_tokens_is_refused_with_what_to_do(inputs):
    message = "there is no token in this sentence: type at least one word"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        embed(inputs)


def test_a_token_that_differs_from_a_known_one_by_case_has_a_row_of_its_own_that_says_the_same():
    inputs = replace(JOURNEY, sentence="your Your JOURNEY")
    trace = embed(inputs)
    assert len({*trace["token_ids"].value.tolist()}) == 3
    given = dict(JOURNEY.vectors)
    expected = torch.tensor([given[token] for token in ("Your", "Your", "journey")])
    assert torch.equal(trace["embeddings"].value, expected)
    both = replace(inputs, vectors=(*JOURNEY.vectors, ("your", (1.0, 2.0, 3.0))))
    assert value(both)[0].tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("changes", [
    {"d_in": 2},
    {"d_in": 5},
    {"vocabulary": "duplicates"},
    {"vectors": (*JOURNEY.vectors[:-1], ("step", (0.05, 0.8)))},
    {"vectors": ()},
], ids=str)  # fmt: skip
def test_given_vectors_are_used_only_where_all_have_the_width(changes):
    inputs = replace(JOURNEY, **changes)
    assert not inputs.has_given_vectors()
    n_rows = len(set((inputs.learned_from or inputs.sentence).split(" "))) + inputs.reserved
    with torch.random.fork_rng():
        torch.manual_seed(123)
        table = torch.nn.Embedding(n_rows, inputs.d_in).weight.detach()
    assert torch.equal(value(inputs, "embedding_table"), table)


@pytest.mark.parametrize(("changes", "drawn"), [
    ({"sentence": "Your journey starts with one leap, leap!"}, {"leap,", "leap!"}),
    ({"reserved": 2}, {"<unk>", "<pad>"}),
    ({"learned_from": "Your journey starts with one step and ends"}, {"and", "ends"}),
    ({"vectors": JOURNEY.vectors[:-1]}, {"step"}),
    ({"sentence": "他 🙂 \u0301 the and AND"}, {"他", "🙂", "\u0301", "the", "and", "AND"}),
], ids=lambda given: str(sorted(given)))  # fmt: skip
def test_only_a_word_without_a_vector_is_drawn_and_it_is_marked(changes, drawn):
    inputs = replace(JOURNEY, **changes)
    trace = embed(inputs)
    rows = dict(zip(trace.labels("vocabulary"), trace["embedding_table"].value, strict=True))
    assert {name[:-1] for name in rows if name[-1:] == "*"} == drawn
    own = dict(inputs.vectors)
    for name, row in rows.items():
        if name in own:
            assert row.tolist() == pytest.approx(own[name])
        else:
            assert row.abs().max() <= 0.5
            alone = embed(replace(inputs, sentence=name[:-1], learned_from=None))
            assert alone["embedding_table"].value[0].equal(row), "the same wherever it stands"
    for name, row in zip(trace.labels("token"), trace["embeddings"].value, strict=True):
        assert row.equal(rows[name])
    once = {name.strip("*,!").casefold(): tuple(row.tolist()) for name, row in rows.items()}
    assert len({*once.values()}) == len(once)


def test_a_small_table_is_looked_up_by_a_product_too_and_a_large_one_is_not():
    words = " ".join(f"w{place}" for place in range(MAX_DRAWN_ROWS + 1))
    large = embed(Inputs(words, reserved=0, d_in=2), with_product=True)
    small = embed(Inputs(words.rpartition(" ")[0], reserved=0, d_in=2), with_product=True)
    assert small["one_hot"].value.shape == (MAX_DRAWN_ROWS, MAX_DRAWN_ROWS)
    assert torch.equal(small["embeddings_by_product"].value, small["embeddings"].value)
    assert not {"one_hot", "embeddings_by_product"} & set(large)


# --- what a lesson opens with ---------------------------------------------------------------------
NAMED = EXAMPLES["named_features"]


def test_a_row_has_an_effect_as_far_as_it_tells_other_tokens_apart():
    rows = torch.tensor([[1.0, 0, 0, 0], [0.25] * 4, [0, 0.5, 0.5, 0], [0.9, 0, 0, 0.1]])
    even_of_three = torch.tensor([[1.0, 0, 0], [0.5, 0.5, 0], [1 / 3, 1 / 3, 1 / 3]])
    own, even, half, most = effect_of_rows(rows).tolist()
    assert own == 0
    assert even == pytest.approx(0)
    assert half == pytest.approx(0.5 * torch.tensor(0.5 * 2).log().item(), abs=1e-12)
    assert most == pytest.approx(0.9 * torch.tensor(0.9 * 2).log().item(), rel=1e-6)
    assert effect_of_rows(even_of_three).abs().max() < 1e-6
    assert effect_of_rows(torch.full((2, 3), torch.nan)).tolist() == [0, 0]
    assert telling_query(rows) == 3
    assert telling_head(torch.stack([rows[[1, 1, 1, 1]], rows])) == 1


def test_the_default_rows_of_the_first_example_are_those_that_the_function_finds():
    asked = attend_trainable(embed(NAMED.inputs), NAMED.projections)
    for trace in (attend(embed(NAMED.inputs)), asked):
        assert telling_query(trace["weights"].value) == NAMED.query == NAMED.token
    heads = attend_heads(embed(NAMED.inputs), NAMED.heads)["head_weights"].value
    assert heads[:, telling_query(heads)].max() > 0.5, "a query that asks for something"


def test_the_vector_that_moves_most_is_found_by_stretching_each():
    vectors = embed(NAMED.inputs)["embeddings"].value.double()

    def moved(token):
        longer = vectors.clone()
        longer[token] *= 2
        gap = ((longer @ longer.T).softmax(-1) - (vectors @ vectors.T).softmax(-1)).abs().sum(-1)
        return gap.sum() - gap[token]

    assert moving_vector(vectors @ vectors.T) == max(range(len(vectors)), key=moved)


def test_the_row_is_found_that_softmax_and_the_sum_share_out_most_differently():
    rows = torch.tensor([[1.0, 1, 1], [2, 1, 0], [8, 6, 2], [0.1, 0.2, 0.1]])

    def lift(row):
        return row.softmax(-1).max() - row.max() / row.sum()

    assert parting_row(rows) == max(range(4), key=lambda at: lift(rows[at])) == 2
    for below_0 in ([2.0, 1, -4], [2, 1, -2]):
        assert parting_row(torch.cat((rows, torch.tensor([below_0])))) == 4, "no shares at all"
    assert parting_row(torch.tensor([[1.0, -1], [3, 1]])) == 1, "0 is no sum to divide by"


@pytest.mark.parametrize(
    ("columns", "found"),
    [([[0, 9, 1], [0, 1, 5]], (1, 2)), ([[5, 0, 1], [1, 0, 9]], (0, 2)), ([[7], [1]], (0, 0)),
     ([[2, 2, 2], [2, 2, 2]], (0, 1)), ([[1, 0, 0], [0, 2, 0], [0, 0, 99]], (0, 1))],
)  # fmt: skip
def test_vectors_are_drawn_by_the_entries_in_which_they_differ_most(columns, found):
    weights = torch.tensor([0.5, 0.5, 0])[: len(columns)]  # nothing of the third is mixed
    assert spread_entries(torch.tensor(columns, dtype=torch.float32), weights) == found


def test_the_largest_cell_is_the_farthest_from_0():
    table = torch.tensor([[1.0, -3.0], [2.0, torch.nan], [-torch.inf, 0.0]])
    assert (largest_cell(table), largest_cell(table[1:].T)) == ((0, 1), (0, 0))
