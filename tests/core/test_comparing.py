"""`compare` finds the step that differs, names the mistake, raises no false alarm, and refuses in
words what it cannot take.
"""

import copy
import math
import re

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional as F

from attention_core import Recording, compare, recorded
from attention_core.comparing.explaining import WORDS
from attention_core.comparing.own_code import compare_code
from checks import random
from serving import ROOT
from tiny_models import inputs_of, tiny
from wrong_models import (
    CASES,
    FAMILIES,
    IDS,
    MISTAKES,
    around,
    by_function,
    by_rotary,
    is_right_step,
    keys_late,
    model_of,
    name_of,
    padded,
    pairs,
    with_mistake,
    without_mask,
)

pytestmark = pytest.mark.filterwarnings("ignore:.*quantiz.*")
README = ROOT / "attention_core" / "README.md"


def outcome(mistake, family, kind=None, swapped=False):
    """Whether the right step is found, and the right name."""
    wrong, right, inputs = with_mistake(mistake, family)
    if kind is not None:
        wrong, right = wrong.to(kind), right.to(kind)
    if swapped:
        wrong, right = right, wrong
    found = compare(wrong, right, **inputs)
    there = found.difference
    is_step = there is not None and is_right_step(mistake, there.place, there.step)
    return is_step, found.names == (name_of(mistake),), found


# --- each mistake, in models of each family -------------------------------------------------------
QUICK = [
    ("rotary_pairs", "llama"), ("rotary_base", "mistral"), ("positions_off", "gpt_neox"),
    ("norm_missing", "qwen3"), ("no_scaling", "gpt2"), ("heads_repeated_in_turn", "llama"),
    ("mask_late", "gemma2"), ("window_off", "mistral"), ("soft_cap_off", "gemma2"),
    ("sink_off", "gpt_oss"), ("softmax_in_16_bits", "qwen3"), ("heads_without_transpose", "gpt2"),
    ("padding_seen", "llama"), ("random_numbers", "llama"), ("mask_other_corner", "qwen3"),
]  # fmt: skip


@pytest.mark.parametrize(("mistake", "family"), QUICK)
def test_a_mistake_in_a_model_is_found_and_named(mistake, family):
    is_step, is_name, found = outcome(mistake, family)
    assert is_step, found
    assert is_name, found
    assert found.explained == 1
    assert not found.changes[0].is_in_theirs


@pytest.mark.slow("2 min: 180 pairs of small models")
def test_each_mistake_is_found_in_each_family_that_can_have_it():
    """At least 95 % of the steps and 85 % of the names; a name that is wrong is told too."""
    assert len({family for _, family in CASES}) == len(FAMILIES)
    found = {case: outcome(*case) for case in CASES}
    steps = [is_step for is_step, *_ in found.values()]
    names = [is_name for _, is_name, _ in found.values()]
    wrong = [(case, str(each[2])) for case, each in found.items() if not (each[0] and each[1])]
    assert sum(steps) >= 0.95 * len(steps), wrong
    assert sum(names) >= 0.85 * len(names), wrong
    text = README.read_text(encoding="utf-8")
    told = re.search(r"(\d+) of (\d+) steps and (\d+) of \2 names", " ".join(text.split()))
    assert told, "the README has the rates"
    assert [int(each) for each in told.groups()] == [sum(steps), len(steps), sum(names)]


@pytest.mark.parametrize("mistake", ["rotary_pairs", "mask_late", "heads_without_transpose"])
def test_a_mistake_in_theirs_is_told_as_one_of_theirs(mistake):
    is_step, is_name, found = outcome(mistake, "llama", swapped=True)
    assert is_step
    assert is_name
    if mistake != "rotary_pairs":  # which is the same either way round
        assert found.changes[0].is_in_theirs
        assert "In theirs: " in str(found)


@pytest.mark.slow("3 min: 360 pairs of small models")
@pytest.mark.parametrize("way", ["theirs", "bfloat16"])
def test_mistakes_are_found_in_theirs_and_in_16_bits_too(way):
    unseen = {"softmax_in_16_bits", "soft_cap_off", "norm_after_rotation", "mask_other_corner"}
    cases = [case for case in CASES if way == "theirs" or case[0] not in unseen]
    kind = torch.bfloat16 if way == "bfloat16" else None
    found = [outcome(*case, kind, swapped=way == "theirs") for case in cases]
    assert sum(each[0] for each in found) >= 0.95 * len(found)
    assert sum(each[1] for each in found) >= 0.85 * len(found)


