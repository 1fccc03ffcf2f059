"""What the lesson without softmax says of its numbers, and what its question asks."""

import torch

from attention_core.trace import Trace

from ...cards.common_questions import one_of
from ...cards.questions import Pick
from ...charts.amounts import amounts
from ...charts.chart import Chart
from ...frame.ends import closes, named
from ...picture import palette
from ...reactive.control import Values
from ...words import number, percent
from .lesson import KEPT, LINEAR_WIDTH

SUMS = ("1, as weights do", "At most 1", "Anything: they are no shares")
KEPT_KIND = "numbers kept"


def row_sums(trace: Trace) -> Pick:
    """What the row of a table adds up to that no softmax has made: the one farthest from 1."""
    table = trace["read_from"].value
    sums = table.sum(dim=-1)
    asked = int((sums - 1).abs().argmax())
    told = (
        f"A row may add up to anything, this one to {number(sums[asked].item(), 2)}; all rows to "
        f"between {number(sums.min().item(), 2)} and {number(sums.max().item(), 2)}, and the "
        f"smallest number is {number(table.min().item(), 2)}."
    )
    return one_of(
        "Each row of this table says how much of each token’s value one query reads. What do the "
        f"numbers of the row of query {asked} add up to?",
        SUMS,
        len(SUMS) - 1,
        told,
        at={"query": (asked,)},
        teaches="Softmax makes shares of scores. Without it, a query may read several values "
        "whole, or one with the other sign.",
    )


def sizes_words(trace: Trace) -> str:
    """How many numbers the table has, and how many the memory."""
    table, memory = (trace[name].value for name in ("scores", "whole_memory"))
    return f"The table has {len(table)}² numbers; the memory {memory.numel()}, for any text."


def row_words(trace: Trace, token: int) -> str:
    """That a row of the table is no row of shares: its sum and its smallest number."""
    row = trace["read_from"].value[token, : token + 1]
    least, key = row.min(dim=0)
    told = f"The row of {named(trace, 'query', token)} sums to {number(row.sum().item(), 2)}"
    if least < -1e-6:
        key_named = named(trace, "key", int(key))
        return f"{told}, and takes {number(-least.item(), 2)} times the value of {key_named} away."
    return f"{told}. None of its numbers is negative here, but nothing rules that out."


def faded_words(trace: Trace) -> str:
    """How much the last token finds of what the first wrote, and that it is never quite 0."""
    gates = trace["decays"].value[1:, 0]
    left = gates.prod().item() if len(gates) else 1.0
    found = percent(left) if left > 1e-3 else number(left)
    n = len(gates)
    since = f"the product of the {n} gates since" if n > 1 else "one gate has come since"
    return (
        f"The last token finds {found} of what the first one wrote: "
        f"{since if n else 'it is the first'}. It fades, and no window cuts it off."
    )


def _vector(numbers: list[float]) -> str:
    return f"({', '.join(number(each, 1) for each in numbers)})"


def two_words(trace: Trace, way: str) -> tuple[bool, str]:
    """Whether the key of both tokens reads the last value at the end; what it reads, and why."""
    read = trace["read_1"].value[0]
    good = torch.allclose(read, trace["values"].value[-1], atol=1e-5)
    first, last = (_vector(each) for each in trace["values"].value.tolist())
    told = f"The key reads {_vector(read.tolist())}"
    why = {
        "plain": f"the sum of {first} and {last}. Nothing was written over",
        "delta": "the value that was written last. The first is gone",
        "wrong_sign": f"and should read {last}. What the key held was added instead of taken away",
        "late_decay": f"and should read {last}. The gate is {KEPT:g}, and fades what was just "
        "written too: decay comes before the write",
    }[way]
    return good, f"{told}: {why}." if way in ("plain", "delta") else f"{told}, {why}."


def bars(values: Values) -> Chart:
    """How many numbers one head keeps, both ways."""
    names = ("attention: keys and values of all tokens", "a memory")
    kept = [kept for kept, _ in costs(values.text_length)]
    pieces = [{KEPT_KIND: n} for n in kept]
    texts = [f"{n:,}" for n in kept]
    colours = {KEPT_KIND: palette.POSITIVE}
    return amounts(names, pieces, texts, colours, "Numbers that one head keeps")


def costs(n_tokens: int, width: int = LINEAR_WIDTH) -> tuple[tuple[int, int], tuple[int, int]]:
    """Numbers a head keeps after so many tokens, and the next one's products, both ways."""
    return (2 * n_tokens * width, 2 * n_tokens * width), (width**2, 4 * width**2 + 2 * width)


def cost_words(values: Values) -> str:
    """How much is multiplied, and what a memory pays for its size."""
    (_, products), (kept, fewer) = costs(values.text_length)
    return (
        f"One head, {LINEAR_WIDTH} wide: a memory has the {kept:,} numbers of "
        f"{LINEAR_WIDTH // 2} tokens’ keys and values. The next token takes {products:,} products "
        f"with all tokens, {fewer:,} with it. But it keeps only {LINEAR_WIDTH} keys apart: every "
        "fourth layer of Qwen3-Next is attention."
    )


@closes("Does attention without softmax have weights?", "who", "read_from")
def has_weights(trace: Trace, values: Values) -> str:
    """With a row's sum."""
    row = trace["read_from"].value[values.written]
    return (
        "Not in the sense of shares. There is a table of who reads from whom, and times the values "
        "it gives what is read, but its rows need not sum to 1 and it may take values away: the "
        f"row of {named(trace, 'query', values.written)} sums to {number(row.sum().item(), 2)}. "
        "And no model computes this table: it is worked out here to look at."
    )


@closes("Is decay a window?", "decay")
def is_window() -> str:
    """Against the belief that old tokens are cut off."""
    return (
        "No. A window shows the last keys whole and hides all others. Decay hides none: each token "
        "multiplies all of the memory by its own gate, so what was written fades step by step, "
        "quickly after a small gate and hardly at all after gates near 1."
    )


@closes("What does the delta rule write if the key already holds the value?", "delta")
def writes_nothing() -> str:
    """Against the belief that it only adds more carefully."""
    return (
        "Nothing: the value less what the key reads is 0. Otherwise it writes just the difference, "
        "so that the key reads the new value afterwards. Keys at right angles to it read what they "
        "read before."
    )
