"""Attention computed in two ways that differ by one thing, and recordings: what is said of them."""
# ruff: noqa: ARG005

import torch
import torch.nn.functional as F
from transformers import DynamicCache

from attention_core import compare, recorded
from checks import random
from tiny_models import inputs_of, tiny

Q, K, V = random(3, 2, 4, 7, 5)
LOOKS_BACK = torch.ones(7, 7).tril().bool()
"""Query × key: whether a query sees a key."""


def attention(sees=LOOKS_BACK, scale=5**-0.5, before=lambda s: s, after=lambda w: w, softmax=None):
    """Attention by hand, of which one thing may be another."""

    def by_hand(q, k, v):
        scores = before(q @ k.mT * scale)
        scores = scores.masked_fill(~sees, -torch.inf) if sees is not None else scores
        weights = (softmax or (lambda s: s.softmax(-1)))(scores)
        return after(weights) @ v

    return by_hand


def by_torch(q, k, v, **named):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=LOOKS_BACK, **named)


def window(n, ahead=0):
    return torch.ones(7, 7).tril(ahead).triu(1 - n).bool()


def changed(**vectors):
    """What is computed with other queries, keys or values."""

    def with_others(q, k, v):
        given = {"q": q, "k": k, "v": v}
        return by_torch(*(vectors[each](q, k, v) if each in vectors else given[each]
                          for each in given))  # fmt: skip

    return with_others


def others(at, by=1.0, axis=2):
    """Queries that differ at these places of an axis alone."""
    return lambda q, k, v: q.index_add(axis, torch.tensor(at), torch.full(
        [len(at) if each == axis else size for each, size in enumerate(q.shape)], by))  # fmt: skip


RIGHT = attention()
PAIRS = {
    "torch and by hand": (by_torch, RIGHT),
    "divided by d": (attention(scale=1 / 5), RIGHT),
    "not divided": (attention(scale=1), RIGHT),
    "another factor": (attention(scale=0.3), RIGHT),
    "by torch with another factor": (lambda *qkv: by_torch(*qkv, scale=0.2), by_torch),
    "sees all": (attention(sees=None), RIGHT),
    "looks ahead": (attention(sees=LOOKS_BACK.mT), RIGHT),
    "one too late": (attention(sees=torch.ones(7, 7).tril(1).bool()), RIGHT),
    "two too late": (attention(sees=torch.ones(7, 7).tril(2).bool()), RIGHT),
    "three too late": (attention(sees=torch.ones(7, 7).tril(3).bool()), RIGHT),
    "not itself": (attention(sees=torch.ones(7, 7).tril(-1).bool() | (torch.arange(7) == 0)),
                   RIGHT),
    "a window in mine": (attention(sees=window(3)), RIGHT),
    "a window in theirs": (RIGHT, attention(sees=window(3))),
    "windows of 3 and 4": (attention(sees=window(3)), attention(sees=window(4))),
    "windows of 4 and 3": (attention(sees=window(4)), attention(sees=window(3))),
    "both sides": (attention(sees=window(3, 2)), attention(sees=window(3))),
    "hidden by 0": (attention(sees=None, before=lambda s: s * LOOKS_BACK), RIGHT),
    "hidden by −5": (
        attention(sees=None, before=lambda s: s.masked_fill(~LOOKS_BACK, -5.0)), RIGHT),
    "a mask that is added": (attention(sees=None, before=lambda s: s + LOOKS_BACK.float()), RIGHT),
    "hidden after softmax": (attention(sees=None, after=lambda w: w * LOOKS_BACK), RIGHT),
    "hidden after softmax, to 1 again": (
        attention(sees=None, after=lambda w: F.normalize(w * LOOKS_BACK, p=1, dim=-1)), RIGHT),
    "softmax down": (attention(sees=None, softmax=lambda s: s.softmax(-2)), attention(sees=None)),
    "softmax twice": (attention(softmax=lambda s: s.softmax(-1).softmax(-1)), RIGHT),
    "no softmax": (attention(sees=None, softmax=lambda s: s), attention(sees=None)),
    "a sum in place of softmax": (
        attention(sees=None, softmax=lambda s: s / s.sum(-1, keepdim=True)), attention(sees=None)),
    "capped in mine": (attention(before=lambda s: 2 * (s / 2).tanh()), RIGHT),
    "capped in theirs": (RIGHT, attention(before=lambda s: 2 * (s / 2).tanh())),
    "in 16 bits": (attention(softmax=lambda s: s.bfloat16().softmax(-1).float()), RIGHT),
    "rounded weights": (attention(after=lambda w: w.bfloat16().float()), RIGHT),
    "keys for queries": (changed(q=lambda q, k, v: k), by_torch),
    "queries and keys swapped": (lambda q, k, v: by_torch(k, q, v), by_torch),
    "queries for keys": (changed(k=lambda q, k, v: q), by_torch),
    "keys for values": (changed(v=lambda q, k, v: k), by_torch),
    "heads in another order": (changed(q=lambda q, k, v: q.flip(1)), by_torch),
    "heads of values in another order": (changed(v=lambda q, k, v: v.flip(1)), by_torch),
    "halves swapped": (changed(q=lambda q, k, v: q.roll(2, -1)), by_torch),
    "the first place": (changed(q=others([0])), by_torch),
    "places in a row": (changed(q=others([2, 3, 4])), by_torch),
    "places here and there": (changed(q=others([0, 2, 5])), by_torch),
    "one head": (changed(k=lambda q, k, v: others([2], axis=1)(k, k, v)), by_torch),
    "noise": (changed(v=lambda q, k, v: v + random(*v.shape).flip(-1)), by_torch),
    "twice the values": (changed(v=lambda q, k, v: 2 * v), by_torch),
    "the second text": (changed(v=lambda q, k, v: others([1], axis=0)(v, k, v)), by_torch),
    "nan": (changed(q=lambda q, k, v: q.masked_fill(q > 2, torch.nan)), by_torch),
}  # fmt: skip


