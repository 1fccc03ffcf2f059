"""Who brought an answer: the logit of a token as a sum of what each part of a model wrote to the
stream.

Before the last norm everything is a sum (`written`), and that norm is frozen too. So what a part
brought is exact, but without it the others would be divided by another number, and it says nothing
of what later parts made of it: that is seen by switching it off.

Source: Elhage et al. 2021, A Mathematical Framework for Transformer Circuits.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from .run import Run, normed
from .written import Reading, Writer


@dataclass(frozen=True)
class Part(Writer):
    """What one part of a model brought to a logit."""

    amount: float = 0.0


@dataclass(frozen=True)
class Attribution:
    """The logit of a token, and the parts that it is the sum of."""

    parts: tuple[Part, ...]
    logit: float
    """What the model says, before a cap where it has one."""

    @property
    def heads(self) -> list[Part]:
        """What each head has brought, the most first."""
        heads = (each for each in self.parts if each.kind == "head")
        return sorted(heads, key=lambda each: -each.amount)

    def of_head(self, layer: int, head: int) -> float:
        """What one head has brought."""
        return next(each.amount for each in self.parts if (each.layer, each.head) == (layer, head))


@torch.no_grad()
def attribution(
    run: Run, token: int, position: int = -1, against: int | None = None
) -> Attribution:
    """What each part brought to the logit of `token` after the token at `position`; with `against`,
    to its lead over that one's. Raises ValueError where the model has no such token, or says none.
    """
    reading = _asked(run, token, position, against)
    bias = float(reading.noted[0][1]) if reading.noted else 0.0
    logit = float(reading.read(run.final[position])) + bias
    writers, amounts = reading.back(run.model.settings.n_layers)
    each = zip(writers, amounts.flatten().tolist(), strict=True)
    return Attribution(tuple(Part(**vars(by), amount=amount) for by, amount in each), logit)


@torch.no_grad()
def head_by_key(
    run: Run, layer: int, head: int, token: int, position: int = -1, against: int | None = None
) -> Tensor:
    """From which tokens what a head brought has come: (key,), which together are its part."""
    reading = _asked(run, token, position, against)
    settings, matrices = run.model.settings, run.model.layer(layer)
    read = run.before[layer]
    if settings.norms_read:
        bias = matrices.get("attention_norm_bias")
        read = normed(settings, read, matrices["attention_norm_gain"], bias)
    key_head = head // (settings.n_heads // settings.n_key_heads)
    rows = slice(key_head * settings.d_head, (key_head + 1) * settings.d_head)
    values = read @ matrices["W_value"][rows].T
    if "b_value" in matrices:
        values = values + matrices["b_value"][rows]
    columns, _, frozen = reading.of_heads(layer)
    brought = reading.read(values.double() @ columns[head] * frozen)[:, 0]
    off = (layer, head) in run.changes.heads or layer in run.changes.attention
    return run.weights[layer, head, position].double() * brought * (not off)


def _asked(run: Run, token: int, position: int, against: int | None) -> Reading:
    """Back through the last norm: what stands in the stream there, as it is added to the logit."""
    model, settings = run.model, run.model.settings
    model.check_predicts()
    rows = [token] if against is None else [token, against]
    for each in rows:
        if not 0 <= each < settings.n_vocabulary:
            raise ValueError(f"there is no token {each}: there are {settings.n_vocabulary:,}")
    table = model.matrix("token_table" if settings.tied else "W_unembed", rows).double()
    table = table * settings.logit_scale
    column = table[0] if against is None else table[0] - table[1]
    reading = Reading(run, [range(len(run.ids))[position]], column[:, None])
    reading.norm("final_norm", run.final)
    return reading
