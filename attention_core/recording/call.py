"""One call of attention in a model, as it was recorded: what went in, what came out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from ..mechanism.any_tensors import attend_tensors
from ..mechanism.own_tensors import LARGEST, PRECISIONS
from ..trace import Trace

SOFT_CAP, SINKS, BIAS = "softcap", "s_aux", "position_bias"
"""What `transformers` calls the options that change numbers, besides mask and scale."""
KNOWN = {SOFT_CAP, SINKS, BIAS, "is_causal", "dropout", "sliding_window"}
SLACK = 32
"""How many roundings of the largest number two right ways may lie apart."""


class NotAsRecorded(ValueError):
    """A trace that does not give what the layer gave: it is not shown."""


@dataclass(repr=False)
class Call:
    """Attention in one layer in one pass, in tensors (batch, head, …).

    What the layer was given: `queries` (batch, head, query, d_head), `keys` (batch, kv_head, key,
    d_head), `values` (batch, kv_head, key, d_value), `mask` (batch or 1, head or 1, query or 1,
    key; True = may look, or numbers that are added; None for none), `scale` (scores are multiplied
    by it; None: by 1/√d_head) and `options` by their names; what it gave: `output` (batch, head,
    query, d_value), and in a backward pass `output_gradient`, of the same shape.

    `rows` are the places of its queries among all of the pass, and `n_queries` how many those were.
    """

    queries: Tensor
    keys: Tensor
    values: Tensor
    mask: Tensor | None
    scale: float | None
    output: Tensor
    rows: Tensor
    n_queries: int
    implementation: str
    """What computed it: `sdpa`, `eager`, `flash_attention_2`, …, or `torch`."""
    options: dict[str, Any] = field(default_factory=dict)
    output_gradient: Tensor | None = None

    def __repr__(self) -> str:
        return f"<call of {self.implementation}: {self.in_words()}>"

    def in_words(self) -> str:
        """Its sizes: "2 texts, 4 heads, 9 queries, 9 keys"."""
        n_texts, n_heads, n_queries, _ = self.queries.shape
        sizes = [(n_texts, "text", "texts")] if n_texts > 1 else []
        sizes += [(n_heads, "head", "heads"), (n_queries, "query", "queries")]
        sizes += [(self.keys.shape[-2], "key", "keys")]
        return ", ".join(f"{n} {one if n == 1 else many}" for n, one, many in sizes)

    @property
    def n_bytes(self) -> int:
        """What it keeps in memory."""
        there = (self.queries, self.keys, self.values, self.mask, self.output)
        return sum(each.numel() * each.element_size() for each in there if each is not None)

    @property
    def n_heads(self) -> int:
        """Heads of queries; keys may have fewer."""
        return self.queries.shape[1]

    def weights(self) -> Tensor:
        """Weights (batch, head, query, key) in float32, as the trace has them. Raises NotAsRecorded
        where they do not give what the layer gave.
        """
        weights = _weights(self._numbers(), self._visible())
        self.check(weights)
        return weights

    def mask_of_all(self) -> Tensor:
        """All that hides and is added in one (batch, head or 1, query, key): True where a query may
        look, or numbers that are added.
        """
        mask = _mask(self._numbers(), self._visible())
        if mask is None:
            mask = torch.ones((), dtype=torch.bool, device=self.queries.device)
        n_heads = mask.shape[1] if mask.ndim == 4 else 1
        return mask.expand(len(self.queries), n_heads, len(self.rows), self.keys.shape[-2])

    @property
    def n_before(self) -> int:
        """How many keys stand before the pass's first query: those of a cache. Behind the last that
        any of its rows may look at, a cache has room that nothing is written to yet.
        """
        mask = self.mask_of_all()
        sees = mask if mask.dtype == torch.bool else ~mask.isneginf()
        seen = sees.flatten(0, -2).any(dim=0).nonzero()
        last = int(seen[-1]) if len(seen) else self.keys.shape[-2] - 1
        n_rows = int(self.rows[-1]) + 1 if len(self.rows) else self.n_queries
        n_read = last + 1 if n_rows == self.n_queries else self.keys.shape[-2]
        return min(max(0, n_read - self.n_queries), self.keys.shape[-2] - n_rows)

    def rounded_by(self) -> float:
        """How far what the layer gave lies from the same numbers in float32, at most."""
        return (self.output.float() - self._exact_context()).abs().max().item()

    def rounding(self) -> str:
        """What its precision rounds, and by how much it did here, in words; "" in float32."""
        if self.values.dtype == torch.float32:
            return ""
        fused = "" if self.implementation == "eager" else ", and a fused kernel rounds out of sight"
        return (
            f"Computed in {_kind(self.values)}{fused}: its context vectors differ from float32 "
            f"by up to {self.rounded_by():.2g}; the largest number in a value is "
            f"{self.values.abs().max().item():.2g}."
        )

    def gradient(self) -> Tensor:
        """What the weights' gradient (batch, head, query, key) was: how the loss changes with each
        weight. Raises ValueError before `loss.backward()`.
        """
        if self.output_gradient is None:
            raise ValueError(
                "no gradient has come back to this layer: call loss.backward() after the pass, "
                "without torch.no_grad()"
            )
        values = _to_heads(self.values, self.n_heads).float()
        return self.output_gradient.float() @ values.mT

    def trace(
        self,
        text: int | None = None,
        head: int | None = None,
        query: int | None = None,
        query_labels: list[str] | None = None,
        key_labels: list[str] | None = None,
    ) -> Trace:
        """Queries, keys, scores, mask, weights and context vectors as steps, down to the products,
        in the precision of the model. `text`, `head` and `query` choose one place along an axis,
        which the trace then has no more. Raises ValueError where there is too much to take apart,
        and NotAsRecorded where it does not give what the layer gave.
        """
        self.weights()  # that all of the call is understood
        there = self._numbers()
        visible = self._visible()
        texts = slice(None) if text is None else slice(text, text + 1)
        heads = slice(None) if head is None else slice(head, head + 1)
        rows = slice(None) if query is None else slice(query, query + 1)
        one_for_each = there["keys"].shape[1]
        kv = heads
        if head is not None:
            kv = slice(at := head * one_for_each // self.n_heads, at + 1)
        queries = there["queries"][texts, heads, rows]
        keys, values = there["keys"][texts, kv], there["values"][texts, kv]
        for name, tensor in (("queries", queries), ("keys", keys), ("values", values)):
            if tensor.numel() > LARGEST:
                raise ValueError(
                    f"the {name} of this layer are {tensor.numel():,} numbers, and at most "
                    f"{LARGEST:,} can be taken apart: " + self._what_to_choose(head, text)
                )
        shape = (*queries.shape[:3], keys.shape[-2])
        options: dict[str, Any] = {}
        mask = _mask(there, visible)
        if mask is not None:
            mask = mask.expand(len(self.queries), self.n_heads, -1, -1)[texts, heads, rows]
            if mask.dtype != torch.bool or not mask.all():
                options["mask"] = mask.expand(shape).clone()
        if there["sinks"] is not None:
            sinks = there["sinks"][heads]
            options["sink_logits"] = sinks.tolist() if head is None else float(sinks[0])
        if there["soft_cap"] is not None:
            options["soft_cap"] = there["soft_cap"]
        if len(queries) == 1:  # one text needs no axis of its own, nor does one head of it
            cut = (0, 0) if head is not None else (0,)
            queries, keys, values = queries[cut], keys[cut], values[cut]
            if "mask" in options:
                options["mask"] = options["mask"][cut]
        trace = attend_tensors(
            queries,
            keys,
            values,
            scale="sqrt_d" if self.scale is None else self.scale,
            query_labels=query_labels or (),
            key_labels=key_labels or (),
            **options,
        )
        self._compare(trace["context_vectors"].value, (texts, heads, rows))
        return trace

    def _what_to_choose(self, head: int | None, text: int | None) -> str:
        """What makes a trace smaller, in words."""
        if head is None:
            more = len(self.queries) > 1 and text is None
            return "choose a head, such as .trace(head=0)" + ", and a text, such as text=0" * more
        if len(self.queries) > 1 and text is None:
            return "choose a text, such as text=0"
        return "record a shorter text; weights() has all that a picture needs"

    def check(self, weights: Tensor) -> float:
        """How far context vectors by these weights (batch, head, query, key) lie from what the
        layer gave. Raises NotAsRecorded where that is more than its precision explains.
        """
        for name in ("queries", "keys", "values"):
            tensor = getattr(self, name)
            if not tensor.isfinite().all():
                at = (~tensor.isfinite()).nonzero()[0].tolist()
                number = tensor[tuple(at)].item()
                raise NotAsRecorded(
                    f"the {name} of this layer have {number} at {at} (text, head, token, "
                    "component): no weights follow from that"
                )
        values = _to_heads(self.values, self.n_heads)
        if weights.device != values.device:
            values = values.to(weights.device)
        theirs = self.output.to(weights.device).float()
        ways = [weights @ values.float()]
        if self.values.dtype in (torch.float16, torch.bfloat16):
            ways.append(_weights(self._numbers(), self._visible(), rounds=True) @ values)
        apart = min((each.float() - theirs).abs().max().item() for each in ways)
        if not apart <= self._allowed():  # also where it is nan
            raise NotAsRecorded(self._why(apart))
        return apart

    def _allowed(self) -> float:
        """How far apart two right ways may be: scores are sums, whose rounding grows with them."""
        largest = max(self.values.abs().max().item(), 1e-30)
        eps = torch.finfo(self.values.dtype).eps
        if self.values.dtype == torch.float32:
            numbers = self._numbers()
            scale = numbers["scale"]
            lengths = [numbers[name].norm(dim=-1).max().item() for name in ("queries", "keys")]
            eps *= 1 + abs(scale) * lengths[0] * lengths[1]
        return SLACK * eps * largest

    def _why(self, apart: float) -> str:
        told = (
            "recomputed from what it was given, this layer’s context vectors differ by "
            f"{apart:.2g} "
            f"from what it gave, and {_kind(self.values)} explains {self._allowed():.2g}"
        )
        if self.options.get("dropout"):
            return (
                f"{told}. Dropout of {self.options['dropout']} was on, which left out weights at "
                "random: call model.eval() first, or set the dropout of attention to 0"
            )
        unknown = [name for name, value in self.options.items()
                   if name not in KNOWN and _counts(value)]  # fmt: skip
        if unknown:
            told += f". It has options that are not known here: {', '.join(sorted(unknown))}"
        return f"{told}. So no trace of it is shown ({self.implementation})"

    def _compare(self, context: Tensor, place: tuple[slice, ...]) -> None:
        """Raises NotAsRecorded where a trace, in its precision, rounds to something else."""
        theirs = self.output[place].float().cpu().reshape(context.shape)
        apart = (context.float() - theirs).abs().max().item()
        allowed = self._allowed()
        if self.values.dtype != torch.float32:
            # Rounded at each step, a score of 40 in bfloat16 is known to a tenth.
            exact = self._exact_context()[place].cpu().reshape(context.shape)
            allowed += 2 * (context.float() - exact).abs().max().item()
        if not apart <= allowed:
            raise NotAsRecorded(self._why(apart))

    def _exact_context(self) -> Tensor:
        weights = _weights(self._numbers(), self._visible())
        return weights @ _to_heads(self.values, self.n_heads).float()

    def _numbers(self) -> dict[str, Any]:
        """All that decides the scores, by the names of steps."""
        scale = self.scale if self.scale is not None else self.queries.shape[-1] ** -0.5
        return {
            "queries": self.queries,
            "keys": self.keys,
            "values": self.values,
            "scale": float(scale),
            "mask": self.mask,
            "bias": self.options.get(BIAS),
            "soft_cap": self.options.get(SOFT_CAP) or None,
            "sinks": self._sinks(),
        }

    def _sinks(self) -> Tensor | None:
        sinks = self.options.get(SINKS)
        return None if sinks is None else sinks.detach().reshape(-1).expand(self.n_heads)

    def _visible(self) -> Tensor | None:
        """What a flag hides (query, key; True = may look), as each implementation reads it: sdpa
        takes `is_causal` where there is no mask, from the top left corner; flash attention from the
        bottom right, with the window as an option; eager and flex attention know masks alone.
        """
        n_keys = self.keys.shape[-2]
        rows, keys = self.rows[:, None], torch.arange(n_keys)
        if self.implementation in ("sdpa", "torch"):
            hides = self.mask is None and self.options.get("is_causal") and self.n_queries > 1
            return (keys <= rows).to(self.queries.device) if hides else None
        if not self.implementation.startswith("flash"):
            return None
        last = rows + n_keys - self.n_queries
        visible = torch.ones(len(self.rows), n_keys, dtype=torch.bool)
        if self.options.get("is_causal"):
            visible &= keys <= last
            if window := self.options.get("sliding_window"):
                visible &= keys > last - window
        return visible.to(self.queries.device)


def _weights(there: Mapping[str, Any], visible: Tensor | None, rounds: bool = False) -> Tensor:
    """Weights (batch, head, query, key): in float32, or where it `rounds` as eager code has them,
    with each product in the model's own precision and softmax alone in float32.
    """
    kind = there["queries"].dtype if rounds else torch.float32
    queries = there["queries"].to(kind)
    scores = queries @ _to_heads(there["keys"], queries.shape[1]).to(kind).mT * there["scale"]
    if (cap := there["soft_cap"]) is not None:
        scores = torch.tanh(scores / cap) * cap
    mask = _mask(there, visible)
    if mask is not None and mask.dtype == torch.bool:
        scores = scores.masked_fill(~mask, -torch.inf)
    elif mask is not None:
        scores = scores + mask.to(kind)
    return _shares(scores.float(), there["sinks"]).to(kind)


def _shares(scores: Tensor, sinks: Tensor | None) -> Tensor:
    """Softmax, with a sink's logit in each row; a row that sees nothing is 0."""
    if sinks is not None:
        beside = sinks.float()[None, :, None, None].expand(*scores.shape[:-1], 1)
        return torch.cat([scores, beside.to(scores.device)], dim=-1).softmax(dim=-1)[..., :-1]
    return scores.softmax(dim=-1).nan_to_num(0.0) if scores.isneginf().any() else scores.softmax(-1)