THEIRS = {"queries": random(1, 2, 53, 3), "output": random(1, 2, 53, 5)}
ODD = (torch.arange(53) % 2)[:, None]
FIRST = lambda n: (torch.arange(53) < n)[:, None]  # noqa: E731
OF_TENSORS = {
    "each odd place": {**THEIRS, "queries": THEIRS["queries"] + ODD},
    "six places": {**THEIRS, "queries": THEIRS["queries"] + ODD * FIRST(12)},
    "seven places": {**THEIRS, "queries": THEIRS["queries"] + ODD * FIRST(14)},
    "infinite": {**THEIRS, "output": THEIRS["output"].index_fill(2, torch.tensor(7), torch.inf)},
    "one infinite": {**THEIRS, "output": THEIRS["output"].where(
        THEIRS["output"] < THEIRS["output"].max(), torch.inf)},
}  # fmt: skip
"""Tensors of more places than are listed, beside others."""
PAIRS |= OF_TENSORS


def said_of_pair(name):
    """What is said of two that differ by one thing: each line of it, and of its trace."""
    if name in OF_TENSORS:
        found = compare(OF_TENSORS[name], THEIRS)
    else:
        found = compare(*PAIRS[name], Q, K, V)
    return [*str(found).splitlines(), *drawn(found)]


def drawn(found):
    """What its trace shows, in words."""
    if found.same or found.difference.ours is None:
        return []
    trace = found.trace()
    n_rows, n_columns = trace["difference"].value.shape
    return [f"{n_rows} × {n_columns} of {found.axes}, worst at {found.worst()}"]


RECORDED = {
    "gpt2, one text": ("gpt2", 1, 9), "gpt2, two texts": ("gpt2", 2, 9), "bert": ("bert", 1, 9),
    "llama": ("llama", 1, 9), "bart": ("bart", 1, 9), "one token": ("gpt2", 1, 1),
    "written on": ("llama", 1, 7),
}  # fmt: skip


def said_of_recording(name):
    """What a recording and its layers are called."""
    kind, n_texts, n_tokens = RECORDED[name]
    model = tiny(kind)
    given = inputs_of(model, n_tokens)
    given = {each: of.expand(n_texts, *of.shape[1:]) if of.shape[0] == 1 else of
             for each, of in given.items()}  # fmt: skip
    with torch.no_grad(), recorded(model) as seen:
        cache = DynamicCache() if name == "written on" else None
        for at in range(0, n_tokens, 3) if cache is not None else ():
            model(input_ids=given["input_ids"][:, at : at + 3], past_key_values=cache)
        if cache is None:
            model(**given)
    return [repr(seen), *map(repr, seen), repr(seen[0].call())]
