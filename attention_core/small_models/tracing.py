"""A small network's way through a sentence, as a trace; and what each part brought to a logit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import torch
from torch import Tensor

from .. import operations as ops
from ..mechanism.attention import attention
from ..mechanism.builder import project, times
from ..operations.layers import EPSILON
from ..trace import Step, Trace
from ..utils.head_name import head_name
from .figures import Head


def pass_through(
    weights: Mapping[str, Tensor],
    vocabulary: Sequence[str],
    words: Sequence[str],
    off: Head | None = None,
    **labels: Sequence[str],
) -> Trace:
    """The forward pass of a `Network` with these weights on a sentence, as a trace.

    Steps: `token_embeddings`, `position_embeddings`, their sum `embeddings` (token, d_model); for
    each layer, with `layer_0_` and so on before the name, `normed` (token, d_model), `queries`
    (head, query, d_head), `keys`, `values` (head, key, d_value), the steps of `attention`,
    `head_outputs` (head, query, d_model), `output`, their sum (query, d_model), and `stream`
    (token, d_model), what was there and the output; last `normed`, `logits` and `probabilities`
    (token, vocabulary). One head may be `off`: its context vectors become 0, and all after it is
    computed with that. `labels` name the places of further axes, for steps to come.

    Raises ValueError for a word that is not in the vocabulary, and for too many or none.
    """
    known = {word: place for place, word in enumerate(vocabulary)}
    strange = [word for word in words if word not in known]
    if strange:
        raise ValueError(f"{strange[0]!r} is not in the vocabulary")
    longest = len(weights["W_position"])
    if not 1 <= len(words) <= longest:
        raise ValueError(f"{len(words)} words: this network reads 1 to {longest}")
    trace = Trace(token=words, query=words, key=words, vocabulary=vocabulary, **labels)
    stream = embedded(trace, weights, words, known)
    mask = trace.step("mask", ops.AttentionMask(len(words), len(words)), axes=("query", "key"))
    for layer in range(len(weights["W_query"])):
        switched = off[1] if off is not None and off[0] == layer else None
        stream = add_layer(trace, weights, layer, stream, mask, switched=switched)
    normed = trace.step("normed", ops.LayerNorm(), stream, axes=stream.axes)
    W_unembed = trace.step(
        "W_unembed", ops.Given.of(weights["W_unembed"]), axes=("d_model", "vocabulary")
    )
    logits = times(trace, "logits", normed, W_unembed)
    trace.step("probabilities", ops.Softmax(), logits, axes=logits.axes)
    return trace


def embedded(
    trace: Trace, weights: Mapping[str, Tensor], words: Sequence[str], known: Mapping[str, int]
) -> Step:
    """The vectors of words, each with that of its place, of a vocabulary that is `known`."""
    entries = tuple((word, known[word]) for word in dict.fromkeys(words))
    ids = ops.Encode(tuple(words), tuple(known[word] for word in words), entries)
    word_ids = trace.step("word_ids", ids, axes=("token",))
    table = trace.step("W_token", ops.Given.of(weights["W_token"]), axes=("vocabulary", "d_model"))
    stands = ("token", "d_model")
    tokens = trace.step("token_embeddings", ops.Lookup(), table, word_ids, axes=stands)
    places = trace.step("place_ids", ops.Given(tuple(range(len(words)))), axes=("token",))
    table = trace.step("W_position", ops.Given.of(weights["W_position"]), axes=("place", "d_model"))
    positions = trace.step("position_embeddings", ops.Lookup(), table, places, axes=stands)
    return trace.step("embeddings", ops.Add(), tokens, positions, axes=stands)


def add_layer(
    trace: Trace,
    weights: Mapping[str, Tensor],
    layer: int,
    stream: Step,
    mask: Step,
    of_heads: tuple[str, str, str] = ("head", "d_head", "d_value"),
    switched: int | None = None,
) -> Step:
    """Add one layer to a trace, from `stream` (token, width): steps as in `pass_through`.

    `of_heads` names the axes of its heads, of their queries and of their values, where others of
    the same trace have those names. Returns the stream behind it.
    """
    prefix, width = f"layer_{layer}_", stream.axes[-1]
    head, d_head, d_value = of_heads
    normed = trace.step(f"{prefix}normed", ops.LayerNorm(), stream, axes=stream.axes)

    def weight(role: str) -> tuple[Step, None]:
        return given(f"W_{role}", (head, width, d_value if role == "value" else d_head)), None

    def given(name: str, axes: tuple[str, ...]) -> Step:
        return trace.step(f"{prefix}{name}", ops.Given.of(weights[name][layer]), axes=axes)

    context = attention(trace, *project(trace, normed, weight, prefix), mask=mask, prefix=prefix)
    if switched is not None:
        name = f"{prefix}context_vectors_left"
        context = trace.step(name, ops.SwitchOff(switched), context, axes=context.axes)
    W_output = given("W_output", (head, d_value, width))
    outputs = times(trace, f"{prefix}head_outputs", context, W_output)
    output = trace.step(f"{prefix}output", ops.SumHeads(), outputs, axes=("query", width))
    return trace.step(f"{prefix}stream", ops.Add(), stream, output, axes=stream.axes)


@dataclass(frozen=True)
class Part:
    """What one part of the network adds to a logit: the token, its position, or a head."""

    name: str
    amount: float
    head: Head | None = None


def read_by(trace: Trace, layer: int, matrix: Tensor) -> Tensor:
    """What each part of a trace of `pass_through` wrote to the stream before a layer, or behind the
    last one, as a matrix (d_model, d) reads it: (part, token, d), in float64, the parts being the
    token, its position, and every head. Together they are what the layer reads, or the last norm
    gives. The norm between takes away the mean, which can be done to each part by itself, and
    divides by the standard deviation of the whole, which is taken as it came out.
    """
    own = [trace[f"{name}_embeddings"].value[None] for name in ("token", "position")]
    wrote = torch.cat([*own, *(trace[f"layer_{n}_head_outputs"].value for n in range(layer))])
    wrote, normed = wrote.double(), f"layer_{layer}_normed"
    stream = trace[normed if normed in trace else "normed"].inputs[0].value.double()
    size = (stream.var(-1, correction=0, keepdim=True) + EPSILON).sqrt()
    return (wrote - wrote.mean(-1, keepdim=True)) / size @ matrix.double()


def contributions(trace: Trace, word: int, token: int = -1) -> tuple[Part, ...]:
    """What each part of a trace of `pass_through` brought to a word's logit at a token: together
    they are the logit. Exact, but without one the others would be divided by another number.
    """
    n_layers = sum(name.endswith("head_outputs") for name in trace)
    places = product(range(n_layers), range(trace.size("head")))
    heads = [(head_name(head, layer), (layer, head)) for layer, head in places]
    amounts = read_by(trace, n_layers, trace["W_unembed"].value[:, [word]])[:, token, 0].tolist()
    of_parts = zip([("token", None), ("position", None), *heads], amounts, strict=True)
    return tuple(Part(name, amount, head) for (name, head), amount in of_parts)
