"""A learner's code as its lights ask it: by matrices that are chosen, or only from outside."""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from copy import copy
from functools import cached_property
from itertools import product
from typing import Self

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from ..light import OF_WEIGHTS
from ..measures import LARGE, Measured, Moved, Subject, gap, most, of_others, rows_of
from .arrays import widths_of
from .calling import FEWEST_DIGITS, Call, Stopped, too_few_digits
from .opened import Opened, letters_of
from .reading import (
    FITS,
    NEAR,
    NORMS,
    Ways,
    cap_of,
    factor_of_scores,
    factors_of,
    goes_by_distance,
    is_near,
    largest_gap,
    logs,
    look_of,
    may_look,
    normed_by,
    slopes_of,
)
from .sentences import N_TOKENS, Sentence, Sizes, all_sizes, drawn_at_random, matrices, strengths

LENGTHS = (7, 6, 5, 4, 3, 2)
"""The numbers of tokens to begin with: a module may have a longest sentence."""
LOW = 3000.0
"""How far below 0 scores are made to see what a hidden one is: −10,000 is as good as −∞."""
WIDE = 30.0
"""How large scores are made to see a cap on them, with every weight still a number."""
SAME_SINK = 0.003
"""How far a sink's score may be off, which is read from what rows lack."""
MANY_TOKENS = 24
"""More than a query can see in one key of each head."""
ANY_WIDTH = 12
"""How wide the vectors are for a module without sizes, to which any width is the same."""
OF_MASK = "Not here: a causal mask goes by the order."
ONE_TEXT = "It was given one text at a time."
IN_BATCH = "in a batch (count axes from the end, as in dim=-1)"
COMPARED = (
    "no_leak",
    "own_row",
    "variance",
    "tokens_apart",
    "order_free",
    "formula",
    "second_text",
)
OF_USE = ("texts_apart", "padding", "cached", "learns")
OF_WEIGHTS_READ = (*OF_WEIGHTS, "variance")


@contextmanager
def instead(of: object, **others: object) -> Iterator[None]:
    """Something with other attributes, for a while."""
    before = {name: getattr(of, name) for name in others}
    vars(of).update(others)
    try:
        yield
    finally:
        vars(of).update(before)


