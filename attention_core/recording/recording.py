"""What was recorded: layers by their names, each with its calls."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor

from ..trace import Trace
from ..utils.validation import among
from .call import BIAS, Call

ACROSS = ("cross", "encoder_attn", "encdec")
"""What attention to another text is called."""
BLANKS = "Ġ▁ "
"""How tokens say that a blank stands before them."""


@dataclass(frozen=True)
class Patches:
    """How a model cut an image: into `grid` (rows, columns) patches, each a token."""

    grid: tuple[int, int]
    places: tuple[tuple[int, ...], ...] = ()
    """For each text, the places of its image's tokens among its words; () where there are none."""
    is_distilled: bool = False
    """Whether the second special token is DeiT's for distillation, and no register."""


class Layer:
    """The attention of one layer, in one pass or, when a text was written, in one for each step."""

    def __init__(self, name: str, place: int, recording: "Recording") -> None:
        self.name, self.place = name, place
        self.calls: list[Call] = []
        self._recording = recording

    def __repr__(self) -> str:
        call = self.calls[-1]
        steps = f", the last of {len(self.calls)} steps" if len(self.calls) > 1 else ""
        return f"<{self.place}: {self.name}, {call.in_words()}{steps}>"

    @property
    def kind(self) -> str:
        """Its name without numbers: what layers that follow each other share."""
        name = self.name.partition(" (")[0]
        return ".".join(part for part in name.split(".") if not part.isdigit())

    def call(self, step: int | None = None) -> Call:
        """One of its calls; without a step, all of them as one. Raises ValueError where there is
        none of that number, or where keys of earlier steps are gone from the last.
        """
        if step is None:
            return joined(self.calls)
        if not -len(self.calls) <= step < len(self.calls):
            raise ValueError(
                f"there is no step {step}: layer {self.place} was called {len(self.calls)} times"
            )
        return self.calls[step]

    def weights(self, step: int | None = None) -> Tensor:
        """Weights (batch, head, query, key) of all that was recorded, or of one step of writing, in
        float32. Raises NotAsRecorded where they do not give what the layer gave.
        """
        return self.call(step).weights()

    def rounding(self, step: int | None = None) -> str:
        """What its precision rounds, and by how much it did here; "" in float32."""
        return self.call(step).rounding()

    def gradient(self, step: int | None = None) -> Tensor:
        """How the loss changes with each weight (batch, head, query, key), after
        `loss.backward()`. Raises ValueError before.
        """
        return self.call(step).gradient()

    def trace(
        self,
        text: int | None = None,
        head: int | None = None,
        query: int | str | None = None,
        step: int | None = None,
    ) -> Trace:
        """Queries, keys, scores, mask, weights and context vectors as steps, down to the products.
        `text` (of a batch), `head`, `query` (a place, or a token) and `step` (of writing) choose.
        Raises ValueError where there is too much to take apart or nothing of that name, and
        NotAsRecorded where the trace would not give what the layer gave.
        """
        call = self.call(step)
        n_texts, n_heads, n_queries, _ = call.queries.shape
        text = _checked("text", text, n_texts)
        head = _checked("head", head, n_heads)
        names = self.key_names(step, text or 0)
        own = self.query_names(step, text or 0)
        if isinstance(query, str):
            query = _of_token(query, own)
        query = _checked("query", query, n_queries)
        chosen = own if query is None else own[query : query + 1]
        return call.trace(text, head, query, chosen, names)

    def key_names(self, step: int | None = None, text: int = 0) -> list[str]:
        """The tokens that its keys stand for; none where nobody named as many."""
        tokens, call = self._recording.tokens_of(text), self.call(step)
        firsts = [0] if step is None else first_keys(self.calls) or [0] * len(self.calls)
        first = firsts[0 if step is None else step]
        names = [*tokens[first : first + call.keys.shape[-2]]]
        return names if len(names) == call.keys.shape[-2] else []

    def query_names(self, step: int | None = None, text: int = 0) -> list[str]:
        """The tokens that look; none where nobody named them, or where they are another text's."""
        names, call = self.key_names(step, text), self.call(step)
        if not names or self.is_across:
            return []
        places = [call.n_before + row for row in call.rows.tolist()]
        return [names[at] for at in places] if max(places, default=0) < len(names) else []

    @property
    def is_across(self) -> bool:
        """Whether it looks at another text: its name says so, or a pass over several tokens meets
        another number of keys, and sees all of them.
        """
        first = self.calls[0]
        n_keys = first.keys.shape[-2]
        other = 1 < first.n_queries != n_keys and bool((first.mask_of_all() == True).all())  # noqa: E712
        return other or any(each in self.name.lower() for each in ACROSS)