def test_a_mistake_in_a_later_layer_is_found_there():
    right = model_of("llama")
    wrong = copy.deepcopy(right)
    layer = wrong.layers[1].self_attn
    plain = layer.forward

    def forward(*given, **named):
        layer.scaling = 1.0
        return plain(*given, **named)

    layer.forward = forward
    found = compare(wrong, right, input_ids=IDS)
    assert (found.difference.place, found.difference.step) == ("layers.1.self_attn", "scores")
    assert found.names == ("no_scaling",)
    assert any(each.place == "layers.0.mlp" and not each.differs for each in found.steps)


TWO = {
    ("no_scaling", "mask_late"): None,
    ("rotary_pairs", "no_scaling"): by_rotary(pairs),
    ("positions_off", "softmax_over_queries"): by_rotary(keys_late),
    ("padding_seen", "divided_by_d"): without_mask,
}


@pytest.mark.parametrize("both", TWO)
def test_two_mistakes_at_once_are_both_named(both):
    right = model_of("llama")
    wrong = copy.deepcopy(right)
    inputs = {"input_ids": IDS}
    if TWO[both] is None:
        module = wrong.layers[0].self_attn
        assert module.scaling
        for layer in wrong.layers:
            layer.self_attn.scaling = 1.0
        wrong = by_function(both[1])(wrong)
    else:
        wrong = by_function(both[1])(TWO[both](wrong))
    if "padding_seen" in both:
        inputs = padded(right)
    found = compare(wrong, right, **inputs)
    assert {*found.names} == {*both}, found


def test_what_no_change_explains_is_said_to_be_unexplained():
    right = model_of("llama")
    wrong = copy.deepcopy(right)
    with torch.no_grad():
        wrong.layers[0].self_attn.v_proj.weight[3] += 0.1
    found = compare(wrong, right, input_ids=IDS)
    assert found.difference.place == "layers.0.self_attn.v_proj"
    assert not found.changes
    assert "None of the changes that were tried explains it" in str(found)


# --- no false alarm -------------------------------------------------------------------------------
def alarms(model, inputs):
    """What is said of a model against itself in eager code and in 16 bits."""
    eager = copy.deepcopy(model)
    eager.set_attn_implementation("eager")
    halves = [copy.deepcopy(model).to(kind) for kind in (torch.bfloat16, torch.float16)]
    found = [compare(each, model, **inputs) for each in (eager, *halves)]
    return [str(each) for each in found if not each.same]


@pytest.mark.parametrize("family", FAMILIES)
def test_precision_and_eager_code_raise_no_alarm(family):
    assert alarms(model_of(family), {"input_ids": IDS}) == []


@pytest.mark.parametrize("family", ["llama", "gpt2", "gemma2"])
def test_padding_raises_no_alarm_where_its_rows_see_nothing(family):
    model = model_of(family)
    inputs = padded(model)
    there = inputs["attention_mask"].flip(1)
    assert alarms(model, {**inputs, "attention_mask": there}) == []


@pytest.mark.slow("2 min: two hundred small models, four times each")
def test_no_kind_of_model_raises_an_alarm_against_itself():
    text = README.read_text(encoding="utf-8")
    kinds = re.findall(r"[\w.-]+", text.partition("<!-- recorded -->")[2].partition("<!--")[0])
    wrong = {}
    for kind in kinds:
        model = tiny(kind)
        inputs = inputs_of(model)
        if any(each.is_floating_point() for each in inputs.values()):
            continue  # images, which a model in 16 bits does not take as they are
        try:
            if found := alarms(model, inputs):
                wrong[kind] = found
        except (
            ValueError
        ) as error:  # a model without eager code, or one that does not run in 16 bits
            assert "stopped while it ran" in str(error) or "eager" in str(error), kind  # noqa: PT017
    assert wrong == {}


