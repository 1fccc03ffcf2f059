"""What is known of a run: heads' measures, the lens, who brought a logit, what changes do."""

import math
from dataclasses import replace

import pytest
import torch

from attention_core.real_model import sweeps
from attention_core.real_model.attribution import attribution, head_by_key
from attention_core.real_model.changes import Changes
from attention_core.real_model.layer_trace import layer_trace
from attention_core.real_model.lens import lens
from attention_core.real_model.measures import MEASURES
from attention_core.real_model.model import open_model
from attention_core.real_model.nearest import added_up, nearest
from attention_core.real_model.run import logits, run
from attention_core.real_model.tiny import TINY
from model_folders import FAMILIES, make

IDS = (3, 17, 5, 5, 41, 29, 52, 0)
OTHERS = (3, 22, 5, 5, 7, 29, 52, 0)
NEAR = {"atol": 1e-4, "rtol": 1e-4}
SPEAKING = [n for n, (kind, _) in FAMILIES.items() if kind.endswith(("CausalLM", "HeadModel"))]
A_FEW = ["llama biases", "gemma2", "gpt2 untied", "qwen3 window"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Models by family, with what `transformers` makes of them; each made once."""
    known = {}

    def of(name):
        if name not in known:
            folder = tmp_path_factory.mktemp("model")
            reference = make(folder, name)
            known[name] = open_model(folder), reference
        return known[name]

    return of


# --- measures ------------------------------------------------------------------------------------
def looks(*keys):
    return torch.eye(len(keys))[list(keys)]


def test_who_never_came_back_says_nothing_of_copying_and_who_looks_at_itself_copies_nothing():
    for name in ("same", "induction"):
        assert MEASURES[name].of(looks(0, 0, 1), (1, 2, 3)).isnan()
        assert MEASURES[name].of(looks(0, 1, 2), (5, 5, 5)) == 0
    # place 2 said the same as place 0, which was followed by place 1
    assert MEASURES["induction"].of(looks(0, 0, 1), (5, 5, 5)) == 1


def test_all_earlier_places_count_together():
    weights = torch.tensor(
        [[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0.2, 0.3, 0.5, 0], [0.1, 0.2, 0.3, 0.4]]
    )
    assert MEASURES["same"].of(weights, (4, 4, 4, 4)) == pytest.approx((0.5 + 0.5 + 0.6) / 3)
    assert MEASURES["previous"].of(weights, (1, 2, 3, 4)) == pytest.approx((0.5 + 0.3 + 0.3) / 3)
    assert MEASURES["first"].of(weights, (1, 2, 3, 4)) == pytest.approx((0.5 + 0.2 + 0.1) / 3)


def test_the_spread_is_1_where_all_alike_are_seen_and_0_at_one():
    even = torch.ones(5, 5).tril()
    even = even / even.sum(-1, keepdim=True)
    assert MEASURES["spread"].of(even, range(5)) == pytest.approx(1)
    assert MEASURES["spread"].of(looks(0, 0, 0, 0, 0), range(5)) == 0
    assert MEASURES["spread"].of(torch.full((3, 3), 1 / 3), range(3)) == pytest.approx(1)
    half = torch.tensor([[1.0, 0, 0], [1, 0, 0], [0.5, 0.5, 0]])
    assert MEASURES["spread"].of(half, range(3)) == pytest.approx(math.log(2) / math.log(3) / 2)


# --- the logit lens ------------------------------------------------------------------------------
@pytest.mark.parametrize("name", A_FEW)
def test_after_each_layer_the_lens_says_what_the_last_norm_and_the_table_make_of_it(
    made, name, monkeypatch
):
    monkeypatch.setattr("attention_core.real_model.run.ROWS_AT_ONCE", 7)
    model, reference = made(name)
    found = run(model, IDS)
    seen = lens(found, most=3)
    decoder = reference.get_decoder()
    last = decoder.norm if hasattr(decoder, "norm") else decoder.ln_f
    streams = reference(torch.tensor([IDS]), output_hidden_states=True).hidden_states
    wanted = reference.lm_head(last(torch.stack(streams)[:-1, 0]))
    if model.settings.logit_cap:
        wanted = model.settings.logit_cap * (wanted / model.settings.logit_cap).tanh()
    wanted = torch.cat([wanted, logits(found)[None]]).softmax(dim=-1).flatten(0, 1).topk(3)
    torch.testing.assert_close(seen.chances, wanted.values, atol=1e-4, rtol=1e-3)
    assert (seen.ids == wanted.indices).double().mean() > 0.95, "but where two are as likely"


# --- who brought a logit -------------------------------------------------------------------------
@pytest.mark.parametrize("name", SPEAKING)
def test_what_all_parts_brought_is_the_logit(made, name):
    model, _ = made(name)
    found = run(model, IDS)
    shown = attribution(found, 11, position=5)
    total = sum(part.amount for part in shown.parts)
    size = sum(abs(part.amount) for part in shown.parts)
    assert total == pytest.approx(shown.logit, abs=1e-4 * max(abs(shown.logit), 1e-2 * size))
    logit = float(logits(found, [5])[0, 11])
    if model.settings.logit_cap is not None:  # shown before the cap
        logit = model.settings.logit_cap * math.atanh(logit / model.settings.logit_cap)
    assert shown.logit == pytest.approx(logit, rel=1e-2 if model.settings.logit_cap else 1e-4)
    heads = [(part.layer, part.head) for part in shown.parts if part.kind == "head"]
    assert len(heads) == model.settings.n_layers * model.settings.n_heads


def test_what_a_head_brought_is_what_it_wrote_times_the_frozen_norm_and_the_table(made):
    model, reference = made("llama")
    found = run(model, IDS)
    shown = attribution(found, 11, position=5)
    size = (found.final[5].square().mean() + model.settings.epsilon).sqrt()
    norm = reference.model.norm.weight / size
    for layer in range(3):
        wrote = layer_trace(model, found.before[layer], layer)["head_outputs"].value[:, 5]
        wanted = ((wrote * norm) @ reference.lm_head.weight[11]).detach()
        brought = [p.amount for p in shown.parts if p.kind == "head" and p.layer == layer]
        torch.testing.assert_close(torch.tensor(brought), wanted, **NEAR)
        of_layer = [each for each in shown.parts if each.layer == layer]
        made = sum(each.amount for each in of_layer if each.kind in ("head", "attention bias"))
        assert made == pytest.approx(float(wanted.sum()), abs=1e-4)


@pytest.mark.parametrize("name", A_FEW)
def test_from_which_tokens_a_head_brought_it(made, name):
    model, _ = made(name)
    found = run(model, IDS)
    shown = attribution(found, 11, position=5, against=2)
    for part in (part for part in shown.parts if part.kind == "head"):
        by_key = head_by_key(found, part.layer, part.head, 11, position=5, against=2)
        assert by_key[6:].abs().max() == 0
        assert float(by_key.sum()) == pytest.approx(part.amount, abs=1e-4)


def test_against_another_token_the_difference_of_both_is_taken_apart(made):
    model, _ = made("gpt2 untied")
    found = run(model, IDS)
    pair = attribution(found, 11, against=2)
    one, other = attribution(found, 11), attribution(found, 2)
    assert pair.logit == pytest.approx(one.logit - other.logit)
    for both, left, right in zip(pair.parts, one.parts, other.parts, strict=True):
        assert both.amount == pytest.approx(left.amount - right.amount)
        assert both.name == left.name


def test_what_is_switched_off_brought_nothing_and_all_still_adds_up(made):
    model, _ = made("gpt2 untied")
    patch = torch.full((model.settings.d_model,), 0.5)
    changes = Changes(
        heads=frozenset({(0, 2)}),
        attention=frozenset({1}),
        ffn=frozenset({2}),
        patches={(1, 7): patch},
    )
    found = run(model, IDS, changed=changes)
    shown = attribution(found, 11)
    brought = {part.name: part.amount for part in shown.parts}
    assert brought["head 0.2"] == brought["head 1.3"] == brought["feed-forward 2"] == 0
    assert brought["put in its place"] != 0
    assert sum(brought.values()) == pytest.approx(shown.logit, rel=1e-4)
    assert head_by_key(found, 0, 2, 11).abs().max() == 0


def test_a_model_that_says_nothing_next_is_not_asked_who_brought_it(made):
    model, _ = made("bert")
    found = run(model, IDS)
    for call in (lambda: attribution(found, 1), lambda: logits(found), lambda: lens(found)):
        with pytest.raises(ValueError, match="says no next token"):
            call()


# --- switching off and patching ------------------------------------------------------------------
def layers_of(reference):
    decoder = reference.get_decoder()
    return decoder.layers if hasattr(decoder, "layers") else decoder.h


@pytest.mark.parametrize("name", A_FEW)
def test_a_patch_is_what_a_hook_of_torch_would_do(made, name):
    model, reference = made(name)
    layer, token = 1, 4
    vector = run(model, OTHERS).before[layer, token]

    def hook(_, given, named):
        stream = (given[0] if given else named["hidden_states"]).clone()
        stream[0, token] = vector
        if given:
            return (stream, *given[1:]), named
        return given, named | {"hidden_states": stream}

    handle = layers_of(reference)[layer].register_forward_pre_hook(hook, with_kwargs=True)
    wanted = reference(torch.tensor([IDS])).logits[0]
    handle.remove()
    found = run(model, IDS, changed=Changes(patches={(layer, token): vector}))
    torch.testing.assert_close(logits(found), wanted, **NEAR)
    assert (found.final - run(model, IDS).final).abs().max() > 0.01


@pytest.mark.parametrize("name", A_FEW)
def test_a_head_that_is_off_is_what_a_hook_of_torch_would_do(made, name):
    model, reference = made(name)
    layer, head, width = 2, 3, model.settings.d_head
    part = layers_of(reference)[layer]
    output = part.self_attn.o_proj if hasattr(part, "self_attn") else part.attn.c_proj

    def hook(_, given):
        joined = given[0].clone()
        joined[..., head * width : (head + 1) * width] = 0
        return (joined,)

    handle = output.register_forward_pre_hook(hook)
    wanted = reference(torch.tensor([IDS])).logits[0]
    handle.remove()
    found = run(model, IDS, changed=Changes(heads=frozenset({(layer, head)})))
    torch.testing.assert_close(logits(found), wanted, **NEAR)


def test_a_token_that_is_hidden_is_seen_by_itself_alone(made):
    model, _ = made("llama")
    found = run(model, IDS, changed=Changes(hidden_tokens=frozenset({0, 3})))
    assert found.weights[:, :, 4:, [0, 3]].abs().max() == 0
    assert (found.weights[:, :, 0, 0] == 1).all()
    torch.testing.assert_close(found.weights.sum(-1), torch.ones(found.weights.shape[:-1]))


@pytest.mark.parametrize("name", A_FEW)
@pytest.mark.parametrize("at_once", [1, 2**21])
def test_a_sweep_goes_out_from_a_run_in_which_something_changed(made, monkeypatch, name, at_once):
    monkeypatch.setattr("attention_core.real_model.sweeps.AT_ONCE", at_once)
    model, _ = made(name)
    other = run(model, OTHERS)
    changes = Changes(
        heads=frozenset({(0, 1)}),
        hidden_tokens=frozenset({2, 7}),
        patches={(2, 5): torch.full((model.settings.d_model,), 0.5)},
    )
    found = run(model, IDS, changed=changes)
    *_, (_, streams) = sweeps.patch_each_place(found, other, position=5)
    for layer, token in [(0, 0), (0, 4), (1, 1), (1, 5), (2, 3), (1, 6)]:
        patches = {**changes.patches, (layer, token): other.before[layer, token]}
        wanted = run(model, IDS, changed=replace(changes, patches=patches)).final[5]
        torch.testing.assert_close(streams[layer, token], wanted, **NEAR)
    *_, (_, without) = sweeps.without_each_head(found, position=5)
    for layer, head in [(0, 0), (2, 3)]:
        wanted = run(model, IDS, changed=changes.and_head(layer, head))
        one = without[layer, head]
        torch.testing.assert_close(one, wanted.final[5], **NEAR)
        said = logits(wanted, [5])[0]
        assert sweeps.logit_of(found, one[None], 9)[0] == pytest.approx(float(said[9]), abs=1e-4)
        chance = float(said.softmax(-1)[9])
        assert sweeps.chance_of(found, one[None], 9)[0] == pytest.approx(chance, abs=1e-6)


def test_sentences_of_two_lengths_cannot_be_patched(made):
    model, _ = made("llama")
    with pytest.raises(ValueError, match="8 and 7 tokens"):
        next(sweeps.patch_each_place(run(model, IDS), run(model, IDS[:7])))


@pytest.mark.parametrize(("changes", "words"), [
    (Changes(heads=frozenset({(3, 0)})), "no layer 3"),
    (Changes(heads=frozenset({(0, 6)})), "no head 6"),
    (Changes(ffn=frozenset({-1})), "no layer -1"),
    (Changes(hidden_tokens=frozenset({8})), "no token 8: the sentence has 8"),
    (Changes(patches={(0, 0): torch.zeros(3)}), "cannot stand in a stream that is 30 wide"),
])  # fmt: skip
def test_what_is_not_there_cannot_be_changed(made, changes, words):
    model, _ = made("llama")
    with pytest.raises(ValueError, match=words):
        run(model, IDS, changed=changes)


# --- the tokens nearest to a vector ---------------------------------------------------------------
@pytest.fixture(scope="module")
def model():
    return open_model(TINY)


@pytest.mark.parametrize("slice_", [7, 8192])
def test_the_nearest_are_those_of_the_largest_cosines(model, slice_, monkeypatch):
    monkeypatch.setattr("attention_core.real_model.run.ROWS_AT_ONCE", slice_)
    table = model.matrix("token_table").double()
    vector = added_up(model, [(1, 5), (-1, 9), (1, 30)])
    torch.testing.assert_close(vector.double(), table[5] - table[9] + table[30])
    wanted = torch.nn.functional.cosine_similarity(table, vector.double()[None]).topk(11)
    found = nearest(model, vector, 11)
    assert [token for token, _ in found] == wanted.indices.tolist()
    assert [cosine for _, cosine in found] == pytest.approx(wanted.values.tolist(), abs=1e-6)
    assert nearest(model, added_up(model, [(1, 17)]), 1) == [(17, pytest.approx(1))]


def test_a_vector_that_is_no_number_is_near_to_nothing(model, monkeypatch):
    table = model.matrix("token_table").clone()
    table[3] = torch.nan
    monkeypatch.setattr(model, "matrix", lambda _, rows: table[list(rows)])
    assert {token for token, _ in nearest(model, table[17], len(table))} == {
        token for token in range(len(table)) if token != 3
    }
    assert nearest(model, table[3], 5) == []