class Recording:
    """Layers, by their place in the order in which they ran or by their name."""

    def __init__(self, tokens: Sequence[str] | Sequence[Sequence[str]] | None = None) -> None:
        self.layers: dict[str, Layer] = {}
        self.notices: list[str] = []
        """What is not in it, in words."""
        self.tokens = tokens
        self.patches: Patches | None = None
        """How an image was cut, where the model has seen one."""

    def __repr__(self) -> str:
        lines = [repr(each) for each in self.layers.values()]
        return "\n".join([f"<recording of {len(lines)} layers>", *lines, *self.notices])

    def __len__(self) -> int:
        return len(self.layers)

    def __iter__(self) -> Iterator[Layer]:
        return iter(self.layers.values())

    def __getitem__(self, which: int | str) -> Layer:
        """A layer by its place, from the end where it is below 0, or by its name. Raises ValueError
        for one that is not there.
        """
        if isinstance(which, str):
            named = [each for each in self if f".{each.name}".endswith(f".{which}")]
            if len(named) != 1:
                raise ValueError(f"there is no layer {which!r}{among(which, self.layers)}")
            return named[0]
        places = {each.place: each for each in self}
        last = max(places, default=-1)
        found = places.get(which if which >= 0 else last + 1 + which)
        if found is None:
            there = ", ".join(map(str, places))
            raise ValueError(f"there is no layer {which}: those recorded are {there or 'none'}")
        return found

    @property
    def kinds(self) -> dict[str, list[Layer]]:
        """Layers that follow each other in a model: encoder, decoder, across."""
        found: dict[str, list[Layer]] = {}
        for each in self:
            found.setdefault(each.kind, []).append(each)
        return found

    def of_kind(self, kind: str | None = None) -> list[Layer]:
        """The layers of one kind, told by a part of its name; without one, the first. Raises
        ValueError where no kind, or more than one, has that part.
        """
        kinds = self.kinds
        if kind is None:
            return next(iter(kinds.values()), [])
        found = [name for name in kinds if kind == name] or [name for name in kinds if kind in name]
        if len(found) != 1:
            what = "several kinds" if found else "no kind"
            raise ValueError(f"{kind!r} names {what} of layer{among(kind, kinds)}")
        return kinds[found[0]]

    def tokens_of(self, text: int) -> Sequence[str]:
        """The tokens of one text of the batch; none where nobody gave any."""
        tokens = [*(self.tokens or ())]
        found = tokens[text] if tokens and not isinstance(tokens[0], str) else tokens
        return [str(each) for each in found]

    def save(self, path: str | Path) -> None:
        """Write it into a file (safetensors), for another day, notebook or the app. Raises OSError
        where that cannot be done.
        """
        from .saved import save_recording

        save_recording(self, path)

    def add(self, name: str, place: int, call: Call) -> None:
        """A call of a layer, behind those that were there before."""
        self.layers.setdefault(name, Layer(name, place, self)).calls.append(call)


