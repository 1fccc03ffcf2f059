"""Mistakes switched on in a layer, and the lights: what is right is green, what is wrong is red."""

import ast
import random
import re
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
import torch.nn.functional as F

from attention_core import attend_tensors
from attention_core.examples import EXAMPLES
from attention_core.lights import of_trace
from attention_core.lights.light import OF_CODE, OF_GRADIENTS, TITLES
from attention_core.lights.measures import hidden_is_zero, light_of, most
from attention_core.lights.of_trace import lights
from attention_core.lights.of_trace.again import last_of_tokens
from attention_core.lights.own_code.report import LIKELY
from attention_core.mechanism.multi_head import attend_heads
from attention_core.mistakes.layer import layer, right_inputs, with_backward
from attention_core.mistakes.named import NAMED
from attention_core.mistakes.rounds import (
    LEVELS,
    OUTPUT,
    due,
    lights_with,
    next_seed,
    red,
    ruled_out_by,
    suspects,
    switched_on,
)
from attention_core.mistakes.side_by_side import side_by_side
from attention_core.mistakes.switched import MISTAKES
from attention_core.recipes import HeadsRecipe
from attention_core.text.embedding import embed
from attention_core.text.inputs import Inputs
from sampling import marked

PRIME = (
    Inputs("a b c a d b e", tokenizer="blanks", d_in=5, seed=7),
    HeadsRecipe(n_heads=3, d_head=7, d_value=2, d_model=11, start="rand", by_head=True),
)
"""Sizes that are all prime and different, and matrices that are all above 0."""
SUBJECTS = {name: (each.inputs, each.heads) for name, each in EXAMPLES.items()} | {"prime": PRIME}


def reds(found):
    return {each.name for each in found if each.holds is False}


@pytest.mark.parametrize("vocabulary", ["random", "duplicates"])
def test_the_right_layer_has_a_row_for_each_token_of_any_text(vocabulary):
    inputs = Inputs("a d b", tokenizer="blanks", vocabulary=vocabulary, d_in=5, learned_from="a b")
    ids = layer(right_inputs(inputs), PRIME[1])["token_ids"].value
    assert len({*ids.tolist()}) == 3


@pytest.mark.parametrize("subject", SUBJECTS)
def test_the_layer_done_right_turns_every_light_green(subject):
    found = lights_with(*SUBJECTS[subject])
    assert [e.name for e in found] == [n for n in TITLES if n not in (*OF_CODE, *OF_GRADIENTS)]
    assert not reds(found)
    grey = {each.name for each in found if each.holds is None}
    assert grey == set(), "every property can be measured on this layer"


@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_backward_pass_done_right_turns_its_lights_green(subject):
    inputs, recipe = SUBJECTS[subject]
    right = with_backward(layer(right_inputs(inputs), recipe))
    found = {each.name: each for each in lights(right, right["mask"].value, OUTPUT)}
    assert all(found[name].holds for name in OF_GRADIENTS), found
    assert not reds(found.values())
    assert last_of_tokens(with_backward(attend_heads(embed(inputs), recipe))) != "grad_embeddings"


SOME = ("wild_cat", "named_features")


@pytest.mark.parametrize("subject", marked(SUBJECTS, SOME, pytest.mark.slow("3 s: more examples")))
def test_every_mistake_is_told_by_its_red_lights_or_says_why_there_are_none(subject):
    inputs, recipe = SUBJECTS[subject]
    tried, told = 0, {}
    for name, mistake in MISTAKES.items():
        if mistake.why_not(inputs, recipe):
            continue
        tried += 1
        lit = lights_with(inputs, recipe, name)
        found = reds(lit)
        assert found >= set(NAMED[name].lights), name
        assert bool(NAMED[name].lights) == bool(found) != bool(NAMED[name].unseen), name
        evidence = tuple(each.evidence for each in lit if each.holds is False)
        other = told.setdefault(evidence, name) if found else name
        assert other == name, f"no red light tells {name} from {other}: {evidence}"
    assert tried >= 17


