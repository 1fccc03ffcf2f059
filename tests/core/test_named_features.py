"""The example whose vectors and matrices were set by hand: it tells its story, and says so."""

from dataclasses import replace

import pytest
import torch

from attention_core import (
    EXAMPLES,
    SimplifiedOptions,
    attend,
    attend_heads,
    attend_masked,
    attend_trainable,
    embed,
)
from attention_core.recipes import ROLES, HeadsRecipe, Projections

EXAMPLE = EXAMPLES["named_features"]
WORDS = EXAMPLE.inputs.tokens
WHO, WHOM, HOW = range(3)


def row(weights, word):
    """What a word's row of weights gives each word; a word that stands twice gets both."""
    shares = dict.fromkeys(WORDS, 0.0)
    for key, share in zip(WORDS, weights[WORDS.index(word)].tolist(), strict=True):
        shares[key] += share
    return shares


def simplified():
    return attend(embed(EXAMPLE.inputs), SimplifiedOptions(divide=EXAMPLE.divide))["weights"].value


def masked():
    return attend_masked(embed(EXAMPLE.inputs), scale=EXAMPLE.divide)["weights"].value


def projected(**changes):
    trace = attend_trainable(embed(EXAMPLE.inputs), replace(EXAMPLE.projections, **changes))
    return trace["weights"].value


def heads(**changes):
    return attend_heads(embed(EXAMPLE.inputs), replace(EXAMPLE.heads, **changes))


# --- the story ------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [simplified, masked], ids=["simplified", "masked"])
def test_alike_words_attract_so_it_looks_at_both_animals_and_cannot_tell_which(weights):
    it = row(weights(), "it")
    assert it["cat"] == pytest.approx(it["mouse"], abs=1e-6)
    assert it["cat"] + it["mouse"] > 0.65
    assert max(share for word, share in it.items() if word not in ("cat", "mouse")) < 0.2


def test_its_query_asks_for_a_hunter_and_the_cat_answers():
    it = row(projected(), "it")
    assert 0.6 < it["cat"] < 0.9
    assert it["cat"] > 3 * it["mouse"]


@pytest.mark.parametrize(
    ("word", "answers"),
    [("hungry", {"cat", "mouse"}), ("chases", {"cat"}), ("purrs", {"cat"}), ("cat", {"chases"})],
)
def test_other_queries_ask_too(word, answers):
    """A mood asks for an animal, an action for its doer, an animal for an action."""
    shares = row(projected(), word)
    asked = {name: shares.pop(name) for name in answers}
    assert sum(asked.values()) > 0.5
    assert min(asked.values()) > 2 * max(shares.values())


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    ("head", "word", "answer", "least"),
    [
        (WHO, "it", "cat", 0.6),
        (WHO, "chases", "cat", 0.6),
        (HOW, "it", "hungry", 0.4),
        (HOW, "cat", "hungry", 0.45),
    ],
)
def test_each_head_asks_what_its_name_says(head, word, answer, least, causal):
    """The cat and what is said of it come before `it`, so the causal mask leaves the story be."""
    shares = row(heads(causal=causal)["head_weights"].value[head], word)
    assert least < shares[answer] < 0.95
    assert shares[answer] > 2 * max(share for name, share in shares.items() if name != answer)


def test_the_head_that_asks_for_whom_finds_the_mouse_where_it_may_look_ahead():
    for word in ("chases", "cat"):
        assert row(heads()["head_weights"].value[WHOM], word)["mouse"] > 0.5


def test_a_head_that_a_word_asks_nothing_shares_evenly():
    shares = heads()["head_weights"].value[WHOM, WORDS.index("it")].tolist()
    assert shares == pytest.approx([1 / len(WORDS)] * len(WORDS))


def test_it_comes_out_as_an_animal_that_hunts_and_is_hungry():
    trace = heads()
    it = trace["output"].value[WORDS.index("it")]
    found = dict(zip(trace.labels("d_model"), it.tolist(), strict=True))
    assert min(found[name] for name in ("animal", "hunter", "mood")) > 0.9
    assert max(found[name] for name in ("small", "action", "refers")) < 0.5
    context = attend_trainable(embed(EXAMPLE.inputs), EXAMPLE.projections)["context_vectors"]
    animal, hunter, mood, action = context.value[WORDS.index("it")].tolist()
    assert min(animal, hunter) > 1 > 5 * max(mood, action)


def test_numbers_can_be_read():
    """One decimal each, and most of them 0."""
    vectors = [vector for _, vector in EXAMPLE.inputs.vectors]
    tables = (vectors, *EXAMPLE.projections.given, EXAMPLE.heads.given.output)
    for table in (*tables, *(each for head in EXAMPLE.heads.given.by_head for each in head)):
        numbers = [number for row in table for number in row]
        assert all(number == round(number, 1) for number in numbers)
        assert numbers.count(0) > len(numbers) / 2


# --- what is given, and when it is used -----------------------------------------------------------


def test_given_matrices_are_the_ones_in_the_trace():
    trace = attend_trainable(embed(EXAMPLE.inputs), EXAMPLE.projections)
    for role, table in zip(ROLES, EXAMPLE.projections.given, strict=True):
        assert torch.equal(trace[f"W_{role}"].value, torch.tensor(table))
        assert not trace[f"W_{role}"].inputs
    trace = heads()
    for head, tables in enumerate(EXAMPLE.heads.given.by_head):
        for role, table in zip(ROLES, tables, strict=True):
            assert torch.equal(trace[f"head_W_{role}"].value[head], torch.tensor(table))
    assert torch.equal(trace["W_output"].value, torch.tensor(EXAMPLE.heads.given.output))


