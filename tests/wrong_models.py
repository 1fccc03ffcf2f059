"""Mistakes put into copies of small models of `transformers`, written here by hand: what `compare`
must find. Nothing of the library that is tested is used.
"""

import copy
import sys
from contextlib import ExitStack, contextmanager
from unittest import mock

import torch
from torch import nn
from transformers import AttentionInterface, DynamicCache
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS, AttentionMaskInterface

from tiny_models import tiny

FAMILIES = ("llama", "qwen3", "gemma2", "gpt2", "mistral", "gpt_oss", "gpt_neox")
IDS = torch.tensor([[5, 17, 42, 8, 23, 61, 9, 71, 33, 12, 50]])
NAME = "wrong_here"


def model_of(family, seed=0):
    """A tiny model whose scores are large enough to matter, and whose norms have weights."""
    settings = {"attention_dropout": 0.0, "attn_pdrop": 0.0, "head_dim": 8}
    if family == "gpt_neox":  # of 8 numbers of a head, 4 turn
        rates = {"rope_type": "default", "rope_theta": 10_000.0, "partial_rotary_factor": 0.5}
        settings["rope_parameters"] = rates
    model = tiny(family, seed, **settings)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, each in model.named_parameters():
            if each.ndim > 1:
                each.copy_(
                    torch.randn(each.shape, generator=generator) * 1.2 / each.shape[-1] ** 0.5
                )
                if "wte" in name or "wpe" in name or "embed" in name:
                    each.mul_(2)
            elif "norm" in name or "ln_" in name or "layernorm" in name or "sinks" in name:
                each.add_(torch.randn(each.shape, generator=generator) * 0.4)
    return model.eval()


# Attention by hand, with one line that is another.


def attention(mistake):
    """A function of attention, right but for one mistake."""

    def function(_, query, key, value, attention_mask, *, scaling, softcap=None, s_aux=None, **__):
        n_heads, width = query.shape[1], query.shape[-1]
        times = n_heads // key.shape[1]
        if mistake == "heads_repeated_in_turn":
            key, value = key.repeat(1, times, 1, 1), value.repeat(1, times, 1, 1)
        else:
            key, value = (each.repeat_interleave(times, 1) for each in (key, value))
        scale = {
            "no_scaling": 1.0,
            "divided_by_d": 1 / width,
            "model_width_root": (n_heads * width) ** -0.5,
            "other_width_root": (2 * width) ** -0.5,
        }.get(mistake, width**-0.5 if scaling is None else scaling)
        scores = query @ key.transpose(2, 3) * scale
        if softcap and mistake != "soft_cap_off":
            scores = softcap * torch.tanh(scores / softcap)
        n_queries, n_keys = scores.shape[-2:]
        sees = torch.ones(1, 1, n_queries, n_keys, dtype=torch.bool).tril(n_keys - n_queries)
        if attention_mask is not None:
            sees = attention_mask > torch.finfo(attention_mask.dtype).min / 2
        if mistake == "mask_opposite":
            sees = ~sees
        elif mistake == "mask_transposed":
            sees = sees.mT
        elif mistake == "mask_late":
            sees = sees | torch.cat([torch.zeros_like(sees[..., :1]), sees[..., :-1]], -1)
        elif mistake == "mask_other_corner":
            sees = torch.ones_like(sees).tril()
        elif mistake == "window_off":
            far = torch.arange(n_queries)[:, None] - torch.arange(n_keys)
            sees = sees & (far < int(sees.sum(-1).max()) - 1)
        elif mistake == "window_missing":
            sees = torch.ones_like(sees).tril()
        elif mistake == "mask_ignored":
            sees = torch.ones_like(sees)
        if mistake == "mask_added":
            scores = scores + sees
        elif mistake == "zero_in_place_of_infinity":
            scores = scores.masked_fill(~sees, 0.0)
        elif mistake != "mask_after_softmax":
            scores = scores.masked_fill(~sees, torch.finfo(scores.dtype).min)
        if s_aux is not None and mistake != "sink_off":
            sinks = s_aux.reshape(1, -1, 1, 1).expand(len(query), -1, n_queries, -1)
            both = torch.cat([scores, sinks], dim=-1)
            weights = share(mistake, both)[..., :-1]
        else:
            weights = share(mistake, scores)
        if mistake == "mask_after_softmax":
            weights = weights * sees
        if mistake == "random_numbers":
            weights = nn.functional.dropout(weights, 0.3, training=True)
        context = weights @ value
        if mistake == "heads_without_transpose":
            return context.reshape(len(context), n_queries, n_heads, -1), None
        return context.transpose(1, 2).contiguous(), None

    return function


def share(mistake, scores):
    if mistake == "softmax_over_queries":
        return scores.softmax(dim=-2)
    if mistake == "softmax_in_16_bits":
        return scores.to(torch.bfloat16).softmax(dim=-1).to(scores.dtype)
    return scores.softmax(dim=-1)