def test_every_mistake_is_made_on_some_example_and_has_its_words():
    assert list(MISTAKES) == list(NAMED), (
        "each title of attention_core/mistakes/mistakes.toml has its Switched in _ALL of "
        "switched.py, in the same order"
    )
    shown = {name for inputs, recipe in SUBJECTS.values() for name in suspects(inputs, recipe)}
    assert shown == set(MISTAKES)
    for each in NAMED.values():
        ast.parse(each.right), ast.parse(each.wrong)
        assert each.right != each.wrong
        assert each.words.endswith(".")


def close(one, other):
    return one.shape == other.shape and torch.allclose(one, other, atol=1e-6, equal_nan=True)


SMALL = (
    "1 head, 2 wide",
    "2 heads, 1 wide",
    "2 heads, 2 wide",
    "2 heads, 3 wide",
    "3 heads, 2 wide",
)


@pytest.mark.parametrize("sizes", SMALL)
@pytest.mark.parametrize("text", ["a b", "a a c"])
def test_a_mistake_is_shown_where_it_changes_its_step_and_nowhere_else(text, sizes):
    n_heads, d_head = map(int, re.findall(r"\d", sizes))
    inputs = Inputs(text, tokenizer="blanks", d_in=5, seed=7)
    for d_value in (2, 3):
        each = {"n_heads": n_heads, "d_head": d_head, "d_value": d_value, "d_model": 4}
        recipe = HeadsRecipe(**each, start="rand", by_head=True)
        for name, mistake in MISTAKES.items():
            why = mistake.why_not(inputs, recipe)
            changes = False
            with suppress(ValueError):  # where its shapes do not fit
                right, wrong = mistake.pair(inputs, recipe)
                one, other = right[mistake.step], wrong[mistake.wrong_step or mistake.step]
                changes = not close(one.value, other.value)
            # Of heads as many as they are wide, or of one alone, these two are other mistakes.
            if name == "model_width_root":
                assert bool(why) == (n_heads == 1 or n_heads == d_head)
            elif name == "heads_normalised":
                assert bool(why) == (n_heads == 1)
            else:
                assert bool(why) != changes, (name, d_value, why)
    assert "two tokens or more" in mistake.why_not(replace(inputs, sentence="a"), recipe)


HEADS = {"queries": "head_queries", "keys": "head_keys", "values": "head_values"}
GIVEN = {
    **HEADS,
    **{name: name for name in ("mask", "W_in", "W_out", "U_query")},
    **{"x": "embeddings", "scores": "head_masked_scores", "weights": "head_weights"},
    **{f"W_{role}": f"head_W_{role}" for role in ("query", "key", "value")},
    **{"grad_weights": "grad_head_weights", "grad_scores": "grad_head_scores"},
    **{f"grad_{each}": f"grad_{step}" for each, step in HEADS.items()},
}
"""What a name in a line that is shown stands for, as a step of the layer."""
SCALED = {"scores": "head_scaled_scores"}
LINES = {
    # what the line makes, as a step of the right and the wrong layer, and what else is given
    "softmax_over_queries": ("weights", "head_weights"),
    "heads_normalised": ("weights", "head_weights"),
    "mask_after_softmax": ("weights", "head_weights head_zeroed_weights", SCALED),
    "infinity_after_softmax": ("weights", "head_weights head_overwritten_weights", SCALED),
    "hides_itself": ("mask", "mask"),
    "mask_added": ("scores", "head_masked_scores", SCALED),
    "model_width_root": ("scores", "head_scaled_scores"),
    "zero_in_place_of_infinity": ("scores", "head_masked_scores", SCALED),
    "mask_transposed": ("mask", "mask"),
    "mask_ignored": ("context", "head_context_vectors"),
    "no_scaling": ("scores", "head_scaled_scores head_scores"),
    "divided_by_d": ("scores", "head_scaled_scores"),
    "query_and_key_swapped": ("scores", "head_scores"),
    "divided_by_the_sum": ("weights", "head_weights"),
    "softmax_overflow": ("weights", "head_weights"),
    "heads_without_transpose": ("heads", "head_queries"),
    "matrices_on_tokens": ("queries", "head_queries mixed_for_queries"),
    "whole_matrix_norm": ("x", "normed", {"x": "output"}),
    "relu_last": ("x", "layer_output", {"x": "normed"}),
    "queries_as_keys": ("keys", "head_keys"),
    "keys_as_values": ("values", "head_values"),
    "softmax_back_by_entry": ("grad_scores", "grad_head_masked_scores"),
    "no_scaling_back": (
        "grad_queries",
        "grad_head_queries",
        {"grad_scores": "grad_head_scaled_scores"},
    ),
    "mask_forgotten_back": ("weights", "head_weights head_unmasked_weights", SCALED),
    "keys_swapped_back": ("grad_queries", "grad_head_queries"),
    "one_use_back": ("grad_x", "grad_embeddings"),
}
APART = {"random_tokenizer", "dictionary_with_gaps", "one_head_repeated", "weights_redrawn"}
JOINED = {"heads_without_transpose", "one_use_back"}
"""Lines about all heads side by side."""