# --- plain PyTorch --------------------------------------------------------------------------------
class Attention(nn.Module):
    """As in nanoGPT, by SDPA, by hand or by einsum."""

    def __init__(self, way="sdpa", wrong=""):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(24, 72), nn.Linear(24, 24)
        self.way, self.wrong = way, wrong

    def forward(self, x):
        n_texts, n, width = x.shape
        q, k, v = (e.view(n_texts, n, 3, 8).transpose(1, 2) for e in self.c_attn(x).split(24, 2))
        sees = torch.ones(n, n).tril(1 if self.wrong == "mask_late" else 0)
        scale = {"model_width_root": 24, "no_scaling": 1}.get(self.wrong, 8) ** -0.5
        if self.way == "sdpa":
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=scale)
        elif self.way == "by hand":
            scores = (q @ k.transpose(-2, -1)) * scale
            weights = F.softmax(scores.masked_fill(sees == 0, float("-inf")), dim=-1)
            y = F.dropout(weights, 0.0) @ v
        else:
            scores = torch.einsum("bhqd,bhkd->bhqk", q, k) * scale
            weights = (scores + (1 - sees) * -1e9).softmax(-1)
            y = torch.einsum("bhqk,bhkd->bqhd", weights, v).transpose(1, 2)
        if self.wrong != "heads_without_transpose":
            y = y.transpose(1, 2)
        return self.c_proj(y.reshape(n_texts, n, width))


class Block(nn.Module):
    def __init__(self, **settings):
        super().__init__()
        self.ln, self.attn, self.mlp = nn.LayerNorm(24), Attention(**settings), nn.Linear(24, 24)

    def forward(self, x):
        x = x + self.attn(self.ln(x))
        return x + self.mlp(x)


def network(**settings):
    torch.manual_seed(3)
    made = nn.Sequential(Block(**settings), Block(**settings)).eval()
    with torch.no_grad():
        for block in made:
            block.attn.c_attn.weight.mul_(3)
    return made


VECTORS = random(2, 7, 24)
WAYS = ("sdpa", "by hand", "einsum")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("other", WAYS)
def test_attention_in_plain_pytorch_is_seen_however_it_is_written(way, other):
    assert compare(network(way=way), network(way=other), VECTORS).same
    for wrong in ("mask_late", "model_width_root", "no_scaling", "heads_without_transpose"):
        if way == "sdpa" and wrong == "mask_late":
            continue
        found = compare(network(way=way, wrong=wrong), network(way=other), VECTORS)
        assert found.names == (wrong,), found
        assert found.difference.place == "0.attn"


def test_modules_of_other_names_are_set_side_by_side_by_shape_and_order():
    class Other(nn.Module):
        def __init__(self, of):
            super().__init__()
            self.first, self.second = of

        def forward(self, x):
            return self.second(self.first(x))

    found = compare(Other(network(way="by hand", wrong="mask_late")), network(), VECTORS)
    assert found.names == ("mask_late",)
    assert any("by their shapes and order" in each for each in found.notices)


@pytest.mark.parametrize("n_heads", [3, 6, 12])
@pytest.mark.parametrize("added", [True, False])
def test_slopes_for_a_number_of_heads_that_is_no_power_of_two(n_heads, added):
    """ALiBi's own rule, by its published code, against the one rule for all."""
    q, k, v = random(3, 1, n_heads, 9, 5)
    near = 2 ** math.floor(math.log2(n_heads))
    right = [2 ** (-(2 ** -(math.log2(near) - 3)) * (i + 1)) for i in range(near)]
    twice = [2 ** (-(2 ** -(math.log2(2 * near) - 3)) * (i + 1)) for i in range(2 * near)]
    right += twice[0::2][: n_heads - near]
    wrong = [2 ** (-8 * (i + 1) / n_heads) for i in range(n_heads)]
    far = torch.arange(9)[:, None] - torch.arange(9)

    def function(slopes):
        bias = -torch.tensor(slopes)[:, None, None] * (far if added else far.clamp(min=0))
        bias = bias.masked_fill(far < 0, -torch.inf)
        return lambda q, k, v: F.scaled_dot_product_attention(q, k, v, attn_mask=bias[None])

    assert compare(function(right), function(right), q, k, v).same
    found = compare(function(wrong), function(right), q, k, v)
    assert found.names == ("alibi_slopes",)
    assert "power of two" in str(found)


# --- recordings and files -------------------------------------------------------------------------
def tensors(scale=5**-0.5, **others):
    q, k, v = random(3, 2, 3, 7, 5)
    weights = (q @ k.mT * scale).softmax(-1)
    return {"q": q, "k": k, "v": v, "output": weights @ v, **others}