@contextmanager
def asked(function):
    """While it lasts, models that ask for `NAME` get a function."""
    AttentionInterface.register(NAME, function)
    AttentionMaskInterface.register(NAME, ALL_MASK_ATTENTION_FUNCTIONS["eager"])
    yield


def around(model, *patches, inputs=lambda named: named):
    """The model, which runs within these patches each time it is called."""
    plain = model.forward

    def forward(*given, **named):
        with ExitStack() as stack:
            for each in patches:
                stack.enter_context(each())
            return plain(*given, **inputs(named))

    model.forward = forward
    return model


def by_function(mistake):
    def put(model):
        with asked(attention(mistake)):
            model.set_attn_implementation(NAME)
        return around(model, lambda: asked(attention(mistake)))

    return put


# Rotary positions and norms.


def home_of(model):
    return sys.modules[type(model).__module__]


def by_rotary(apply):
    """`apply(q, k, cos, sin, model)` in the place of apply_rotary_pos_emb."""

    def put(model):
        def rotary(q, k, cos, sin, *_, **__):
            cos, sin = (each[..., : each.shape[-1]] for each in (cos, sin))
            return apply(q, k, cos[:, None], sin[:, None], model)

        home = home_of(model)
        return around(model, lambda: mock.patch.object(home, "apply_rotary_pos_emb", rotary))

    return put


