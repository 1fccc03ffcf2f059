"""Stories of “Sorry Dave”: matrices on the token axis, and the decoder layer built on them."""

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from ...examples import EXAMPLES
from ...mechanism.token_axis import attend_on_tokens_by_heads
from ...text.embedding import embed
from ...text.inputs import RANDOM_ID_ROWS
from .story import Figures, Story
from .tracing import DAVE, DAVE_FIRST, apart, future, traced, vectors

SHORTER = 5
"""Words of another sentence."""


def _refusal(matrix: Tensor, embeddings: Tensor) -> str:
    """What torch says of a product that does not fit; "" where it does."""
    try:
        matrix @ embeddings
    except RuntimeError as error:
        return str(error).split("(")[-1].rstrip(")")
    return ""


def _token_axis() -> Figures:
    trace = traced(DAVE_FIRST, "token_axis")
    embeddings = trace["embeddings"].value
    mixing = {role: trace[f"U_{role}"].value for role in ("query", "key", "value")}
    n_tokens, width = embeddings.shape
    moved = embeddings.clone()
    moved[-1] += 1
    changed = (mixing["query"] @ moved - mixing["query"] @ embeddings)[0]

    def first_context(vectors: Tensor) -> Tensor:
        queries, keys, values = (each @ vectors for each in mixing.values())
        scores = (queries @ keys.mT).masked_fill(future(n_tokens), -torch.inf)
        return (scores.softmax(dim=-1) @ values)[0]

    jacobian = torch.autograd.functional.jacobian(first_context, embeddings)
    return {
        "moved": changed.abs().max().item(),
        "entry": mixing["query"][0, -1].item(),
        "gradient": jacobian[:, -1].norm().item(),
        "n_tokens": n_tokens,
        "n_parameters": 3 * n_tokens**2,
        "n_shorter": 3 * SHORTER**2,
        "shorter": SHORTER,
        "refusal": _refusal(mixing["query"], embeddings[:SHORTER]),
        "n_right": 3 * width**2,
    }


def _recreated() -> Figures:
    trace = traced(DAVE_FIRST, "decoder")
    first = trace["output"].value
    again = attend_on_tokens_by_heads(trace, 3, prefix="again_", output="again_output")

    def alike(vectors: Tensor) -> float:
        units = F.normalize(vectors, dim=-1)
        return (units @ units.mT)[future(len(units))].mean().item()

    return {
        "apart": apart(again.value, first),
        "spread": first.std().item(),
        "low": first.min().item(),
        "high": first.max().item(),
        "alike": alike(first),
        "inputs_alike": alike(trace["embeddings"].value),
    }


def _global() -> Figures:
    embeddings = vectors(DAVE_FIRST)
    taken = torch.zeros(len(embeddings), len(embeddings))
    return {"shorter": SHORTER, "refusal": _refusal(taken, embeddings[:SHORTER])}


def _cross() -> Figures:
    trace = traced(DAVE_FIRST, "decoder")
    source, target = trace["embeddings"].value, trace["self_normed"].value
    mixing, weights = trace["cross_U_query"].value, trace["cross_weights"].value
    keys = trace["cross_U_key"].value @ source

    def asked_by(vectors: Tensor) -> Tensor:
        return (mixing @ vectors @ keys.mT).softmax(dim=-1)

    same = trace["cross_queries"].inputs[1] is trace["embeddings"]
    return {
        "moves": 0 if same else 1,
        "apart": apart(asked_by(target), weights),
        "right_moves": apart(asked_by(target.flip(0)), asked_by(target)),
    }


def _norm() -> Figures:
    added = traced(DAVE_FIRST, "decoder")["self_added"].value
    louder = added.clone()
    louder[-1] *= 10

    def normed(vectors: Tensor, n_axes: int) -> Tensor:
        return F.layer_norm(vectors, vectors.shape[-n_axes:])

    wrong, right = normed(added, 2), normed(added, 1)
    means, spreads = wrong.mean(dim=-1), wrong.std(dim=-1, correction=0)
    return {
        "means": [means.min().item(), means.max().item()],
        "spreads": [spreads.min().item(), spreads.max().item()],
        "leak": apart(normed(louder, 2)[0], wrong[0]),
        "right_mean": right.mean(dim=-1).abs().max().item(),
        "right_spreads": right.std(dim=-1, correction=0),
        "right_leak": apart(normed(louder, 1)[0], right[0]),
    }