def attend(queries, keys, values, mask=None):
    return F.scaled_dot_product_attention(queries, keys, values, mask)


def made_by(line, **given):
    """What the names stand for once a line that is shown has run."""
    names = {"torch": torch, "F": F, "nn": torch.nn, "attend": attend, "d_in": 3, "d": 5}
    names |= {"words": ["b", "c", "a", "a"], "n_heads": 2, **given}
    exec(line, names)
    return names


def of_layer(name, trace, line):
    variable, _, *others = LINES[name]
    steps = (GIVEN | dict(*others)).items()
    given = {each: trace[step].value for each, step in steps if step in trace}
    if name in JOINED:
        given |= {each: torch.cat([*value], -1) for each, value in given.items() if value.ndim == 3}
    sizes = {"n": trace.size("token"), "n_heads": trace.size("head"), "d": trace.size("d_head")}
    return made_by(line, **given | sizes)[variable]


@pytest.mark.parametrize("subject", ["wild_cat", "tiny_language", "prime"])
def test_the_lines_that_are_shown_make_what_the_right_and_the_wrong_layer_have(subject):
    assert LINES.keys() | APART == NAMED.keys(), "each mistake has its row in LINES"
    compared = 0
    for name, (_, steps, *_) in LINES.items():
        mistake = MISTAKES[name]
        if mistake.why_not(*SUBJECTS[subject]):
            continue
        compared += 1
        layers, steps = mistake.pair(*SUBJECTS[subject]), steps.split()
        lines = NAMED[name].right, NAMED[name].wrong
        for each, step, line in zip(layers, (steps[0], steps[-1]), lines, strict=True):
            given = layers[0] if name in JOINED else each  # the wrong one has cut them otherwise
            found, made = each[step].value, of_layer(name, given, line)
            if name == "heads_normalised":  # torch has nan where a key is hidden in every head
                made = made.nan_to_num()
            near = torch.isclose(made.to(found.dtype), found, rtol=2e-3, atol=1e-5, equal_nan=True)
            assert near.all(), (name, line)
    assert compared >= 19


def test_the_lines_that_draw_or_repeat_do_so():
    large = torch.tensor([[100.0, 0.0]])
    overflow = NAMED["softmax_overflow"]
    assert made_by(overflow.right, scores=large)["weights"].sum() == 1
    assert made_by(overflow.wrong, scores=large)["weights"].isnan().any()
    ids = {"a": 0, "b": 1, "c": 2}
    gaps = NAMED["dictionary_with_gaps"]
    assert made_by(gaps.right)["ids"] == ids
    assert made_by(gaps.wrong)["ids"] == {"a": 1, "b": 2, "c": 3}
    assert made_by(NAMED["random_tokenizer"].right, ids=ids)["token_ids"].tolist() == [1, 2, 0, 0]
    drawn_ids = made_by(NAMED["random_tokenizer"].wrong)["token_ids"]
    assert drawn_ids[2] != drawn_ids[3]
    repeated = NAMED["one_head_repeated"]
    for line, n_heads in ((repeated.right, 2), (repeated.wrong, 1)):
        assert len(set(map(id, made_by(line, Head=object)["heads"]))) == n_heads
    self = SimpleNamespace()
    made_by(NAMED["weights_redrawn"].right)["__init__"](self)
    assert self.W_query.shape == (3, 5)
    forward = made_by(NAMED["weights_redrawn"].wrong)["forward"]
    state = torch.random.get_rng_state()
    forward(self, None)
    assert not torch.equal(state, torch.random.get_rng_state()), "each call draws"