def rotated(x, cos, sin, in_pairs=False):
    """The first numbers of x, as many as there are angles, turned: cos and sin of all, or half."""
    if cos.shape[-1] == x.shape[-1] // 2 and cos.shape[-1] * 2 == x.shape[-1] and is_half(cos):
        half_cos, half_sin = cos, sin
    else:
        half_cos, half_sin = (each[..., : each.shape[-1] // 2] for each in (cos, sin))
    width = 2 * half_cos.shape[-1]
    part, rest = x[..., :width], x[..., width:]
    if in_pairs:
        a, b = part[..., ::2], part[..., 1::2]
        made = torch.stack((a * half_cos - b * half_sin, b * half_cos + a * half_sin), -1).flatten(
            -2
        )
    else:
        a, b = part.chunk(2, dim=-1)
        made = torch.cat((a * half_cos - b * half_sin, b * half_cos + a * half_sin), -1)
    return torch.cat((made, rest), -1)


def is_half(cos):
    """Whether angles stand there once (as in GPT-OSS), and not once for each half."""
    a, b = cos.chunk(2, dim=-1)
    return not torch.equal(a, b)


def pairs(q, k, cos, sin, _):
    return rotated(q, cos, sin, True), rotated(k, cos, sin, True)


def unrotated(q, k, *_):
    return q, k


def backwards(q, k, cos, sin, _):
    return rotated(q, cos, -sin), rotated(k, cos, -sin)


def keys_late(q, k, cos, sin, model):
    places = torch.arange(k.shape[-2])[None] + 1
    late = [each[:, None] for each in model.rotary_emb(k, places)]
    return rotated(q, cos, sin), rotated(k, *late)


def other_rates(change):
    def put(model):
        emb = model.rotary_emb
        emb.inv_freq = change(emb.inv_freq)
        return model

    return put


def other_base(rates):
    at = torch.arange(len(rates)) / len(rates)
    return 500_000.0 ** (-at)


class Through(nn.Module):
    """Hands on what it is given, and remembers which layer's norm stood here."""

    def __init__(self, norm, told):
        super().__init__()
        self.kept, self.told = [norm], told

    def forward(self, x):
        self.told.append(self.kept[0])
        return x


def without_norms(model):
    for layer in model.layers:
        layer.self_attn.q_norm = nn.Identity()
        layer.self_attn.k_norm = nn.Identity()
    return model


def late_norms(model):
    told = []
    for layer in model.layers:
        for name in ("q_norm", "k_norm"):
            setattr(layer.self_attn, name, Through(getattr(layer.self_attn, name), told))

    def apply(q, k, cos, sin, _):
        q_norm, k_norm = told[-2:]
        return q_norm(rotated(q, cos, sin)), k_norm(rotated(k, cos, sin))

    return by_rotary(apply)(model)


# What a model is called with.


def in_training(model):
    for each in model.modules():
        for name in ("attention_dropout", "dropout_p"):
            if isinstance(getattr(each, name, None), float):
                setattr(each, name, 0.3)
        if isinstance(each, nn.Dropout):
            each.p = 0.3 if "attn_dropout" in str(each) else 0.0
    for each in model.modules():
        if "Attention" in type(each).__name__:
            each.training = True
            if hasattr(each, "attn_dropout"):
                each.attn_dropout.p = 0.3
                each.attn_dropout.training = True
    return model


def without_mask(model):
    return around(
        model, inputs=lambda named: {k: v for k, v in named.items() if k != "attention_mask"}
    )


def later_positions(model):
    def later(named):
        return {**named, "position_ids": torch.arange(IDS.shape[1])[None] + 1}

    return around(model, inputs=later)


def plain(_model):
    return {"input_ids": IDS}


def padded(_model):
    ids = torch.cat([IDS, IDS.flip(1)])
    there = torch.ones_like(ids)
    there[0, -4:] = 0
    return {"input_ids": ids, "attention_mask": there}


def padded_left(_model):
    ids = torch.cat([IDS, IDS.flip(1)])
    there = torch.ones_like(ids)
    there[0, :3] = 0
    return {"input_ids": ids, "attention_mask": there}


def continued(model):
    """The last three tokens, behind a cache of the first."""
    cache = DynamicCache(config=model.config)
    with torch.no_grad():
        model(IDS[:, :-3], cache=cache, use_cache=True)
    return {"input_ids": IDS[:, -3:], "cache": cache}


ROTARY = tuple(each for each in FAMILIES if each != "gpt2")
SHARED = tuple(each for each in FAMILIES if each not in ("gpt2", "gpt_neox"))
WINDOWED = ("gemma2", "mistral", "gpt_oss")
NO_WINDOW = tuple(each for each in FAMILIES if each not in WINDOWED)
OF_ROTARY = {"queries", "keys", "rotary_emb"}

MISTAKES = {
    "rotary_pairs": (ROTARY, by_rotary(pairs), plain, OF_ROTARY),
    "rotary_base": (ROTARY, other_rates(other_base), plain, OF_ROTARY),
    "rotary_scaling": (ROTARY, other_rates(lambda rates: rates / 4), plain, OF_ROTARY),
    "rotary_backwards": (ROTARY, by_rotary(backwards), plain, OF_ROTARY),
    "no_rotation": (ROTARY, by_rotary(unrotated), plain, OF_ROTARY),
    "positions_off": (ROTARY, by_rotary(keys_late), plain, OF_ROTARY),
    "positions_off of all": (FAMILIES, later_positions, plain, OF_ROTARY | {"wpe"}),
    "norm_missing": (("qwen3",), without_norms, plain, {"q_norm", "queries"}),
    "norm_after_rotation": (("qwen3",), late_norms, plain, {"q_norm", "queries"}),
    "padding_seen": (FAMILIES, without_mask, padded, {"mask"}),
    "padding_seen on the left": (FAMILIES, without_mask, padded_left, {"mask"}),
    "random_numbers": (FAMILIES, in_training, plain, {"weights", "context_vectors"}),
    "mask_other_corner": (NO_WINDOW, by_function("mask_other_corner"), continued, {"mask"}),
}  # fmt: skip
"""By its name: the families that can have it, what puts it in, the input, and the right steps."""
for _name, _families, _steps in (
    ("no_scaling", FAMILIES, {"scores"}),
    ("divided_by_d", FAMILIES, {"scores"}),
    ("model_width_root", FAMILIES, {"scores"}),
    ("other_width_root", FAMILIES, {"scores"}),
    ("heads_repeated_in_turn", SHARED, {"scores", "keys"}),
    ("mask_opposite", FAMILIES, {"mask"}),
    ("mask_transposed", FAMILIES, {"mask"}),
    ("mask_late", FAMILIES, {"mask"}),
    ("mask_ignored", FAMILIES, {"mask"}),
    ("mask_added", FAMILIES, {"mask"}),
    ("zero_in_place_of_infinity", FAMILIES, {"mask"}),
    ("mask_after_softmax", FAMILIES, {"weights"}),
    ("window_off", WINDOWED, {"mask"}),
    ("window_missing", WINDOWED, {"mask"}),
    ("soft_cap_off", ("gemma2",), {"scores"}),
    ("sink_off", ("gpt_oss",), {"weights"}),
    ("softmax_over_queries", FAMILIES, {"weights"}),
    ("softmax_in_16_bits", FAMILIES, {"weights"}),
    ("heads_without_transpose", FAMILIES, {"joined", "context_vectors"}),
):
    MISTAKES[_name] = (_families, by_function(_name), plain, _steps)
RIGHT_NAME = {"window_missing": "window_off"}
CASES = [(name, family) for name, (families, *_) in MISTAKES.items() for family in families]


def name_of(mistake):
    """The name that should be found."""
    return RIGHT_NAME.get(mistake, mistake.partition(" ")[0])


def with_mistake(mistake, family):
    """A model with a mistake, the right one, and what both are called with."""
    _, put, inputs, _ = MISTAKES[mistake]
    right = model_of(family)
    wrong = put(copy.deepcopy(right))
    return wrong, right, inputs(right)


def is_right_step(mistake, place, step):
    steps = MISTAKES[mistake][3]
    return step in steps or (step == "output" and any(each in place for each in steps))