def test_recordings_are_compared_also_when_they_come_from_files(tmp_path):
    wrong, right, inputs = with_mistake("rotary_pairs", "llama")
    for name, model in (("mine", wrong), ("theirs", right)):
        with torch.no_grad(), recorded(model) as seen:
            model(**inputs)
        seen.save(tmp_path / f"{name}.safetensors")
    found = compare(tmp_path / "mine.safetensors", str(tmp_path / "theirs.safetensors"))
    assert found.names == ("rotary_pairs",)
    assert found.difference.step == "queries"
    assert found.where("query") == [*range(1, IDS.shape[1])], "the first place does not turn"
    assert found.where("head") == [0, 1, 2, 3]


def test_files_of_three_kinds_hold_the_same_tensors(tmp_path):
    wrong = tensors(scale=1 / 5)
    save_file({name: each.contiguous() for name, each in tensors().items()},
              tmp_path / "a.safetensors")  # fmt: skip
    np.savez(tmp_path / "b.npz", **{name: each.numpy() for name, each in wrong.items()})
    torch.save({"state": wrong}, tmp_path / "c.pt")
    for file in ("b.npz", "c.pt"):
        found = compare(tmp_path / file, tmp_path / "a.safetensors")
        assert found.names == ("divided_by_d",), found
        assert compare(tmp_path / file, wrong if file == "b.npz" else {
            f"state.{name}": each for name, each in wrong.items()}).same  # fmt: skip


def test_a_layer_more_and_names_that_are_missing_are_told():
    layers = {f"{at}.{name}": each for at in range(2) for name, each in tensors().items()}
    found = compare(layers, {name: each for name, each in layers.items() if name[0] == "0"})
    assert found.same
    assert found.notices == ("Not compared, since only ours has it: 1.",)
    found = compare({"a": random(2, 3), "b": random(5)}, {"x": random(2, 3), "y": random(5) + 1})
    assert found.difference.place == "y"