def test_a_millionth_of_weight_on_a_hidden_key_is_seen():
    weights = torch.full((1, 7, 7), 1e-6).triu(1)
    found = SimpleNamespace(
        seen=torch.ones(7, 7).tril().bool(),
        tables=lambda: [(weights, "here", "weights")],
        **{"zero": 0.0, "same": 1e-5},
    )
    assert hidden_is_zero(found)[0] is False


def test_lights_that_only_inherit_nan_are_grey_and_name_finite_numbers():
    found = {e.name: e for e in lights_with(*SUBJECTS["named_features"], "divided_by_the_sum")}
    assert reds(found.values()) == {"finite", "not_negative", "rows_sum_to_1"}
    assert "12 of 27 rows sum to nan (not a number)" in found["rows_sum_to_1"].evidence
    assert "the others sum to 1" in found["rows_sum_to_1"].evidence
    for name in ("no_leak", "own_row", "tokens_apart", "order_free"):
        assert found[name].holds is None
        assert found[name].evidence.startswith("Not judged: of ")
    assert not re.search(r"\b(nan|inf)\.", " ".join(each.evidence for each in found.values()))


def test_the_check_of_own_code_knows_what_can_be_switched_on():
    forward = {name for name, each in MISTAKES.items() if not (each.learns or NAMED[name].unseen)}
    assert forward - OF_TEXT - OF_EVIDENCE <= LIKELY.keys()


@pytest.mark.parametrize("name", MISTAKES)
def test_both_stand_side_by_side_with_their_difference(name):
    subject = next(s for s in SUBJECTS.values() if not MISTAKES[name].why_not(*s))
    mistake = MISTAKES[name]
    right, wrong = mistake.pair(*subject)
    trace = side_by_side(right, wrong, mistake.step, mistake.wrong_step)
    here, there = (pair[0].value for pair in ((trace[mistake.step],), (trace["difference"],)))
    other = wrong[mistake.wrong_step or mistake.step].value
    assert torch.equal(torch.nan_to_num(other - here), torch.nan_to_num(there))
    assert (there != 0).any(), "nothing is to be seen"
    for step in trace.values():
        assert step.name in right or step.name.startswith("wrong_") or step.name == "difference"
        if step.name in right:
            assert torch.equal(step.value, right[step.name].value)


OF_EVIDENCE = {
    *("no_scaling", "divided_by_d", "matrices_on_tokens", "whole_matrix_norm", "relu_last"),
    "weights_redrawn",
}
"""What the lights of own code say as well as a name would."""
OF_TEXT = {"dictionary_with_gaps", "random_tokenizer"}
"""Mistakes that are made before there are vectors."""


@pytest.mark.slow("3 s: plays every game")
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("subject", marked(SUBJECTS, (*SOME, "prime")))
def test_the_rounds_of_a_level_are_different_mistakes_with_so_many_red_lights(subject, level):
    inputs, recipe = SUBJECTS[subject]
    met = {switched_on(inputs, recipe, level, seed) for seed in range(12)}
    for truth in met:
        n_red = len(red(lights_with(inputs, recipe, truth)))
        assert {0: "none", 1: "one"}.get(n_red, "several") == level
    assert len(met) > 1, "every round has the same mistake"


