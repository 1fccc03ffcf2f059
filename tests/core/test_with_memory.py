"""Attention with a memory against `transformers` and the table of who reads from whom."""

import pytest
import torch
from transformers.models.qwen3_next import modeling_qwen3_next

from attention_core import Trace, attend_with_memory, backward, exercise_steps
from attention_core import operations as ops
from checks import by_autograd, told

H, N, D, D_V = 2, 11, 3, 5
SHAPES = {
    "queries": ("query", "d_query", D), "keys": ("key", "d_query", D),
    "values": ("key", "d_value", D_V), "decays": ("key", "row", 1), "strengths": ("key", "row", 1),
}  # fmt: skip
MADE_BY = {"keys": ops.L2Normalize(), "decays": ops.Sigmoid(), "strengths": ops.Sigmoid()}
RULES = {
    "plain": {},
    "decay": {"decays": True},
    "written_weakly": {"strengths": True},
    "delta": {"delta": True},
    "delta_weakly": {"strengths": True, "delta": True},
    "gated_delta": {"decays": True, "strengths": True, "delta": True},
}


def remembered(decays=False, strengths=False, delta=False, n=N, heads=True):
    """A trace with a memory of seeded numbers, down to a `loss`; and what it was given."""
    trace, front = Trace(), {"head": H} if heads else {}
    used = [*SHAPES][:3] + ["decays"] * decays + ["strengths"] * strengths
    for seed, name in enumerate(used):
        row, column, width = SHAPES[name]
        draw = ops.Draw("normal", (*front.values(), n, width), seed=seed)
        axes = (*front, row, column)
        drawn = trace.step(f"drawn_{name}", draw, axes=axes)
        trace.step(name, MADE_BY.get(name, ops.Copied()), drawn, axes=axes)
    gates = {name: trace[name] for name in used[3:]}
    context = attend_with_memory(trace, *(trace[each] for each in used[:3]), delta=delta, **gates)
    told(trace, context, ops.Draw("normal", tuple(context.value.shape), seed=len(used)))
    return trace, used


@pytest.mark.parametrize("rule", RULES)
def test_a_memory_learns_what_autograd_says(rule):
    trace, used = remembered(**RULES[rule])
    learned = backward(trace, "loss", used)
    for name, slopes in zip(used, by_autograd(trace, "loss", used), strict=True):
        torch.testing.assert_close(learned[f"grad_{name}"].value, slopes, rtol=1e-5, atol=5e-6)


@pytest.mark.parametrize("reference", ["recurrent", "chunk"])
@pytest.mark.parametrize("rule", [name for name, each in RULES.items() if "delta" in each])
@pytest.mark.filterwarnings("ignore")  # that no quicker kernel is installed
def test_a_memory_is_that_of_transformers_there_and_back(rule, reference):
    trace, used = remembered(**RULES[rule])
    given = {name: trace[name].value.clone().requires_grad_() for name in used}
    queries, keys, values = ([*given.values()][at].transpose(0, 1)[None] for at in range(3))
    ones = torch.ones(H, N, 1)
    decay, strength = (given.get(name, ones)[..., 0].T[None] for name in ("decays", "strengths"))
    rule_of = getattr(modeling_qwen3_next, f"torch_{reference}_gated_delta_rule")
    several = {"chunk_size": 4} if reference == "chunk" else {}
    # The reference divides queries by √d by itself.
    scaled = queries * D**0.5
    made, _ = rule_of(scaled, keys, values, g=decay.log(), beta=strength, **several)
    context = made[0].transpose(0, 1)
    pairs = [(trace["read_vectors"].value, context)]
    learned = backward(trace, "loss", used)
    slopes = torch.autograd.grad((context * trace["probe"].value).sum(), [*given.values()])
    pairs += [(learned[f"grad_{name}"].value, s) for name, s in zip(used, slopes, strict=True)]
    for ours, theirs in pairs:
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=5e-6)


@pytest.mark.parametrize("heads", [True, False])
@pytest.mark.parametrize("rule", RULES)
def test_the_table_of_who_reads_from_whom_makes_the_context_vectors(rule, heads):
    trace, _ = remembered(**RULES[rule], heads=heads)
    table, values = trace["read_from"].value, trace["values"].value
    torch.testing.assert_close(table @ values, trace["read_vectors"].value)
    assert (table.triu(1) == 0).all(), "nothing is read before it is written"
    assert (table < 0).any()
    assert trace["read_from"].meaning is ops.base.Meaning.NUMBERS
    scores = trace["queries"].value @ trace["keys"].value.mT
    if rule == "plain":
        torch.testing.assert_close(table, scores.tril())
    if rule == "written_weakly":
        torch.testing.assert_close(table, (scores * trace["strengths"].value.mT).tril())
    if rule == "decay":  # the products of all gates since
        since = trace["decays"].value[..., 0].log().cumsum(-1)
        fades = (since[..., :, None] - since[..., None, :]).exp()
        torch.testing.assert_close(table, (scores * fades).tril())


def test_one_token_and_what_does_not_fit():
    trace, used = remembered(n=1, heads=False, **RULES["gated_delta"])
    assert trace["read_vectors"].value.shape == (1, D_V)
    queries, keys, values, decays, _ = (trace[name] for name in used)
    few = trace.step("few", ops.Given(((1.0,) * D,) * 2), axes=("few", "d_query"))
    for given, gate, said in (
        ((few, keys, values), None, "2 queries but 1 keys"),
        ((queries, keys, values), keys, "decays are key 1 × d_query 3, but must be 1 × 1"),
        ((queries, values, values), None, "a query is 3 wide and a key 5"),
    ):
        with pytest.raises(ValueError, match=said):
            attend_with_memory(trace, *given, decays=gate or decays)


def test_an_exercise_asks_for_one_token():
    trace, _ = remembered(heads=False, **RULES["gated_delta"])
    asked = set(exercise_steps(trace))
    (one,) = [asked & {*names} for names in trace.rounds if asked & {*names}]
    assert any(name.startswith("missing") for name in one)
