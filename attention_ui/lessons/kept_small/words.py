"""What the lesson on keeping less says of its numbers, and what its question asks."""

from attention_core.rounding import difference
from attention_core.trace import Trace

from ...cards.common_questions import one_of
from ...cards.questions import Pick
from ...frame.ends import closes, named
from ...words import in_bytes, number, percent
from .costs import BYTES, FACTS, MODEL, read_of, ways
from .lesson import D_DEEP, D_ROTARY, DEEP, LATENT, SHARED, SPARSE, WINDOW, lost, sees_all

SUMS = ("1, as before", "Less: what is hidden is gone", "As many as there are keys left")


def sums_of_chosen(trace: Trace) -> Pick:
    """What the weights of the keys sum to that an indexer leaves."""
    sums = trace[f"{SPARSE}weights"].value.sum(dim=-1)
    return one_of(
        "The indexer leaves a few keys to each query and hides the others. What do the weights of "
        "the keys that are left sum to?",
        SUMS,
        0,
        f"Every row sums to {number(sums.mean().item(), 2)}.",
        teaches="The mask comes before the softmax, which makes shares of what it is given. So "
        "the keys that are left get more than before, and nothing shows what was missed.",
    )


def cost_words(n_tokens: int) -> str:
    """What the bars mean, with what an indexer saves."""
    plain, sparse = (BYTES * size for size in read_of(n_tokens))
    whole = BYTES * ways()[0].kept(n_tokens)
    return (
        f"Layers and heads are those of {MODEL.title}, with {BYTES} bytes a number; the first way "
        f"would take {in_bytes(whole)} for {n_tokens:,} tokens. An **indexer keeps more**, not "
        f"less: it saves reading. For the next token {in_bytes(sparse)} of the cache are read "
        f"instead of {in_bytes(plain)}."
    )


def changes_words() -> str:
    """What each way changes in the matrices, as a table in Markdown."""
    rows = [f"| {way.name} | {way.changes} |" for way in ways()]
    return "\n".join(["| Kept | Its matrices |", "|---|---|", *rows])


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
        "as the heads’ own matrices make them"
        if gap < 1e-5
        else f"off by up to {number(gap, 2)} from their own"
    )
    return (
        f"A token keeps {latent} numbers instead of {heads * (d_head + d_value)}. Each of {heads} "
        f"heads still has keys {d_head} wide and values {d_value} wide, {near}."
    )


def places_words(way: str) -> str:
    """What each place for rotary positions comes to."""
    return {
        "apart": f"{D_ROTARY} columns of each query, and of one key that all heads share, carry "
        "the position. The latent stays unturned.",
        "latent": "A latent that is turned is mixed by W_up_key afterwards, so the angles of query "
        "and key no longer meet: scores depend on where the text begins.",
        "keys": "Each key is turned by its own place after W_up_key. So no one matrix for all "
        "places can go over to the query: keys would have to be made anew for each token.",
    }[way]


def lost_words(trace: Trace, head: int) -> str:
    """What the chosen keys miss, in weight: of the query that loses most, and on average."""
    gone = lost(trace, head)
    query = int(gone.argmax())
    most = gone[query].item()
    if most < 5e-4:
        return f"Head {head} loses none of its weight here: k is large enough for this text."
    others = trace["head_weights"].value[head, query].masked_fill(trace["chosen"].value[query], 0)
    return (
        f"Head {head} misses {percent(gone.mean().item())} of its weight on average, "
        f"{named(trace, 'query', query)} {percent(most)}: above all "
        f"{named(trace, 'key', int(others.argmax()))}."
    )


def sums_light(trace: Trace, where: str, head: int) -> tuple[bool, str]:
    """Whether the rows of a head sum to 1 with the mask where it is put."""
    name = f"{SPARSE}weights" if where == "before" else "zeroed_weights"
    sums = trace[name].value[head].sum(dim=-1)
    least = sums.min().item()
    good = bool(((sums - 1).abs() < 1e-5).all())
    told = "Every row of weights sums to 1."
    if good:
        return good, told
    return good, (
        f"A row sums to {number(least, 2)} only: what was hidden after the softmax is missing, and "
        "the context vector is shorter for it. Hide before the softmax."
    )


def reach_words(trace: Trace, n_layers: int, turn: str) -> str:
    """From how many tokens something has come to the last one, and through which layers."""
    reach = trace[f"{DEEP}{n_layers - 1}_reach"].value[-1]
    comes, n_tokens = int((reach > 0).sum()), len(reach)
    far = [at for at in range(n_layers) if sees_all(turn, at)]
    told = (
        f"After {n_layers} {'layer' if n_layers == 1 else 'layers'} something of {comes} of the "
        f"{n_tokens} tokens has come to the last one"
    )
    if not far:
        return (
            f"{told}: each layer carries it {WINDOW - 1} place further, from layer to layer, and "
            "none has looked further back itself."
        )
    return (
        f"{told}, since layer {far[0]}, counted from 0, sees all. The local layers see "
        f"{WINDOW} keys, and need keep no more; only global ones keep the whole text."
    )


def shared_words(trace: Trace) -> str:
    """What is kept of two layers, and what it does to the second."""
    own, same = (trace[f"{each}1_weights"].value for each in (DEEP, SHARED))
    return (
        f"Two layers keep {4 * D_DEEP} numbers a token, or {2 * D_DEEP} where the second uses the "
        f"keys and values of the first. Its queries are its own, so its weights are too: they "
        f"differ from the first’s, and by up to {number(difference([(own, same)]), 2)} from what "
        "its own keys would give. A model is trained so from the beginning."
    )


@closes("Does every layer of a model with local and global layers see the whole text?", "layers")
def sees_everything() -> str:
    """Against the belief that a hybrid attends to everything in every layer."""
    return (
        f"No. In Gemma 3 five of six layers see {FACTS['window']:,} tokens only. What stands "
        "further back comes to them only mixed, through a global layer below, or passed on from "
        "layer to layer. So a single number far back can be found by the global layers alone."
    )


@closes("Is MLA a smaller head?", "latent")
def is_smaller(trace: Trace) -> str:
    """Against the belief that heads become narrower."""
    heads, _, d_head = trace[f"{LATENT}keys"].value.shape
    latent = trace["latents"].value.shape[-1]
    return (
        f"No. Here {heads} heads have keys {d_head} wide, each by a matrix of its own, as before. "
        f"What is small is what all of them are made of: {latent} numbers a token. In DeepSeek-V3 "
        f"128 heads of 128 columns come from {FACTS['d_latent']} numbers, and "
        f"{FACTS['d_rotary']} carry the position."
    )


@closes("Does an indexer find the keys with the most weight?", "indexer", "sparse_weights")
def is_exact(trace: Trace, head: int) -> str:
    """Against the belief that an indexer is exact."""
    gone = lost(trace, head).max().item()
    return (
        "Not always. It compares in a few columns of its own, and what it leaves out is lost "
        f"without a trace, since the weights that are left sum to 1. With k as it is, up to "
        f"{percent(gone)} of a query’s weight goes elsewhere. A real one is trained to choose as "
        "attention weighs."
    )