def test_a_round_is_the_same_for_a_whole_class_and_measures_little(monkeypatch):
    inputs, recipe = SUBJECTS["wild_cat"]
    random.seed(1)
    first = [switched_on(inputs, recipe, "one", seed) for seed in range(5)]
    random.seed(2)
    assert first == [switched_on(inputs, recipe, "one", seed) for seed in range(5)]
    asked: Counter[str] = Counter()
    monkeypatch.setattr(of_trace, "light_of", lambda *a: asked.update([a[1]]) or light_of(*a))
    for level in LEVELS:
        switched_on(replace(inputs, seed=89), recipe, level, 0)
    assert asked.total() < len(LEVELS) * len(TITLES), "each costs a millisecond"
    with pytest.raises(ValueError, match="level is 'two'"):
        switched_on(inputs, recipe, "two", 0)
    assert switched_on(replace(inputs, sentence="a"), recipe, "one", 0) == ""


def test_a_missed_mistake_is_due_two_and_five_rounds_later_and_one_at_a_time():
    rounds = [("a", True), ("b", False)]
    assert [due(rounds[:n]) for n in range(3)] == ["", "", "a"]
    rounds += [("a", False), ("c", False), ("d", False)]
    assert (due(rounds), due([*rounds, ("a", False)])) == ("a", "")
    both = [("a", True), ("b", True), ("a", True)]  # b since round 1, a since rounds 0 and 2
    assert (due(both), due([*both, ("b", False)])) == ("b", "a")
    assert due([("a", True), *[("x", False)] * 3]) == "a", "whoever waits is not forgotten"


def test_the_round_of_a_mistake_that_comes_again_is_a_round_like_others():
    inputs, recipe = SUBJECTS["wild_cat"]
    for name in suspects(inputs, recipe):
        level = next(each for each in LEVELS if name in {
            switched_on(inputs, recipe, each, seed) for seed in range(60)
        })  # fmt: skip
        seed = next_seed(inputs, recipe, level, 7, name)
        assert seed > 7
        assert switched_on(inputs, recipe, level, seed) == name
    assert next_seed(inputs, recipe, "one", 7) == 8
    assert next_seed(inputs, recipe, "one", 7, "no such mistake") == 8
    assert next_seed(inputs, recipe, "one", 2**32 - 1) == 0


def test_what_rules_a_guess_out_is_a_light_that_differs():
    inputs, recipe = SUBJECTS["wild_cat"]
    here = lights_with(inputs, recipe, "softmax_over_queries")
    there = lights_with(inputs, recipe, "heads_normalised")
    assert {mine.name for mine, _ in ruled_out_by(here, there)} == {"own_row", "no_leak"}


def test_lights_look_at_any_trace_and_say_where_a_question_does_not_arise():
    plain = embed(PRIME[0])
    found = {each.name: each for each in lights(plain)}
    assert found["rows_sum_to_1"].holds is None
    assert found["ids"].holds is True
    free = attend_heads(embed(PRIME[0]), PRIME[1])
    found = {each.name: each for each in lights(free)}
    assert found["no_leak"].holds is None is found["hidden_is_zero"].holds
    assert found["order_free"].holds is True
    masked = attend_heads(embed(PRIME[0]), replace(PRIME[1], causal=True))
    late = torch.ones(7, 7, dtype=torch.bool).tril(-1)
    late[0, 0] = True
    assert lights(masked, late)[3].holds is False, "it sees itself, and was not meant to"


def test_lights_look_at_queries_and_keys_of_unequal_numbers():
    drawn = torch.Generator().manual_seed(0)
    queries, keys, values = (torch.randn(3, *s, generator=drawn) for s in ((5, 7), (4, 7), (4, 2)))
    found = {each.name: each for each in lights(attend_tensors(queries, keys, values))}
    assert {name for name, each in found.items() if each.holds} == {
        *("finite", "rows_sum_to_1", "not_negative", "seen_has_weight", "own_row", "variance")
    }
    assert not reds(found.values())


@pytest.mark.parametrize(("numbers", "size"), [
    ([], 1e-9), ([0.0, 0.0], 1e-9), ([torch.nan], 1e-9), ([1e-12], 1e-9), ([1.0, -3.0], 3.0),
    ([-2.0, torch.inf, torch.nan], 2.0), ([1e38, 3e38, 3e38], 3e38),
])  # fmt: skip
def test_the_size_of_numbers_is_of_finite_ones_and_never_0(numbers, size):
    assert most(torch.tensor(numbers)) == pytest.approx(size)
