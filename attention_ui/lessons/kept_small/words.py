"""What the lesson on keeping less says of its numbers, and what its question asks."""

from attention_core.rounding import difference
from attention_core.trace import Trace

from ...cards.common_questions import one_of
from ...cards.questions import Pick
from ...frame.ends import closes, named
from ...reactive.control import Values
from ...words import in_bytes, number, percent
from .costs import BYTES, FACTS, MODEL, read_of, ways
from .lesson import D_DEEP, D_ROTARY, DEEP, LATENT, SHARED, SPARSE, WINDOW, lost, sees_all

PLACES = {
    "apart": f"{D_ROTARY} columns of each query, and of one key that all heads share, carry the "
    "position. The latent stays unturned.",
    "latent": "W_up_key mixes the columns of a latent after they were turned, so the angles of "
    "query and key no longer cancel: scores depend on where the text begins.",
    "keys": "Each key is turned by its own place, after W_up_key. So no one matrix for all places "
    "can go over to the query: all keys would have to be made again for each new token.",
}
"""What each place for rotary positions comes to."""
SUMS = ("1, as before", "Less: what is hidden is gone", "As many as there are keys left")


def sums_of_chosen(trace: Trace) -> Pick:
    """What the weights of the keys sum to that an indexer leaves."""
    sums = trace[f"{SPARSE}weights"].value.sum(dim=-1)
    return one_of(
        "Before the softmax, the indexer hides all but a few keys from each query. What do the "
        "weights of those few sum to?",
        SUMS,
        0,
        f"With the mask before the softmax, every row sums to {number(sums.mean().item(), 2)}.",
        teaches="The softmax makes shares of the scores it is given. So the keys that are left get "
        "more than before, and nothing shows what was missed. Hidden after the softmax, keys leave "
        "a gap: their row sums to less than 1.",
    )


def cost_words(n_tokens: int) -> str:
    """What the bars mean, with what an indexer saves."""
    plain, sparse = (BYTES * size for size in read_of(n_tokens))
    whole, *_ = ways(n_tokens).values()
    saves = "it saves reading" if sparse < plain else "it saves reading, but only in long texts"
    return (
        f"Layers and heads are those of {MODEL.title}, with {BYTES} bytes a number; the first way "
        f"would take {in_bytes(BYTES * whole)} for {n_tokens:,} tokens. An **indexer keeps more** "
        f"than the latent alone: {saves}. Here the next token reads {in_bytes(sparse)} of the "
        f"cache instead of {in_bytes(plain)}."
    )


def latent_words(trace: Trace) -> str:
    """What is kept with and without a latent, and how near the keys and values come."""
    heads, _, d_head = trace["head_keys"].value.shape
    d_value = trace["head_values"].value.shape[-1]
    latent = trace["latents"].value.shape[-1]
    pairs = [
        (trace[f"{LATENT}{name}"].value, trace[f"head_{name}"].value) for name in ("keys", "values")
    ]
    gap = difference(pairs)
    near = (
        "as the heads’ own, untrained matrices make them"
        if gap < 1e-5
        else f"off by up to {number(gap, 2)} from what their own, untrained matrices make"
    )
    return (
        f"A token keeps {latent} numbers instead of {heads * (d_head + d_value)}. Each of {heads} "
        f"heads still has keys {d_head} wide and values {d_value} wide, {near}."
    )


def lost_words(trace: Trace, head: int) -> str:
    """What the chosen keys miss, in weight: of the query that loses most, and on average."""
    gone = lost(trace, head)
    query = int(gone.argmax())
    most = gone[query].item()
    if most < 5e-4:
        return f"Head {head} loses none of its weight here: k is large enough for this text."
    others = trace["head_weights"].value[head, query].masked_fill(trace["chosen"].value[query], 0)
    return (
        f"Head {head} loses {percent(gone.mean().item())} of its weight on average. "
        f"{named(trace, 'query', query)} loses most, {percent(most)}: above all what it gave to "
        f"{named(trace, 'key', int(others.argmax()))}."
    )


def sums_light(trace: Trace, where: str, head: int) -> tuple[bool, str]:
    """Whether the rows of a head sum to 1 with the mask where it is put."""
    name = f"{SPARSE}weights" if where == "before" else "zeroed_weights"
    sums = trace[name].value[head].sum(dim=-1)
    off = sums[(sums - 1).abs() >= 1e-5].tolist()
    if not off:
        return True, "Every row of weights sums to 1."
    return False, (
        f"{len(off)} of {len(sums)} rows lost weight; the smallest sum is only "
        f"{number(min(off), 2)}. What is hidden after the softmax is missing from its row, and "
        "from the row’s context vector. Hide before the softmax."
    )


def reach_words(trace: Trace, n_layers: int, turn: str) -> str:
    """From how many tokens something has come to the last one, and through which layers."""
    reach = trace[f"{DEEP}{n_layers - 1}_reach"].value[-1]
    comes, n_tokens = int((reach > 0).sum()), len(reach)
    far = [at for at in range(n_layers) if sees_all(turn, at)]
    told = (
        f"After {n_layers} {'layer' if n_layers == 1 else 'layers'}, the last token has something "
        f"of {comes} of the {n_tokens} tokens"
    )
    if not far:
        return (
            f"{told}: each layer carries it {WINDOW - 1} place further, though none sees more than "
            f"{WINDOW} keys itself."
        )
    return (
        f"{told}, because layer {far[0]}, counted from 0, sees all. Local layers see and keep "
        f"{WINDOW} keys; only global ones keep the whole text."
    )


def shared_words(trace: Trace) -> str:
    """What is kept of two layers, and what it does to the second."""
    own, same = (trace[f"{each}1_weights"].value for each in (DEEP, SHARED))
    return (
        f"Two layers keep {4 * D_DEEP} numbers a token, or {2 * D_DEEP} where the second uses the "
        "keys and values of the first. Its queries are still its own, so its weights are too: here "
        f"they are up to {number(difference([(own, same)]), 2)} from what its own keys would give. "
        "Such a model shares from the beginning of its training."
    )


@closes("Does every layer of a model with local and global layers see the whole text?", "layers")
def sees_everything() -> str:
    """Against the belief that a hybrid attends to everything in every layer."""
    return (
        f"No. In Gemma 3, five of six layers see only {FACTS['window']:,} tokens. What stands "
        "further back reaches them already mixed, through a global layer below or passed on from "
        "layer to layer. Only a global layer can look straight at one word far back."
    )


@closes("Does MLA make the heads smaller?", "latent")
def is_smaller(trace: Trace) -> str:
    """Against the belief that heads become narrower."""
    heads, _, d_head = trace[f"{LATENT}keys"].value.shape
    latent = trace["latents"].value.shape[-1]
    return (
        f"No. Here {heads} heads have keys {d_head} wide, each by a matrix of its own, as before. "
        f"What is small is what they are all made from: {latent} numbers a token. In DeepSeek-V3, "
        f"128 heads of 128 columns come from {FACTS['d_latent']} numbers, and "
        f"{FACTS['d_rotary']} more carry the position."
    )


@closes("Does an indexer find the keys with the most weight?", "indexer", f"{SPARSE}weights")
def is_exact(trace: Trace, values: Values) -> str:
    """Against the belief that an indexer is exact."""
    gone = lost(trace, values.head).max().item()
    return (
        "Not always. It compares in a few columns of its own, and what it leaves out is lost "
        f"without a trace, since the weights that are left sum to 1. With this k, a query loses up "
        f"to {percent(gone)} of its weight. A real indexer is trained to choose the keys to which "
        "attention gives most."
    )