def joined(calls: Sequence[Call]) -> Call:
    """The steps in which a text was written as one call: the queries of all, below each other, on
    the keys of all, of which each sees those that it saw; also where a cache forgets what a window
    has left. Raises ValueError where they cannot be one.
    """
    last = calls[-1]
    if len(calls) == 1:
        return last
    firsts = first_keys(calls)
    if firsts is None or len({_size(each) for each in calls}) > 1:
        raise ValueError(_apart(calls))
    n_keys = max(at + each.keys.shape[-2] for at, each in zip(firsts, calls, strict=True))
    if n_keys > sum(each.keys.shape[-2] for each in calls):
        raise ValueError(_apart(calls))  # some keys are in none of them
    masks = [each.mask_of_all() for each in calls]
    keys, values = (
        tensor.new_zeros(*tensor.shape[:2], n_keys, tensor.shape[-1])
        for tensor in (last.keys, last.values)
    )
    known = torch.zeros(len(keys), n_keys, dtype=torch.bool, device=keys.device)
    for at, each, mask in zip(firsts, calls, masks, strict=True):
        here = slice(at, at + each.keys.shape[-2])
        sees = mask if mask.dtype == torch.bool else ~mask.isneginf()
        counts = sees.any(dim=-2).any(dim=1)  # (batch, key)
        before, settled = known[:, here] & counts, (known[:, here] & ~counts)[:, None, :, None]
        for all_of_it, part in ((keys, each.keys), (values, each.values)):
            there = all_of_it[:, :, here]
            if part.shape != there.shape or not all(
                torch.equal(one[:, where], other[:, where])
                for one, other, where in zip(there, part, before, strict=True)
            ):
                raise ValueError(_apart(calls))
            all_of_it[:, :, here] = torch.where(settled, there, part)
        known[:, here] |= counts
    if any(each.dtype != torch.bool for each in masks):
        kind = last.queries.dtype
        masks = [torch.zeros((), dtype=kind).masked_fill(~each, -torch.inf)
                 if each.dtype == torch.bool else each for each in masks]  # fmt: skip
    hidden = False if masks[0].dtype == torch.bool else -torch.inf
    most = max(each.shape[1] for each in masks)
    wide = [
        torch.nn.functional.pad(each, (at, n_keys - at - each.shape[-1]), value=hidden)
        .expand(-1, most, -1, -1) for at, each in zip(firsts, masks, strict=True)
    ]  # fmt: skip
    others = {name: of for name, of in last.options.items() if name not in (BIAS, "is_causal")}
    behind = [sum(each.n_queries for each in calls[:at]) for at in range(len(calls))]
    return replace(
        last,
        queries=torch.cat([each.queries for each in calls], dim=-2),
        keys=keys,
        values=values,
        mask=torch.cat(wide, dim=-2),
        output=torch.cat([each.output for each in calls], dim=-2),
        rows=torch.cat([each.rows + at for each, at in zip(calls, behind, strict=True)]),
        n_queries=sum(each.n_queries for each in calls),
        options=others,
        output_gradient=None,
    )


def first_keys(calls: Sequence[Call]) -> list[int] | None:
    """Which place of the text each call's first key has: above 0 where a cache has forgotten those
    before it. None where a later call begins anew, with a text of its own.
    """
    first = calls[0]
    if all(torch.equal(first.keys, each.keys) for each in calls):
        return [0] * len(calls)  # the keys of another text, or one call
    n_read, firsts = first.n_before + first.n_queries, [0]
    for each in calls[1:]:
        n_read += each.n_queries
        if each.keys.shape[-2] == each.n_queries:
            return None
        firsts.append(max(0, n_read - each.keys.shape[-2]))
    return firsts


def _size(call: Call) -> tuple[int, ...]:
    """Texts, heads, key heads, and how many numbers a query and a value have."""
    d_head, d_value = call.queries.shape[-1], call.values.shape[-1]
    return *call.queries.shape[:2], call.keys.shape[1], d_head, d_value


def _apart(calls: Sequence[Call]) -> str:
    return (
        "these calls do not follow each other (passes over several texts, or beams): choose one "
        f"of {len(calls)}, such as step=0 or step=-1"
    )


def _checked(name: str, value: int | None, length: int) -> int | None:
    if value is None:
        return None
    if not -length <= value < length:
        raise ValueError(f"there is no {name} {value}: choose one from 0 to {length - 1}")
    return value % length


def _of_token(word: str, tokens: Sequence[str]) -> int:
    """The place of a token. Raises ValueError where there is none, or more than one."""
    if not tokens:
        raise ValueError(
            f"query is {word!r}, but the recording knows no tokens: set seen.tokens, such as "
            "tokenizer.convert_ids_to_tokens(ids[0]), or give a place"
        )
    plain = [each.strip(BLANKS) for each in tokens]
    found = [at for at, each in enumerate(plain) if each == word.strip(BLANKS)]
    if len(found) != 1:
        places = f"stands at {', '.join(map(str, found))}: give one" if found else "is none of them"
        raise ValueError(f"query is {word!r}, which {places}. The tokens are {', '.join(plain)}")
    return found[0]
