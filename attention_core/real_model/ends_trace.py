"""Both ends of a real model as traces: from tokens to the stream, and from the stream to what may
come next. `layer_trace` has what is between them.
"""

from collections.abc import Sequence

from torch import Tensor

from .. import operations as ops
from ..asked import answers
from ..trace import Step, Trace
from .layer_trace import MOST_TOKENS, PartsOfLayer
from .model import Model
from .run import check_ids

STANDS = ("token", "d_model")
MOST_CANDIDATES = 64
"""Logits are traced of so many tokens of the vocabulary at most."""


@answers
def embeddings_trace(model: Model, ids: Sequence[int], pieces: Sequence[str] = ()) -> Trace:
    """From the tokens of a sentence to the stream before the first layer.

    Steps: `token_embeddings` (token, d_model), rows of the model's table, read from the file;
    `scaled_embeddings` where they are multiplied, `position_embeddings` and `type_embeddings` where
    there are any, their sums, a norm with its steps where there is one, and last `embeddings`.
    Raises ValueError, in words, for ids that cannot be those of a sentence.
    """
    settings = model.settings
    check_ids(settings, ids)
    _check_count("tokens", len(ids), MOST_TOKENS)
    trace = Trace(**({"token": tuple(pieces)} if pieces else {}))
    making = PartsOfLayer(trace, model, None)

    def rows(name: str, table: str, places: Sequence[int]) -> Step:
        read = making.read(model.where(table).name, places)
        return trace.step(name, read, axes=STANDS)

    learned, typed = settings.positions == "learned", settings.token_types
    scaled, is_normed = settings.embedding_scale != 1, settings.embedding_norm
    steps = [scaled, learned, typed, is_normed]

    def named(at: int, name: str) -> str:
        """The last step is called `embeddings`."""
        return name if any(steps[at + 1 :]) else "embeddings"

    stream = rows("token_embeddings" if any(steps) else "embeddings", "token_table", ids)
    if scaled:
        scaling = ops.ScaleBy(settings.embedding_scale)
        stream = trace.step(named(0, "scaled_embeddings"), scaling, stream, axes=STANDS)
    if learned:
        places = rows("position_embeddings", "position_table", range(len(ids)))
        name = named(1, "placed_embeddings")
        stream = trace.step(name, ops.Add(), stream, places, axes=STANDS)
    if typed:
        first = rows("type_embeddings", "type_table", [0] * len(ids))
        stream = trace.step(named(2, "typed_embeddings"), ops.Add(), stream, first, axes=STANDS)
    if is_normed:
        making.norm("embedding", stream, "embeddings")
    return trace


@answers
def logits_trace(
    model: Model,
    stream: Tensor,
    candidates: Sequence[int],
    pieces: Sequence[str] = (),
    candidate_pieces: Sequence[str] = (),
) -> Trace:
    """From the stream at the end (token, d_model), such as some rows of `Run.final`, to the logits
    of some tokens of the vocabulary.

    Steps: `final_stream`, the last norm with its steps, `normed` (token, d_model), `W_unembed`
    (candidate, d_model), rows of the vocabulary's table, `logits` (token, candidate), and
    `capped_logits` where the model caps them. Raises ValueError, in words, where the model says no
    next token, or there are none or too many to trace.
    """
    settings = model.settings
    if not settings.predicts:
        raise ValueError(f"{model.name} says no next token: a {model.family} has no logits")
    _check_count("tokens", len(stream), MOST_TOKENS)
    _check_count("tokens of the vocabulary", len(candidates), MOST_CANDIDATES)
    for each in candidates:
        if not 0 <= each < settings.n_vocabulary:
            raise ValueError(f"there is no token {each}: there are {settings.n_vocabulary:,}")
    labels = {"token": tuple(pieces), "candidate": tuple(candidate_pieces)}
    trace = Trace(**{axis: names for axis, names in labels.items() if names})
    making = PartsOfLayer(trace, model, None)
    read = trace.step("final_stream", ops.Given.of(stream.float()), axes=STANDS)
    normed = making.norm("final", read, "normed")
    table = model.where("token_table" if settings.tied else "W_unembed").name
    matrix = trace.step("W_unembed", making.read(table, candidates), axes=("candidate", "d_model"))
    axes = ("token", "candidate")
    logits = trace.step("logits", ops.Linear(), normed, matrix, axes=axes)
    if settings.logit_cap is not None:
        trace.step("capped_logits", ops.SoftCap(settings.logit_cap), logits, axes=axes)
    return trace


def _check_count(what: str, count: int, most: int) -> None:
    if not 1 <= count <= most:
        raise ValueError(f"{count} {what}: 1 to {most} can be traced")
