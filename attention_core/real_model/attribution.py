"""Who brought an answer: the logit of a token as a sum of what each part of a model wrote to the
stream.

Before the last norm everything is a sum: the embeddings, and what each head and each feed-forward
added. The last norm divides by one number, taken as it came out: frozen. So what a part brought is
exact, but without it the others would be divided by another number, and it says nothing of what
later parts made of it: that is seen by switching it off.

Source: Elhage et al. 2021, A Mathematical Framework for Transformer Circuits.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from .run import Run, normed
from .settings import Settings


@dataclass(frozen=True)
class Part:
    """What one part of a model brought to a logit."""

    kind: str
    """`token`, `position`, `type`, `head`, `attention bias`, `feed-forward`, `last norm's bias`,
    `embedding`, for embeddings that are no sum, or `put in its place`, what a patch has changed.
    """
    amount: float
    layer: int | None = None
    head: int | None = None

    @property
    def name(self) -> str:
        """Such as `head 18.6` (layer 18, head 6) or `feed-forward 3`."""
        if self.head is not None:
            return f"head {self.layer}.{self.head}"
        return self.kind if self.layer is None else f"{self.kind} {self.layer}"


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

    def of_attention(self, layer: int) -> float:
        """What all that attention of a layer wrote has brought."""
        return sum(
            each.amount
            for each in self.parts
            if each.layer == layer and each.kind in ("head", "attention bias")
        )


@torch.no_grad()
def attribution(
    found: Run, token: int, position: int = -1, against: int | None = None
) -> Attribution:
    """What each part brought to the logit of `token` after the token at `position`; with `against`,
    to how far it is above the logit of that one. Raises ValueError where the model says no next
    token, or has no such token.
    """
    asked = _Asked(found, token, position, against)
    settings = found.model.settings
    parts = _embeddings(asked)
    for layer in range(settings.n_layers):
        parts += _heads(asked, layer)
        parts.append(Part("feed-forward", asked.along(found.ffn_added[layer, position]), layer))
    if asked.bias:
        parts.append(Part("last norm's bias", asked.bias))
    if found.changes.patches:
        written = found.before[0, position] + found.attention_added[:, position].sum(0)
        written = written + found.ffn_added[:, position].sum(0)
        parts.append(Part("put in its place", asked.along(found.final[position] - written)))
    return Attribution(tuple(parts), asked.logit)


@torch.no_grad()
def head_by_key(
    found: Run,
    layer: int,
    head: int,
    token: int,
    position: int = -1,
    against: int | None = None,
) -> Tensor:
    """From which tokens what a head brought has come: (key,), which together are its part."""
    asked = _Asked(found, token, position, against)
    settings, matrices = found.model.settings, found.model.layer(layer)
    read = found.before[layer]
    if settings.norms != "after":
        bias = matrices.get("attention_norm_bias")
        read = normed(settings, read, matrices["attention_norm_gain"], bias)
    key_head = head // (settings.n_heads // settings.n_key_heads)
    rows = slice(key_head * settings.d_head, (key_head + 1) * settings.d_head)
    values = read @ matrices["W_value"][rows].T
    if "b_value" in matrices:
        values = values + matrices["b_value"][rows]
    wanted = _by_head(asked, layer, _direction(asked, layer))[head]
    off = (layer, head) in found.changes.heads or layer in found.changes.attention
    return found.weights[layer, head, position].double() * (values.double() @ wanted) * (not off)


class _Asked:
    """A direction in the stream: what stands along it is added to the logit."""

    def __init__(self, found: Run, token: int, position: int, against: int | None) -> None:
        model, settings = found.model, found.model.settings
        if not settings.predicts:
            raise ValueError(f"{model.name} says no next token: a {model.family} has no logits")
        rows = [token] if against is None else [token, against]
        for each in rows:
            if not 0 <= each < settings.n_vocabulary:
                raise ValueError(f"there is no token {each}: there are {settings.n_vocabulary:,}")
        table = model.matrix("token_table" if settings.tied else "W_unembed", rows).double()
        column = table[0] if against is None else table[0] - table[1]
        self.found, self.position = found, position
        gain, bias = model.norm("final_norm")
        self.bias = 0.0 if bias is None else float(bias.double() @ column)
        stream = found.final[position].double()
        self.direction = _frozen(settings, stream, gain) * column
        self.centred = settings.norm == "layer"
        if self.centred:  # the mean of a part is taken away here
            self.direction = self.direction - self.direction.mean()
        self.logit = self.along(stream) + self.bias

    def along(self, vector: Tensor) -> float:
        """What a vector of the stream brings."""
        return float(vector.double() @ self.direction)


def _frozen(settings: Settings, vector: Tensor, gain: Tensor) -> Tensor:
    """What a norm multiplies each component of this vector by (…, d)."""
    if settings.norm == "layer":
        size = (vector.var(-1, correction=0, keepdim=True) + settings.epsilon).sqrt()
    else:
        size = (vector.square().mean(-1, keepdim=True) + settings.epsilon).sqrt()
    gain = gain.double() + 1 if settings.norm_adds_one else gain.double()
    return gain / size


def _embeddings(asked: _Asked) -> list[Part]:
    """The sum that the stream begins with, where it is one."""
    found, position = asked.found, asked.position
    model, settings = found.model, found.model.settings
    place = position % len(found.ids)
    own = model.matrix("token_table", [found.ids[place]])[0] * settings.embedding_scale
    parts = [Part("token", asked.along(own))]
    if settings.positions == "learned":
        parts.append(Part("position", asked.along(model.matrix("position_table", [place])[0])))
    if (0, place) in found.changes.patches:  # the stream before the first layer is another
        return [Part("embedding", asked.along(found.before[0, position]))]
    return parts


def _direction(asked: _Asked, layer: int) -> Tensor:
    """What the output of a layer's attention is multiplied with to say what it brings. Where a norm
    stands on what attention is about to add, that is frozen too.
    """
    found, model, settings = asked.found, asked.found.model, asked.found.model.settings
    if settings.norms != "around":
        return asked.direction
    contexts = found.context_vectors[layer, :, asked.position].flatten()
    written = model.matrix(f"{layer}.W_output") @ contexts
    if "b_output" in settings.biases:
        written = written + model.matrix(f"{layer}.b_output")
    gain = model.matrix(f"{layer}.attention_after_norm_gain")
    return asked.direction * _frozen(settings, written.double(), gain)


def _by_head(asked: _Asked, layer: int, direction: Tensor) -> Tensor:
    """What each head's context vector is multiplied with to say what it brings: (head, d_head)."""
    model, settings = asked.found.model, asked.found.model.settings
    matrix = model.matrix(f"{layer}.W_output").double()
    return (direction @ matrix).view(settings.n_heads, settings.d_head)


def _heads(asked: _Asked, layer: int) -> list[Part]:
    """What each head of a layer brought, and the bias of its output where there is one."""
    found, model = asked.found, asked.found.model
    if layer in found.changes.attention:
        return [Part("head", 0.0, layer, head) for head in range(model.settings.n_heads)]
    direction = _direction(asked, layer)
    wanted = _by_head(asked, layer, direction)
    contexts = found.context_vectors[layer, :, asked.position].double()
    amounts = (contexts * wanted).sum(-1).tolist()
    parts = [Part("head", amount, layer, head) for head, amount in enumerate(amounts)]
    if "b_output" in model.settings.biases:
        bias = model.matrix(f"{layer}.b_output").double()
        parts.append(Part("attention bias", float(bias @ direction), layer))
    return parts
