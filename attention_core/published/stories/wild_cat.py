"""Stories of “Wild cat”: sums in place of softmax, blanks, and a word that prefers another one."""

import torch

from .story import Figures, Story
from .tracing import WILD_CAT, naive_softmax, traced

ADDED = (0.52, 0.525, 0.53)
"""What is added to every score: three numbers between which the sum of row 0 passes 0."""


def _sum_normalisation() -> Figures:
    trace = traced(WILD_CAT, "simplified")
    scores, embeddings = trace["scores"].value, trace["embeddings"].value
    shares = scores / scores.sum(dim=-1, keepdim=True)
    row, weights = scores[0], trace["weights"].value[0]
    best, worst = row.argmax(), row.argmin()
    largest = divmod(int(shares.argmax()), shares.shape[1])
    shifted = [((row + each) / (row + each).sum())[0].item() for each in ADDED]
    return {
        "sum": row.sum().item(),
        "best": row[best].item(),
        "worst": row[worst].item(),
        "best_share": shares[0, best].item(),
        "worst_share": shares[0, worst].item(),
        "n_negative": int((shares < 0).sum()),
        "n": shares.numel(),
        "largest": shares.max().item(),
        "largest_row": largest[0],
        "largest_sum": scores[largest[0]].sum().item(),
        "added": ADDED,
        "shifted": shifted,
        "context": shares[0] @ embeddings,
        "own": weights[0].item(),
        "own_shifted": (row + ADDED[0]).softmax(dim=-1)[0].item(),
        "right_context": trace["context_vectors"].value[0],
    }


def _dim0() -> Figures:
    scores = traced(WILD_CAT, "simplified")["scores"].value
    return {
        "sums": naive_softmax(scores, dim=0).sum(dim=-1),
        "right": naive_softmax(scores).sum(dim=-1).mean().item(),
    }


def _blanks() -> Figures:
    trace, learned = traced(WILD_CAT, "simplified"), traced(WILD_CAT, "qkv")
    tokens = trace.labels("token")
    is_blank = torch.tensor([token.isspace() for token in tokens])
    blank, kept = tokens.index(" "), ~is_blank
    weights, scores = trace["weights"].value, learned["scaled_scores"].value
    on_blanks = (learned["weights"].value * is_blank).sum(dim=-1)
    without = scores[kept][:, kept].softmax(dim=-1)
    words = [token for token in tokens if not token.isspace()]
    rows = learned["context_vectors"].value[is_blank]
    return {
        "n_blank": int(is_blank.sum()),
        "n": len(tokens),
        "n_kept": int(kept.sum()),
        "blank_row": weights[blank][is_blank].sum().item(),
        "each": weights[blank, blank].item(),
        "learned_row": on_blanks[blank].item(),
        "of_words": [on_blanks[tokens.index(word)].item() for word in ("cat", "wild", "attacks")],
        "n_different": len(rows.unique(dim=0)),
        "wild": without[words.index("wild")],
    }


def _not_top() -> Figures:
    trace = traced(WILD_CAT, "simplified")
    tokens, scores = trace.labels("token"), trace["scores"].value
    wild, the = tokens.index("wild"), tokens.index("the")
    weights, lengths = trace["weights"].value[wild], trace["embeddings"].value.norm(dim=-1)
    units = trace["embeddings"].value / lengths[:, None]
    return {
        "row": wild,
        "to_the": weights[the].item(),
        "to_itself": weights[wild].item(),
        "score_the": scores[the, the].item(),
        "score": scores[wild, the].item(),
        "own_score": scores[wild, wild].item(),
        "long": lengths[the].item(),
        "short": lengths[wild].item(),
        "cosine": (units[wild] @ units[the]).item(),
    }


STORIES = (
    Story(
        "sum_normalisation",
        "Shares of a sum",
        WILD_CAT,
        "The notebook divides by the sum first, to show where softmax comes from. Row 0 sums to "
        "{sum:.4f}, so the order turns over: the best score, {best:.4f}, gets {best_share:.4f}, "
        "and the worst, {worst:.4f}, gets {worst_share:.4f}. {n_negative} of all {n} weights are "
        "negative; the largest is {largest:.3f}. Add {added:.3f} to every score, and the first "
        "weight is {shifted:.1f}.",
        "Softmax gives it {own:.4f}, and {own_shifted:.4f} whatever is added. The context vector "
        "is ({right_context:.4f|, }) and not ({context:.3f|, }).",
        _sum_normalisation,
        "divided_by_the_sum",
    ),
    Story(
        "softmax_dim0_helper",
        "A helper for one row only",
        WILD_CAT,
        "`softmax` by hand sums over `dim=0`, which is right for the one row it is called with. "
        "Given the whole matrix, its rows would sum to {sums:.4f}.",
        "Over the last axis they all sum to {right:.0f}: write `dim=-1`, and the helper serves "
        "both.",
        _dim0,
        "softmax_over_queries",
    ),
    Story(
        "whitespace_tokens",
        "Blanks that are tokens",
        WILD_CAT,
        "{n_blank} of the {n} tokens are blanks and share one vector. A blank gives "
        "{blank_row:.4f} of its weight to blanks ({n_blank} times {each:.4f}); with matrices it is "
        "{learned_row:.4f}, and “cat”, “wild” and “attacks” give them {of_words:.4f}. In "
        "the result their rows are alike: {n_different} row, {n_blank} times.",
        "Without blanks {n_kept} tokens are left, and “wild” shares out {wild:.4f}.",
        _blanks,
    ),
    Story(
        "self_not_top",
        "A word that prefers another one",
        WILD_CAT,
        "“wild” gives {to_the:.4f} to “the” and {to_itself:.4f} to itself: a dot product rewards "
        "long vectors. Their score is {score:.4f}, its own is {own_score:.4f}, and “the” is "
        "{long:.4f} long where “wild” is {short:.4f}.",
        "Nothing is wrong here: a high score is no high similarity. By the cosine, “wild” is 1 to "
        "itself and {cosine:.4f} to “the”.",
        _not_top,
    ),
)