def _mask(there: Mapping[str, Any], visible: Tensor | None) -> Tensor | None:
    """One mask (batch or 1, head or 1, query, key) of all that hides and all that is added: True
    where a query may look, or numbers that are added. The least number of a precision, which models
    add to hide, is −∞ where it leaves a key in each row; a row that has nothing else sees all.
    """
    mask, bias = there["mask"], there["bias"]
    n_keys = there["keys"].shape[-2]
    if mask is not None:
        mask = mask[..., :n_keys]
        if mask.dtype != torch.bool:
            hidden = mask <= torch.finfo(mask.dtype).min / 2
            if not (hidden.all(dim=-1)).any():
                only_hides = not mask.masked_fill(hidden, 0).any()
                mask = ~hidden if only_hides else mask.masked_fill(hidden, -torch.inf)
    if visible is not None:
        mask = visible[None, None] if mask is None else _both(mask, visible)
    if bias is None:
        return mask
    bias = bias.detach()[..., :n_keys]
    if mask is None:
        return bias
    return bias.masked_fill(~mask, -torch.inf) if mask.dtype == torch.bool else bias + mask


def _both(mask: Tensor, visible: Tensor) -> Tensor:
    if mask.dtype == torch.bool:
        return mask & visible
    return mask.masked_fill(~visible, -torch.inf)


def _to_heads(tensor: Tensor, n_heads: int) -> Tensor:
    """Each key head for the query heads that it serves, one after the other."""
    return tensor.repeat_interleave(n_heads // tensor.shape[1], dim=1)


def _kind(tensor: Tensor) -> str:
    return PRECISIONS.get(tensor.dtype) or str(tensor.dtype).removeprefix("torch.")


def _counts(value: object) -> bool:
    """Whether an option says anything: not None, not a switch that is off."""
    return value is not None and value is not False