@pytest.mark.parametrize(
    ("changes", "drawn"),
    [
        ({}, ()),
        ({"d_query": 2}, ("query", "key")),
        ({"d_value": 3}, ("value",)),
        ({"seeds": (None, 5, None)}, ("key",)),
        ({"seed": 5}, ROLES),
        ({"start": "rand"}, ROLES),
        ({"start": "linear"}, ROLES),
    ],
    ids=str,
)
def test_a_matrix_of_another_size_or_with_a_seed_is_drawn_and_has_no_names(changes, drawn):
    trace = attend_trainable(embed(EXAMPLE.inputs), replace(EXAMPLE.projections, **changes))
    for role, table in zip(ROLES, EXAMPLE.projections.given, strict=True):
        value = trace[f"W_{role}"].value
        given = torch.tensor(table)
        assert (value.shape != given.shape or not torch.equal(value, given)) == (role in drawn)
    names = EXAMPLE.projections.components
    assert (trace.labels(trace["queries"].axes[1]) == names[0]) == ("query" not in drawn)
    assert (trace.labels(trace["values"].axes[1]) == names[1]) == ("value" not in drawn)


@pytest.mark.parametrize(
    "changes", [{"n_heads": 2}, {"d_head": 1}, {"d_value": 3}, {"d_model": 4}, {"seed": 0}], ids=str
)
def test_heads_of_other_sizes_or_with_a_seed_are_drawn_as_any_are(changes):
    trace = heads(**changes)
    recipe = replace(EXAMPLE.heads, **{"start": "linear", "seed": 0, **changes, "given": None})
    plain = attend_heads(embed(EXAMPLE.inputs), recipe)
    assert [*trace] == [*plain]
    for name, step in plain.items():
        assert torch.equal(trace[name].value, step.value), name
    assert trace.labels("head") == tuple(map(str, range(recipe.n_heads)))


@pytest.mark.parametrize("recipe", [Projections, HeadsRecipe])
def test_matrices_that_are_to_be_given_must_be_there(recipe):
    with pytest.raises(ValueError, match="start is 'given', but no matrices are given"):
        recipe(start="given")


# --- names ----------------------------------------------------------------------------------------


def test_every_component_has_a_name_where_the_example_is_as_it_is():
    trace = attend_heads(embed(EXAMPLE.inputs), EXAMPLE.heads)
    traces = (trace, attend_trainable(embed(EXAMPLE.inputs), EXAMPLE.projections))
    for axis in ("d_in", "d_model"):
        assert trace.labels(axis) == EXAMPLE.inputs.components
    for each in traces:
        for axis in {axis for step in each.values() for axis in step.axes if axis[:2] == "d_"}:
            by_head = each is trace and axis in ("d_head", "d_value")
            within = range(len(EXAMPLE.heads.given.names)) if by_head else (None,)
            for head in within:
                names = each.labels(axis, head)
                assert len({*names}) == len(names) == each.size(axis)
                assert not any(name.lstrip("d").isdigit() for name in names), axis
    assert trace.labels("d_concat")[2] == "h1·animal"
    assert trace.labels("d_head", 1) == ("animal", "small")


def test_components_are_counted_from_0_as_the_arithmetic_counts_them():
    trace = attend_heads(embed(EXAMPLES["wild_cat"].inputs), HeadsRecipe(n_heads=3, d_model=6))
    for axis in ("d_in", "d_head", "d_model"):
        assert trace.labels(axis) == tuple(f"d{place}" for place in range(trace.size(axis)))
    assert trace.labels("head") == ("0", "1", "2")
    for place, name in enumerate(trace.labels("d_concat")):
        head, column = divmod(place, trace.size("d_head"))
        assert name == f"h{head}·d{column}"
        assert (
            trace["concat"].value[4, place]
            == (trace["head_context_vectors"].value[head, 4, column])
        )


def test_another_sentence_over_the_same_words_keeps_their_vectors_and_names():
    own = replace(EXAMPLE.inputs, sentence="The sleepy dog sees a small cat because it barks")
    trace = attend_trainable(embed(own), EXAMPLE.projections)
    given = dict(EXAMPLE.inputs.vectors)
    for token, vector in zip(own.tokens, trace["embeddings"].value, strict=True):
        assert torch.equal(vector, torch.tensor(given[token]))
    assert trace.labels("d_in") == EXAMPLE.inputs.components
    it = trace["weights"].value[own.tokens.index("it")]
    assert own.tokens[int(it.argmax())] == "dog"


def test_a_word_without_a_vector_makes_all_of_them_drawn_and_nameless():
    trace = embed(replace(EXAMPLE.inputs, sentence="The hungry zebra"))
    assert trace.labels("d_in") == tuple(f"d{place}" for place in range(6))


def test_a_word_that_stands_twice_gets_one_context_without_positions_and_two_with():
    inputs = EXAMPLES["named_features"].inputs
    first, again = (at for at, token in enumerate(inputs.tokens) if token == "the")
    context = attend(embed(inputs))["context_vectors"].value
    assert torch.allclose(context[first], context[again], atol=1e-6)
    context = attend(embed(replace(inputs, positions=True)))["context_vectors"].value
    assert (context[first] - context[again]).abs().max() > 0.01