class Code(Subject):
    """Code that runs, called with vectors (token, d_in)."""

    same = NEAR
    zero, asks = NEAR / 10, True
    n_tokens, d_in = N_TOKENS, 0

    def __init__(self, call: Call) -> None:
        self.call, self.causal = call, call.causal
        self.parameters: dict[str, Tensor] | None = None
        self.given: tuple[Tensor, ...] = ()
        self.inside: Open | None = None
        """An attention in it that shows what it does not."""
        self.inside_name = ""
        self.unused: tuple[str, ...] = ()
        """Parameters of a module that nothing of the output depends on."""
        self.missing: tuple[str, ...] = ()
        """Those of them by whose names queries, keys or values are made, and by no others."""
        self.unread = ""
        """Why its weights cannot be read; "" where they can."""

    def begin(self) -> None:
        """Call it twice, and keep what it gives: the lights are measured against that."""
        self.seen = may_look(self.n_tokens, self.causal)
        self.places = [0, self.n_tokens // 2, self.n_tokens - 1]
        self.output = self.of(self.draw())
        again = self.of(self.draw())
        # nan is no number, and not near itself.
        self.is_repeatable = torch.equal(self.output.isnan(), again.isnan()) and is_near(
            self.output.nan_to_num(), again.nan_to_num()
        )

    def called_otherwise(self, **others: object) -> Self:
        """The same with a call that has other attributes; it has not begun."""
        other = copy(self)
        other.call = copy(self.call)
        vars(other.call).update(others)
        other.inside = None
        for name in ("mixes", "factor"):  # what has been measured already
            vars(other).pop(name, None)
        return other

    def draw(self, n_tokens: int | None = None, seed: int = 0) -> Tensor:
        """Vectors (token, d_in)."""
        generator = torch.Generator().manual_seed(seed)
        return torch.randn(n_tokens or self.n_tokens, self.d_in, generator=generator)

    def both(self, vectors: Tensor) -> tuple[Tensor, Tensor | None]:
        """The output (token, …), and the weights if it returns any."""
        output, weights = self.call(vectors[None], *self.given, parameters=self.parameters)
        return output[0], weights

    def of(self, vectors: Tensor) -> Tensor:
        """The output (token, d_out)."""
        return self.both(vectors)[0]

    def why_not(self, name: str) -> str:
        if not self.is_repeatable and name in (*COMPARED, *OF_WEIGHTS_READ, *OF_USE):
            return "The same input twice gives two outputs (below)."
        if not self.output.isfinite().all() and name not in ("finite", "repeatable"):
            return "There is nan or infinity in the output (above)."
        if name in ("own_row", "variance") and self.mixes:
            return "Tokens mix outside attention (below), so this cannot be told apart."
        return self.unread if name in OF_WEIGHTS_READ else ""

    mixes = False
    """Whether tokens depend on each other outside attention."""

    def kept_outside(self, n_steps: int) -> str:  # noqa: ARG002
        return "Change a token, and nothing changes between the others."

    def of_other_token(self, place: int) -> Moved:
        vectors = self.draw()
        vectors[place] = self.draw(seed=1)[place]
        return self._moved(vectors)

    def _moved(self, vectors: Tensor) -> Moved:
        return Moved(rows_of(gap(self.of(vectors), self.output)), self.output)

    def reordered(self, order: Tensor) -> tuple[Tensor, str]:
        return self.of(self.draw()[order]), "With the tokens reordered,"

    def twice(self) -> Iterable[tuple[str, Tensor, Tensor | None]]:
        yield "", self.output.nan_to_num(), self.of(self.draw()).nan_to_num()

    def of_drawn(self) -> Iterator[Tensor]:
        for seed in range(4):
            yield self.of(self.draw(seed=seed))
            yield self.of(-self.draw(seed=seed))

    def large(self) -> Iterator[tuple[Tensor, str, str, str]]:
        yield self.output, "component", "With ordinary scores", ""
        yield self.of(LARGE * self.draw()), "component", "With vectors 10,000 times as long", ""

    def any_length(self) -> Measured:
        """Every shorter sentence, and one that is longer."""
        longest, stopped_at = self.n_tokens, 0
        for n_tokens in (*range(1, longest), longest + 1, longest):
            try:
                output = self.of(self.draw(n_tokens))
            except Stopped as stopped:
                if n_tokens > longest and self.call.is_module:  # a longest sentence is a choice
                    stopped_at = n_tokens
                    continue
                said = f"On a sentence of {n_tokens} after one of another length, {stopped}"
                return False, said
            if not output.isfinite().all():
                return False, f"A sentence of {n_tokens} gives nan."
        end = f"; it stops at {stopped_at}, above its longest" if stopped_at else ""
        return True, f"Sentences of 1 to {longest} tokens come out as long{end}."

    def texts_apart(self) -> Measured:
        """Two texts in a batch, and each by itself."""
        is_plain = self.call.way.layout == "plain"
        if is_plain and self.call.is_closed:
            return None, ONE_TEXT
        texts = [self.draw(seed=seed) for seed in (0, 1)]
        ones = [self.of(text) for text in texts]
        try:
            with self.in_batch():
                both, _ = self.call(torch.stack(texts), *self.given, parameters=self.parameters)
        except Stopped as stopped:
            said = f"It takes one text at a time: with two, {stopped}."
            return None, ONE_TEXT if is_plain else said
        far = max(largest_gap(e[:, : one.shape[1]], one) for e, one in zip(both, ones, strict=True))
        said = f"Beside another text, its vectors move by {far:.2g} at most."
        if is_plain and not far <= NEAR:
            said += f" They were given {IN_BATCH}."
        return far <= NEAR, said

    def second_text(self) -> Measured:
        """Keys and values of another text, as long as the first and then shorter."""
        if not self.call.takes_second:
            return None, "It is given one text."
        n_tokens = self.n_tokens
        found: Measured = (None, "")
        alike = self.causal and not self.call.masks_first  # a causal mask is square
        for n_keys in (n_tokens,) if alike else (n_tokens, max(1, n_tokens - 2)):
            keys, values = (self.draw(n_keys, seed) for seed in (5, 6))
            others = (keys, values) if self.call.has_two_seconds else (keys, keys)
            try:
                with instead(self.call, others=others):
                    found = self._of_second(n_keys)
            except Stopped as stopped:
                said = f"With a second text of {n_keys} tokens beside one of {n_tokens}, {stopped}"
                said = f"{said.rstrip('.')}."
                if n_keys == n_tokens or not self.call.has_two_seconds:
                    return False, said
                return found[0], f"{found[1]} But: {said[0].lower()}{said[1:]}"
            if found[0] is False:
                return found
        return found

    def _of_second(self, n_keys: int) -> Measured:
        """Whether another text moves what it should, where the call is given one."""
        output = self.of(self.draw())
        first = largest_gap(self.of(self.draw(seed=1)), output)
        keys, values = self.call.others or (self.draw(), self.draw())
        moved = []
        for others in ((-keys, values), (keys, -values)):
            both = others if self.call.has_two_seconds else (-keys, -keys)
            with instead(self.call, others=both):
                moved.append(largest_gap(self.of(self.draw()), output))
        if first <= NEAR:
            return False, "Change the first text, and nothing changes: no query comes from it."
        if min(moved) <= NEAR and n_keys > 1:
            kinds = "keys" if moved[0] <= NEAR else "values"
            kinds = kinds if self.call.has_two_seconds else "keys and values"
            return False, f"Change the text of the {kinds}, and nothing changes."
        return (
            True,
            f"A second text of {n_keys} tokens changes what comes out for one of {len(output)}.",
        )

    def in_batch(self) -> AbstractContextManager[None]:
        """With a batch axis in front, where it was given one text without."""
        way = self.call.way
        batched = way._replace(layout="batch") if way.layout == "plain" else way
        return instead(self.call, way=batched)


class Open(Code):
    """A function, or a module with its matrices put in; weights are read off what comes out."""

    def __init__(self, call: Call, sizes: Sizes, opened: Opened | None = None) -> None:
        super().__init__(call)
        self.sizes, self.opened, self.ways = sizes, opened, Ways()
        self.call.n_alike = sizes.n_alike
        self.given = tuple(matrices(sizes))
        self.d_in = sizes.d_in
        self.parameters = opened and opened.parameters(*self.given)

    def both(self, vectors: Tensor) -> tuple[Tensor, Tensor | None]:
        output, weights = super().both(vectors)
        return output[:, : self.sizes.n_heads * self.sizes.d_value], weights

    def settle(self) -> None:
        """Find a way to call it, and how long a sentence may be. Raises Stopped for none."""
        first = None
        lengths = LENGTHS if self.call.is_module else (N_TOKENS,)
        for self.n_tokens in lengths:
            try:
                vectors = drawn_at_random(self.sizes, self.n_tokens)[0][None]
                self.call.settle(vectors, *self.given, parameters=self.parameters)
            except Stopped as stopped:
                first = first or stopped
                continue
            if self.call.meets or not self.opened:
                return
        raise first or Stopped("no token looks at another")

    def begin(self) -> None:
        super().begin()
        self.unread = self._why_unread()
        if not self.unread:
            self.weights = self.weights_of(self.sentence())
            self._find_ways()
            self.seen = self.seen & self.ways.sees(self.n_tokens)
            self.keeps_order = "".join(f"Not here: {way}." for way in self.ways.said()[:1])
        self.keeps_order = OF_MASK if self.causal else self.keeps_order

    def sentence(self, n_tokens: int | None = None, seed: int = 0) -> Sentence:
        """A sentence at random."""
        return Sentence.drawn(self.sizes, n_tokens or self.n_tokens, seed)

    def draw(self, n_tokens: int | None = None, seed: int = 0) -> Tensor:
        return torch.cat(self.sentence(n_tokens, seed), dim=1)

    def out(self, sentence: Sentence) -> Tensor:
        """The output for a sentence."""
        return self.of(torch.cat(sentence, dim=1))

    def weights_of(self, sentence: Sentence) -> Tensor:
        """Weights (head, query, key): what comes out where one token's values are 1, others 0."""
        n_tokens, width = sentence.values.shape
        made = []
        for first in range(0, n_tokens, width):
            values = torch.zeros(n_tokens, width)
            count = min(width, n_tokens - first)
            values[first : first + count, :count] = torch.eye(count)
            output = self.out(sentence._replace(values=values))
            heads = output.unflatten(-1, (self.sizes.n_heads, -1)) if output.numel() else output
            made.append(heads[..., :count].transpose(0, 1))
        return torch.cat(made, dim=-1)

    def of_random(self) -> tuple[list[Tensor], Tensor]:
        """Vectors and matrices of which none was chosen, and what comes out."""
        vectors, *drawn = drawn_at_random(self.sizes, self.n_tokens)
        parameters = self.opened and self.opened.parameters(*drawn)
        with instead(self, given=tuple(drawn), parameters=parameters):
            return [vectors, *drawn], self.of(vectors)

    def tables(self) -> Iterator[tuple[Tensor, str, str]]:
        yield self.weights, "with ordinary scores", ""
        others = [(self._large(), "with large scores"), *self._unlikely()]
        for sentence, said in others:
            weights = self.weights_of(sentence)
            if weights.isfinite().all():
                yield weights, said, ""
        if self.call.way.layout == "plain" and self.texts_apart()[0] is False:
            with suppress(Stopped), self.in_batch():
                yield self.weights_of(self.sentence()), IN_BATCH, ""

    def ordinary(self) -> list[tuple[Tensor, str]]:
        alike = self.weights_of(self._alike(self.sentence())) if self.ways.factors else None
        return [(self.weights if alike is None else alike, "")]

    def large(self) -> Iterator[tuple[Tensor, str, str, str]]:
        yield self.output, "component", "With ordinary scores", ""
        said = f"With scores up to {LARGE:,.0f}"
        yield self.out(self._large()), "component", said, ""

    def _large(self) -> Sentence:
        sentence = self.sentence()
        size = most(sentence.scores(self.sizes)) / self.sizes.d_head**0.5
        return sentence._replace(queries=sentence.queries * (LARGE / size))

    def _unlikely(self) -> Iterator[tuple[Sentence, str]]:
        """Sentences whose visible keys score so low that a hidden one shows, if it is not −∞.

        In the first all scores of a row are equal, in the second hidden keys have high ones: what
        stands in place of a score shows in the first, what is added to it in the second.
        """
        if self.seen.all():
            return
        sentence = self.sentence()
        one = sentence.keys[:1].expand_as(sentence.keys)
        far = LOW / float(strengths(self.sizes.n_heads).max()) * self.sizes.d_head**0.5
        queries = one * float(far / one[0].square().sum())
        sees = self.seen[self.n_tokens // 2][:, None]
        said = f"where scores reach −{LOW:,.0f}"
        for sign in (1, -1):  # each is low in other heads
            low = sentence._replace(queries=sign * queries)
            yield low._replace(keys=one), said
            yield low._replace(keys=torch.where(sees, one, -one) / 2), said

    def of_other_query(self, place: int) -> Iterator[Moved]:
        queries = -self.sentence().queries[place]
        yield self._moved(torch.cat(self.sentence().with_token(place, queries=queries), dim=1))

    def outside_attention(self, place: int) -> Iterator[Moved]:
        """Numbers that no matrix reads, then another token: ratios of other weights stay."""
        sentence = self.sentence()
        yield self._of_unread(place)
        others = torch.arange(self.n_tokens) != place
        seen = self.seen & others
        if self.unread or (self.weights[:, others][:, seen[others]] <= 0).any():
            return
        other = self.sentence(seed=1)
        parts = {name: getattr(other, name)[place] for name in ("queries", "keys")}
        changed = self.weights_of(sentence.with_token(place, **parts))
        before, after = (self._ratios(each, seen) for each in (self.weights, changed))
        rows = gap(before, after).amax((0, 2)) / 10  # logarithms are less exact
        yield Moved(rows.masked_fill(~others, 0.0), self.weights)

    def _of_unread(self, place: int) -> Moved:
        sentence = self.sentence()
        unread = sentence.with_token(place, unread=-2.0 * sentence.unread[place])
        return self._moved(torch.cat(unread, dim=1))

    @cached_property
    def mixes(self) -> bool:  # type: ignore[override]  # False in others
        return any(of_others(self._of_unread(each).rows, each) > NEAR for each in self.places)

    def _ratios(self, weights: Tensor, seen: Tensor) -> Tensor:
        made = torch.where(seen, logs(weights), 0.0)
        return torch.where(seen, made - made.sum(-1, keepdim=True) / seen.sum(-1, keepdim=True), 0)

    @cached_property
    def factor(self) -> float | None:
        """What q·k is multiplied by before softmax; None for no one number."""
        if self.ways.turns:
            return self._factor_at_itself()
        if self.ways.cap is not None:
            return self._factor_below_cap
        if self.ways.factors:
            return None
        plain = self.weights * self.ways.bias(self.n_tokens).neg().exp()
        return factor_of_scores(plain, self.scores(self.ways.norm), self.seen)

    def scores(self, norm: str = "") -> Tensor:
        """q·k, not divided by anything, of vectors that may be normalised: (head, query, key)."""
        vectors = self.draw().double()
        to_queries, to_keys = (each.double() for each in self.given[:2])
        queries, keys = self._heads(vectors @ to_queries, vectors @ to_keys, norm)
        return queries @ keys.repeat_interleave(len(queries) // len(keys), dim=0).mT

    def _heads(self, queries: Tensor, keys: Tensor, norm: str) -> Iterator[Tensor]:
        """Queries and keys (token, width) as heads (head, token, d_head), normalised."""
        for each, n in zip((queries, keys), self.sizes.heads[:2], strict=True):
            whole = normed_by(each, norm) if "whole" in norm else each
            heads = whole.unflatten(-1, (n, -1)).transpose(0, 1)
            yield heads if "whole" in norm else normed_by(heads, norm)

    def _factor_at_itself(self) -> float | None:
        """The same where a score depends on distance: by a token's weight on itself, turned."""
        sentence, found = self.sentence(), []
        for place in range(1, self.n_tokens):
            one = sentence._replace(keys=torch.zeros_like(sentence.keys))
            one = one.with_token(place, keys=sentence.keys[place])
            both = [one, one._replace(queries=-one.queries)]
            ratios = [logs(self.weights_of(e))[:, place] for e in both]
            rise = [each[:, place] - each[:, 0] for each in ratios]
            found.append((rise[0] - rise[1]) / 2)
        for norm in ("", *NORMS):
            own = self.scores(norm).diagonal(dim1=-2, dim2=-1)[:, 1:].mT
            factors = torch.stack(found) / own
            if float(factors.std()) < NEAR * 100:
                return float(factors.mean())
        return None

    def fixed_width(self) -> int | None:
        """The one width for which what the scores are divided by is right; None for any."""
        if self.unread or not self.is_repeatable or not self.output.isfinite().all():
            return None
        factors = [each.factor for each in self.of_two_widths()]
        if len(factors) < 2 or None in factors or abs(factors[0] / factors[1] - 1) > FITS:
            return None
        width = factors[0] ** -2
        return round(width) if width > 1.5 and abs(width / round(width) - 1) < FITS else None

    def variance(self) -> Measured:
        if self.ways.factors:
            return self._of_cosines()
        told, holds = [], True
        for each in self.of_two_widths():
            if each.factor is None:
                return False, (
                    "The weights are not in the ratios of e to the power of q·k, divided by any "
                    "number."
                )
            divisor, width = 1 / each.factor, each.sizes.d_head
            told.append(f"by {divisor:.4g} at width {width} (√{width} = {width**0.5:.4g})")
            holds = holds and abs(divisor / width**0.5 - 1) < 0.01
        return holds, f"q·k is divided {' and '.join(told)}.".replace("-", "−")

    def _of_cosines(self) -> Measured:
        """Of cosines: a factor that is learned, or one for all widths, takes the place of √d."""
        factors, width = self.ways.factors or (), self.sizes.d_head
        times = " and ".join(dict.fromkeys(f"{each:.4g}" for each in factors))
        if self._learns_factor():
            return None, f"Not here: scores are cosines times {times}, which is learned."
        for each in self.of_two_widths():
            if not each.ways.factors or abs(each.ways.factors[0] / factors[0] - 1) > FITS:
                got = (each.ways.factors or (each.sizes.d_head**0.5,))[0]
                return False, (
                    f"Cosines are multiplied by {times} at width {width}, and by {got:.4g} at "
                    f"width {each.sizes.d_head}: √d is {width**0.5:.4g} and "
                    f"{each.sizes.d_head**0.5:.4g}."
                )
        if any(abs(each) < 1 + FITS for each in factors):
            return False, (
                f"Scores are cosines times {times}, so weights are nearly alike: multiply by a "
                "factor that is learned, or by √d."
            )
        if abs(factors[0] / width - 1) < FITS and self.opened:
            return False, (
                f"q·k of normalised vectors is divided by 1 at width {width} "
                f"(√{width} = {width**0.5:.4g})."
            )
        return None, f"Not here: scores are cosines times {times}, however wide vectors are."

    def _learns_factor(self) -> bool:
        """Whether one of a module's parameters, one number or one for each head, is the factor."""
        named = self.call.function.named_parameters() if self.call.is_module else ()
        for name, each in named:
            if each.numel() in (1, self.sizes.n_heads) and name not in (self.parameters or {}):
                other = {**(self.parameters or {}), name: each.detach() * 0.9 - 0.05}
                with instead(self, parameters=other), suppress(Stopped):
                    made = self.weights_of(self.sentence())
                    found = factors_of(made, self.scores(self.ways.norm), self.seen)
                    before = [e / self.sizes.d_head for e in self.ways.factors or ()]
                    if found and max(abs(a - b) for a, b in zip(found, before, strict=True)) > 1e-4:
                        return True
        return False

    def of_two_widths(self) -> Iterator["Open"]:
        """As it is, and with wider vectors where they can be chosen."""
        yield self
        wider = [each for each in all_sizes(self.sizes.n_heads) if each.d_head > self.sizes.d_head]
        for sizes in wider if self.opened is None else ():
            try:
                other = Open(self.call, sizes)
                other.begin()
            except Stopped:
                continue
            if not other.unread:
                yield other
                return

    def formula(self) -> Measured:
        """Numbers of which none was chosen: what the other lights cannot see shows here."""
        if self.ways.turns:
            return None, "Which positions turn its vectors is not told."
        given, output = self.of_random()
        far = largest_gap(output, computed(self, given, {}))
        most_off = 10 * NEAR if self.ways.norm else NEAR  # a norm adds a little of its own
        said = f"With matrices drawn at random, the largest difference is {far:.2g}."
        return far <= most_off, said

    def second_text(self) -> Measured:
        self.gives_formula = not self.unread and self.formula()[0] is True
        return super().second_text()

    def _of_second(self, n_keys: int) -> Measured:
        is_as_long = n_keys == self.n_tokens
        if not self.gives_formula or not (is_as_long or self.ways.is_plain):
            return super()._of_second(n_keys)
        seen = self.seen if is_as_long else torch.ones(self.n_tokens, n_keys).bool()
        given, output = self.of_random()
        texts = {"1": given[0], "2": self.call.others[0], "3": self.call.others[1]}
        kinds = [f"{q}{k}{v}" for q, k, v in product("123", repeat=3)]
        kinds.sort(key=lambda kind: kind != "123")
        with instead(self, seen=seen):
            for kind in kinds:
                texts_of = tuple(texts[number].double() for number in kind)
                try:
                    expected = computed(self, given, {"texts": lambda _, of=texts_of: of})
                except (RuntimeError, IndexError):  # of other lengths
                    continue
                if expected.shape == output.shape and largest_gap(output, expected) <= NEAR:
                    break
            else:
                kind = ""
        if kind == "123":
            return True, (
                f"Queries of {len(output)} tokens meet keys and values of {n_keys} of another text."
            )
        return False, self._where_from(kind)

    def _where_from(self, kind: str) -> str:
        """Which of the texts are mixed up, of queries, keys and values."""
        if not kind:
            return "Keys and values of a second text give other numbers than softmax(q·k/√d)·v."
        second = "the text given as {}" if self.call.has_two_seconds else "the second text"
        names = {"1": "the first text", "2": second.format("keys"), "3": second.format("values")}
        told = [
            f"{what} come from {names[is_of]}, where {names[should]} belongs"
            for what, is_of, should in zip(("queries", "keys", "values"), kind, "123", strict=True)
            if names[is_of] != names[should]
        ]
        said = ", and ".join(told)
        return f"{said[0].upper()}{said[1:]}."

    def _find_ways(self) -> None:
        if not self.weights.isfinite().all():
            return
        look = self._look()
        self.ways = look
        visible = self.seen & look.sees(self.n_tokens)
        self.ways = self._with_scores(look, visible)
        self.ways = self._with_sinks(self.ways)
        self.has_sink = self.ways.sinks is not None

    def _look(self) -> Ways:
        """The window that it has; one that is longer than the sentence shows in a longer one."""
        weights = self.weights_of(self._alike(self.sentence()))
        is_plain = bool(((weights > 0) == self.seen).all())
        if is_plain or (torch.stack([weights, self.weights]) < 0).any():  # no shares at all
            return Ways()
        with suppress(Stopped):
            longer = self.weights_of(self._alike(self.sentence(MANY_TOKENS)))
            if found := look_of(longer, may_look(MANY_TOKENS, self.causal)):
                return found
        return look_of(weights, self.seen) or Ways()

    def _alike(self, sentence: Sentence) -> Sentence:
        """With keys that differ little, so that no visible one gets next to nothing."""
        return sentence._replace(keys=sentence.keys[:1] + sentence.keys / 20)

    def _with_scores(self, ways: Ways, visible: Tensor) -> Ways:
        scores = self.sentence().scores(self.sizes)
        is_plain = factor_of_scores(self.weights, scores, visible) is not None
        wide = WIDE * self.sizes.d_head**0.5 / most(scores)
        sentence = self.sentence()
        of_wide = self.weights_of(sentence._replace(queries=wide * sentence.queries))
        if of_wide.isfinite().all():
            pairs = [(self.weights, scores), (of_wide, wide * scores)]
            fits = factor_of_scores(of_wide, wide * scores, visible) is not None
            start = self.sizes.d_head**-0.5
            capped = None if is_plain and fits else cap_of(pairs, visible, start)
            if capped:
                self._factor_below_cap = capped[0]
                return ways._replace(cap=capped[1])
        if is_plain:
            return ways
        slopes = slopes_of(self.weights, scores, visible)
        if slopes is not None:
            if (slopes > -NEAR).all() and (slopes > NEAR).any():
                ways = ways._replace(slopes=tuple(slopes.tolist()))
            return ways
        for norm in NORMS if self.sizes.n_heads > 1 else NORMS[2:]:
            factors = factors_of(self.weights, self.scores(norm), visible)
            if factors and "whole" in norm and self._spread(factors) > FITS:
                continue
            if factors:
                width = self.sizes.d_head
                is_divided = abs(factors[0] * width**0.5 - 1) < 0.01
                ways = ways._replace(norm=norm)
                if norm == "size" and (self._spread(factors) > FITS or not is_divided):
                    ways = ways._replace(factors=tuple(each * width for each in factors))
                return ways
        if (self.weights[:, visible] > 0).all():
            alike = self.sentence()
            alike = alike._replace(
                queries=alike.queries[:1].expand_as(alike.queries),
                keys=alike.keys[:1].expand_as(alike.keys),
                unread=alike.unread[:1].expand_as(alike.unread),
            )
            ways = ways._replace(turns=goes_by_distance(self.weights_of(alike), visible))
        return ways

    @staticmethod
    def _spread(factors: list[float]) -> float:
        return (max(factors) - min(factors)) / max(map(abs, factors))

    def _with_sinks(self, ways: Ways) -> Ways:
        """With the score that each row's missing weight would have, where it is one for all."""
        own = self.weights.diagonal(dim1=-2, dim2=-1)
        rest = 1 - self.weights.sum(-1)
        if not (rest > NEAR).all() or not (own > 0).all():
            return ways
        if ways.factors:
            at_itself = self._cosines(self.scores(ways.norm), ways)
        elif self.factor is None:
            return ways
        else:
            at_itself = ways.capped(self.factor * self.scores(ways.norm))
        found = at_itself.diagonal(dim1=-2, dim2=-1) + rest.log() - own.log()
        spread = found.amax(-1) - found.amin(-1)
        is_one = bool((spread < SAME_SINK * found.abs().amax(-1).clamp(min=1)).all())
        return ways._replace(sinks=tuple(found.mean(-1).tolist())) if is_one else ways

    def _cosines(self, scores: Tensor, ways: Ways) -> Tensor:
        """Scores of vectors whose root mean square is 1, as cosines times what they are."""
        factors = torch.tensor(ways.factors, dtype=torch.float64) / self.sizes.d_head
        return scores * factors[:, None, None]

    def alone(self, sign: float = 1.0) -> tuple[Tensor, Tensor]:
        """The output for one token alone, and its value, head by head, which that should be."""
        one = self.sentence(1, seed=1)
        one = one._replace(values=one.values.abs() + 0.1, unread=sign * one.unread)
        value = torch.cat(one, dim=1).double()[0] @ self.given[2].double()
        _, _, n_shared = self.sizes.heads
        values = value.unflatten(0, (n_shared, -1)).repeat_interleave(
            self.sizes.n_heads // n_shared, dim=0
        )
        return self.out(one)[0], values.flatten()

    def _why_unread(self) -> str:
        try:
            (output, value), (other, _) = self.alone(), self.alone(-2.0)
        except Stopped:  # it takes one length only, which is another light
            return ""
        if not output.isfinite().all():  # which is another light
            return ""
        if output.shape[0] >= len(value) and is_near(output, other):
            # Head by head, a number times the value.
            each = (self.sizes.n_heads, -1)
            heads, values = output[: len(value)].unflatten(0, each), value.unflatten(0, each)
            share = (heads * values).sum(-1, keepdim=True) / values.square().sum(-1, keepdim=True)
            if is_near(heads, share * values):
                return ""
        return "A single token does not come out as its own value, so weights cannot be read."


Parts = dict[str, Callable]
"""What is done otherwise, by the parts of `computed`."""


def computed(subject: Open, given: list[Tensor], other: Parts) -> Tensor:
    """Attention of vectors and three matrices (token, d_value), some parts done otherwise."""
    does = RIGHT | other
    sizes = subject.sizes
    vectors, *drawn = (each.double() for each in given)
    texts = zip(does["texts"](vectors), drawn, strict=True)
    joined = does["roles"](*(does["project"](text, each) for text, each in texts))
    norm = subject.ways.norm
    if "whole" in norm:
        joined = (*(normed_by(each, norm) for each in joined[:2]), joined[2])
    split = zip(joined, sizes.heads, strict=True)
    parts = [does["split"](each, n) for each, n in split]
    queries, keys, values = does["heads"](*does["spread"](parts, sizes.n_heads))
    if norm and "whole" not in norm:
        queries, keys = normed_by(queries, norm), normed_by(keys, norm)
    queries, keys = does["turn"](queries, keys)
    scores = does["compare"](queries, keys)
    # Factors are measured: what divides the scores is in them.
    is_cosine = subject.ways.factors is not None
    scores = subject._cosines(scores, subject.ways) if is_cosine else does["divide"](scores, sizes)
    scores = subject.ways.capped(scores) + subject.ways.bias(len(vectors))
    hidden = does["hide"](scores, subject.seen)
    shares = subject.ways.without_sink(does["share"](hidden), hidden)
    weights = does["after"](shares, subject.seen)
    return does["join"](weights @ values)


def hide(scores: Tensor, seen: Tensor, by: float = -torch.inf) -> Tensor:
    """The scores with another number where a query may not look."""
    return scores.masked_fill(~seen, by)


RIGHT: Parts = {
    "texts": lambda x: (x, x, x),
    "project": lambda x, matrix: x @ matrix,
    "roles": lambda q, k, v: (q, k, v),
    "split": lambda joined, n: joined.unflatten(-1, (n, -1)).transpose(0, 1),
    "spread": lambda parts, n: [e.repeat_interleave(n // len(e), dim=0) for e in parts],
    "heads": lambda q, k, v: (q, k, v),
    "turn": lambda q, k: (q, k),
    "divide": lambda scores, sizes: scores / sizes.d_head**0.5,
    "compare": lambda q, k: q @ k.mT,
    "hide": hide,
    "share": lambda scores: scores.softmax(-1),
    "after": lambda weights, _: weights,
    "join": lambda heads: heads.transpose(0, 1).flatten(1),
}
"""Every part of attention, done right."""


class Closed(Code):
    """A module whose matrices cannot be told: looked at from outside, and by its weights."""

    def __init__(self, call: Call, d_in: int | None = None) -> None:
        super().__init__(call)
        self.weights: Tensor | None = None
        module = call.function if call.is_module else None
        for parameter in module.parameters() if module else ():
            kind = str(parameter.dtype).removeprefix("torch.")
            if not parameter.is_floating_point():
                raise Stopped(f"it has parameters that are {kind}, not real numbers")
            if torch.finfo(parameter.dtype).eps > FEWEST_DIGITS:
                raise Stopped(too_few_digits(kind))
        widths = [d_in] if d_in else list(dict.fromkeys(_widths(module) if module else ()))
        if not widths and not call.has_own:
            widths = [*widths_of(call.function), ANY_WIDTH]
        if not widths:
            raise Stopped("nothing tells how wide its vectors are: add d_in, as in d_in=12")
        self._settle(widths)

    def _settle(self, widths: list[int]) -> None:
        """Find a way to call it, with a second text that stays as it is where one is needed."""
        if "y" in self.call.roles:
            for self.d_in in widths:
                text = self.draw(self.n_tokens - 2, seed=5)
                self.call.others, self.call.masks_first = (text, text), True
                with suppress(Stopped):
                    self.call.settle(self.draw()[None])
                    if self.call.meets:
                        return
        self.call.others, self.call.masks_first = (
            None,
            False,
        )  # tokens of one text meet in cross-attention if both texts are one
        self._settle_alone(widths)

    def _settle_alone(self, widths: list[int]) -> None:
        first, shortest, alone = None, {}, None
        for self.n_tokens in LENGTHS:
            for self.d_in in widths:
                try:
                    self.call.settle(self.draw()[None])
                except Stopped as stopped:
                    first = first or stopped
                    shortest[self.d_in] = self.n_tokens
                    continue
                if self.call.meets:
                    return
                alone = alone or (self.n_tokens, self.d_in)
        # Where a shorter one stops too, it is by chance that one runs.
        if not alone or shortest.get(alone[1], alone[0]) < alone[0]:
            raise first
        self.n_tokens, self.d_in = alone

    def find_unused(self) -> None:
        """Which layers play no part: change their numbers, and the very same comes out.

        All others are changed too, since one that begins at 0 hides those before it.
        """
        module = self.call.function
        if not self.call.is_module or not self.call.has_own:
            return
        generator = torch.Generator().manual_seed(7)

        def moved(each: Tensor) -> Tensor:
            noise = torch.randn(each.shape, generator=generator, dtype=torch.float64)
            return each.detach().cpu() + 0.1 * noise.to(each.dtype)

        drawn = {name: moved(each) for name, each in module.named_parameters()}
        wide = [name for name, each in drawn.items() if each.ndim > 1]
        with suppress(Stopped):
            before = self._with(drawn)
            if not torch.equal(before, self._with(drawn)) or not before.isfinite().all():
                return
            changed = ((e, self._with({**drawn, e: moved(drawn[e])})) for e in wide)
            self.unused = tuple(name for name, after in changed if torch.equal(after, before))
        others = [name for name in wide if name not in self.unused]
        kept = {letter for name in others for letter in letters_of(name)}
        self.missing = tuple(e for e in self.unused if set(letters_of(e)) - kept)

    def _with(self, parameters: dict[str, Tensor]) -> Tensor:
        with instead(self, parameters=parameters):
            return self.of(self.draw())

    def begin(self) -> None:
        super().begin()
        self.keeps_order = OF_MASK if self.causal else ""
        _, self.weights = self.both(self.draw())
        if self.weights is None:
            self.unread = "It returns no weights: return (output, weights) to have them looked at."

    def why_not(self, name: str) -> str:
        if name == "formula" and self.missing:
            return ""
        if name in ("own_row", "variance", "formula"):
            return "Its queries and keys cannot be seen from outside."
        asks_weights = name in OF_WEIGHTS_READ and not (name == "rows_sum_to_1" and self.unread)
        return super().why_not(name) if asks_weights or name not in OF_WEIGHTS_READ else ""

    def tables(self) -> Iterator[tuple[Tensor, str, str]]:
        yield self.weights, "in what it returns", ""

    def formula(self) -> Measured:
        return False, f"{unused_in_words(self.missing)}."

    def equal_tokens(self) -> Measured:
        """Whether equal tokens come out as one alone, or what their weights sum to."""
        vectors = self.draw()[:1]
        try:
            one, several = self.of(vectors), self.of(vectors.expand(self.n_tokens, -1))
        except Stopped:
            return None, self.unread
        if not is_near(several, several[:1].expand_as(several)):
            return None, self.unread
        far = largest_gap(several[:1], one)
        said = f"{self.n_tokens} equal tokens come out"
        if far <= NEAR:
            return True, f"{said} as one of them does alone, {self.within(far)}."
        return False, f"{said} {far:.2g} away from one of them alone."

    def outside_attention(self, place: int) -> Iterator[Moved]:
        """Another token with no values; then a longer one, where a query sees one key in a head."""
        named = self.call.function.named_parameters() if self.call.is_module else ()
        kept = [
            (letters_of(name), name, each)
            for name, each in named
            if each.ndim == 2 and name not in self.unused
        ]
        if any(min(each.shape) == 1 for *_, each in kept):  # additive attention scores by a vector
            return
        values, queries = ([e for e in kept if letter in e[0]] for letter in "vq")
        if values:
            zeros = {name: torch.zeros_like(each) for _, name, each in values}
            with instead(self, parameters=zeros):
                vectors, other = self.draw(), self.draw()
                other[place] = self.draw(seed=1)[place]
                yield self._far(vectors, other)
        if len(queries) == 1 and any("k" in letters for letters, *_ in kept):
            alike = {name: 100 * each for letters, name, each in kept if set(letters) & {*"qk"}}
            with instead(self, parameters=alike):
                yield from self._all_by_all(place)

    def _all_by_all(self, place: int) -> Iterator[Moved]:
        vectors, moved = self.draw(MANY_TOKENS), []
        for at in range(MANY_TOKENS):
            other = vectors.clone()
            other[at] *= 1.5
            try:
                moved.append(self._far(vectors, other))
            except Stopped:  # so long a sentence is too long for it
                return
        size = most(moved[place].values)
        if all((each.rows > 1e-6 * size).all() for each in moved):
            yield moved[place]

    def _far(self, vectors: Tensor, other: Tensor) -> Moved:
        before = self.of(vectors)
        return Moved(rows_of(gap(self.of(other), before)), before)


def unused_in_words(names: tuple[str, ...]) -> str:
    """That layers play no part."""
    layers = list(dict.fromkeys(re.sub(r"\.(weight|in_proj_weight)$", "", name) for name in names))
    shown = " and ".join([", ".join(layers[:-1]), layers[-1]] if layers[1:] else layers)
    verb, of = ("play", "them") if layers[1:] else ("plays", "it")
    return f"{shown} {verb} no part: nothing that comes out depends on {of}"


def _widths(module: nn.Module) -> Iterator[int]:
    """The widths that its vectors may have, most likely first."""
    for name in ("d_in", "d_model", "embed_dim"):
        if isinstance(getattr(module, name, None), int):
            yield getattr(module, name)
    for each in module.modules():
        if isinstance(each, nn.MultiheadAttention):
            yield each.embed_dim
        elif isinstance(each, nn.Linear) and each.in_features:
            yield each.in_features
    for parameter in module.parameters():
        if is_lazy(parameter):
            yield ANY_WIDTH
        elif parameter.ndim > 1:
            yield from parameter.shape[-2:]