BROKEN = {
    "garbage.npz": b"garbage", "garbage.pt": b"garbage", "garbage.safetensors": b"garbage",
    "empty.npz": b"", "empty.pt": b"", "empty.safetensors": b"", "text.txt": b"a",
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_that_holds_no_tensors_is_refused_by_its_name(name, tmp_path):
    (tmp_path / name).write_bytes(BROKEN[name])
    with pytest.raises(ValueError, match=re.escape(name)):
        compare(tmp_path / name, tensors())


def test_a_file_that_would_run_something_is_refused(tmp_path):
    torch.save(nn.Linear(2, 2), tmp_path / "module.pt")
    np.savez(tmp_path / "objects.npz", a=np.array([None, "x"], dtype=object))
    for name in ("module.pt", "objects.npz", "missing.pt"):
        with pytest.raises(ValueError, match=name.partition(".")[0]):
            compare(tmp_path / name, tensors())


Q = tensors()["q"]
ODD = {
    "nan": tensors(q=Q.masked_fill(Q > 1, torch.nan)),
    "infinite": tensors(output=torch.full_like(Q, torch.inf)),
    "fewer heads": tensors(q=Q[:, :2]),
    "fewer keys": tensors(k=Q[:, :, :4]),
    "narrower": tensors(output=Q[..., :4]),
    "whole": tensors(q=(Q * 10).to(torch.int8)),
    "quantised": tensors(q=torch.quantize_per_tensor(Q, 0.1, 0, torch.qint8)),
    "8 bits": tensors(q=(Q + 3).to(torch.float8_e5m2)),
    "complex": tensors(q=torch.complex(Q, Q)),
    "sparse": tensors(q=(Q[0, 0] * 2).to_sparse()),
    "number": tensors(extra=torch.tensor(3.0)),
    "five axes": tensors(q=Q[None] + 1),
    "one axis": tensors(q=Q.flatten()),
    "no numbers": tensors(q=torch.zeros(0, 3, 7, 5)),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_tensors_are_told_in_words(name):
    other = tensors(extra=torch.tensor(1.0)) if name == "number" else tensors()
    for found in (compare(ODD[name], other), compare(other, ODD[name])):
        assert not found.same
        assert "The first step that differs" in str(found)
        assert found.where("head") is not None
        if found.difference.ours is None:
            with pytest.raises(ValueError, match="nothing to set side by side"):
                found.trace()
        else:
            assert [*found.trace()] == ["ours", "theirs", "difference"]
    assert compare(ODD[name], ODD[name]).same


@pytest.mark.parametrize(("given", "words"), [
    ((5, 6), "mine is 5: give a module"),
    ((tensors(), {}), "theirs is empty"),
    ((tensors(), {"a": "x"}), "'a', which is no tensor"),
    ((tensors(), {"a": np.array(["x"], dtype=object)}), "a is .*no tensor of numbers"),
    ((tensors(), {"q": Q.to("meta")}), "no numbers"),
    ((tensors(), nn.Linear(2, 2)), "mine is tensors, and theirs a module"),
    ((tensors(), tensors(), 3), "inputs are for two modules"),
    ((nn.Linear(2, 2), nn.Linear(2, 2)), "no input to run both with"),
    ((nn.Linear, nn.Linear(2, 2)), "mine is a class: make a module first"),
    ((nn.Linear(2, 2), nn.Linear(2, 2), torch.ones(1, 3)), "theirs stopped while it ran"),
    ((Recording(), Recording()), "nothing to compare"),
    (({"a": torch.ones(2)}, {"b": torch.ones(3)}), "nothing to compare"),
])  # fmt: skip
def test_what_cannot_be_compared_is_refused_in_words(given, words):
    with pytest.raises(ValueError, match=words):
        compare(*given)


# --- what is said ---------------------------------------------------------------------------------
def test_the_result_says_where_by_how_much_and_why():
    *_, found = outcome("window_off", "mistral")
    said = str(found)
    assert said in repr(found)
    assert "layers.0.self_attn, mask" in said
    assert "queries 3 to 10" in said, "the first rows see no more than the shorter window"
    assert "a query sees 3 keys, and in theirs 4" in said
    assert found.where("query") == [*range(3, 11)]
    trace = found.trace(head=1)
    gap = trace["ours"].value - trace["theirs"].value
    assert torch.equal(trace["difference"].value, gap)
    assert gap[:3].abs().max() < 1e-6 < gap[3:].abs().max()
    with pytest.raises(ValueError, match="no head 4"):
        found.trace(head=4)


def test_every_name_is_in_the_one_list_of_mistakes():
    assert {name_of(mistake) for mistake in MISTAKES} <= {*WORDS}
    assert all(WORDS[name_of(mistake)].endswith(".") for mistake in MISTAKES)


def test_nothing_that_is_compared_is_changed():
    model = model_of("llama").train()
    before = copy.deepcopy(model.state_dict())
    state = torch.get_rng_state()
    compare(model, around(copy.deepcopy(model)), input_ids=IDS)
    assert torch.equal(state, torch.get_rng_state())
    assert model.training
    assert all(torch.equal(each, before[name]) for name, each in model.state_dict().items())
    assert not any(each._forward_hooks or each._forward_pre_hooks for each in model.modules())


# --- code of one's own ----------------------------------------------------------------------------
def sdpa(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)


def by_d(q, k, v):
    return (q @ k.mT / q.shape[-1]).softmax(-1) @ v


def with_matrices(x, W_q, W_k, W_v):
    return sdpa(x @ W_q, x @ W_k, x @ W_v)


def in_numpy(x, W_q, W_k, W_v):
    scores = (x @ W_q) @ (x @ W_k).T
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ (x @ W_v)


@pytest.mark.parametrize(("mine", "theirs", "names"), [
    (sdpa, with_matrices, ()),
    (by_d, sdpa, ("divided_by_d",)),
    (by_d, with_matrices, ("divided_by_d",)),
    (in_numpy, with_matrices, ("no_scaling",)),
])  # fmt: skip
def test_own_code_is_compared_with_a_reference(mine, theirs, names):
    found = compare_code(mine, theirs)
    assert found.names == names
    assert found.same is not bool(names)


def test_own_modules_get_the_same_matrices():
    found = compare_code(Attention("by hand", "model_width_root"), Attention("sdpa"), causal=True)
    assert found.names == ("model_width_root",)
    with pytest.raises(ValueError, match="matrices of the two modules are not the same"):
        compare_code(Attention(), nn.Linear(24, 24))