def _relu() -> Figures:
    trace = traced(DAVE_FIRST, "decoder")
    given = trace["cross_normed"].value.double()
    names = ("linear_1_matrix", "linear_1_bias", "linear_2_matrix", "linear_2_bias")
    first, first_bias, second, second_bias = (trace[name].value.double() for name in names)
    inside = F.linear(given, first, first_bias)
    one = F.linear(given, second @ first, second @ first_bias + second_bias)
    output = trace["decoded"].value
    between = F.linear(inside.relu(), second, second_bias)
    return {
        "zeros": (output == 0).float().mean().item(),
        "negative": int((output < 0).sum()),
        "collapsed": apart(one.relu().float(), output),
        "right_negative": (between < 0).double().mean().item(),
    }


def _tokeniser() -> Figures:
    first, second = (embed(EXAMPLES[name].inputs)["token_ids"].value for name in (DAVE_FIRST, DAVE))
    n_tokens = len(first)
    apart_by_chance = math.prod(1 - place / RANDOM_ID_ROWS for place in range(n_tokens))
    return {
        "word": EXAMPLES[DAVE].inputs.tokens[0],
        "first": int(first[0]),
        "second": int(second[0]),
        "n_tokens": n_tokens,
        "collision": 1 - apart_by_chance,
    }


STORIES = (
    Story(
        "token_axis_projection",
        "Matrices that mix the words",
        DAVE_FIRST,
        "U has a row and a column for each word, {n_tokens} by {n_tokens}, and stands on the left. "
        "Add 1 to the last word, and the query of the first one moves by {moved:.4f}; even with a "
        "right mask the first output depends on the last word (its derivative has the length "
        "{gradient:.2f}). There are {n_parameters} parameters, or {n_shorter} for {shorter} words, "
        "and a sentence of {shorter} words fails: {refusal}.",
        "A matrix on the right has a row for each component, {n_right:,} parameters in all for any "
        "number of words. The first query then does not move at all.",
        _token_axis,
        "matrices_on_tokens",
    ),
    Story(
        "weights_recreated",
        "Matrices drawn inside the call",
        DAVE_FIRST,
        "Called twice on the same sentence, the three heads differ by up to {apart:.1f}, where the "
        "output lies between {low:.1f} and {high:.2f} (standard deviation {spread:.2f}). Its rows "
        "are almost parallel: their mean cosine is {alike:.3f}, and that of the embeddings "
        "{inputs_alike:.3f}.",
        "Make them once, as parameters. Then the same sentence gives the same output, and there is "
        "something to learn.",
        _recreated,
        "weights_redrawn",
    ),
    Story(
        "global_instead_of_argument",
        "A size from the tensor next door",
        DAVE_FIRST,
        "`multi_head_attention` takes its sizes from `embedded_tokens` and not from its arguments. "
        "For this sentence they agree; for one of {shorter} words torch stops at {refusal}.",
        "Ask the argument for its shape: `n_tokens, embedding_dim = x_q.shape`.",
        _global,
    ),
    Story(
        "undefined_name",
        "A name from a cell that is gone",
        DAVE_FIRST,
        "The decoder uses `embedding_dim`, which no cell assigns any more; only `EMBEDDING_DIM` is "
        "there. The saved shape comes from a session that still knew it.",
        "No number can show this one. *Restart and run all* does, within a second.",
    ),
    Story(
        "cross_attention_roles",
        "Who asks whom",
        DAVE_FIRST,
        "Queries and keys both come from the source, and values from the target: whatever the "
        "target says, the weights move by {moves}.",
        "Queries come from the target, keys and values from the source. The weights would differ "
        "by up to {apart:.2f}, and move by {right_moves:.2f} when the target is read backwards.",
        _cross,
    ),
    Story(
        "layer_norm_axes",
        "One mean for all words",
        DAVE_FIRST,
        "Normalised over the whole matrix, rows have means between {means:.3f}, and standard "
        "deviations between {spreads:.2f}. Make the last word's vector ten times as long, and "
        "the first word's row changes by up to {leak:.2f}.",
        "Over the last axis alone every mean is 0, to within {right_mean:.0e}, and every standard "
        "deviation 1; the first word changes by {right_leak:.0f}.",
        _norm,
        "whole_matrix_norm",
    ),
    Story(
        "relu_last",
        "ReLU at the very end",
        DAVE_FIRST,
        "Two linear layers in a row are one (they agree to within {collapsed:.0e}), and then "
        "{zeros:.1%} of the outputs are cut to 0; {negative} are negative.",
        "With ReLU between them, {right_negative:.0%} of the outputs are negative, and both layers "
        "count.",
        _relu,
        "relu_last",
    ),
    Story(
        "random_tokeniser",
        "Ids by chance",
        DAVE,
        "The notebook says that its tokeniser is imaginary: it draws the ids. “{word}” was "
        "{first:,d} in one run and {second:,d} in the next, and with {n_tokens} words two share an "
        "id in {collision:.2%} of all runs.",
        "A dictionary made from the words gives each the same id every time.",
        _tokeniser,
        "random_tokenizer",
    ),
)
