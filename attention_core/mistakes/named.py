"""The mistakes that can be switched on in a layer, in words: one list for the lab, the game and the
checks of a learner's own code.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Named:
    """A mistake in a whole layer, and what is said of it."""

    name: str
    """In addresses, and wherever it is named in code."""
    title: str
    right: str
    """The line, as it is often written, done right."""
    wrong: str
    """The same line with the mistake."""
    words: str
    """What to look at first, what happens, and what to do about it, in a few sentences of ours."""
    lights: tuple[str, ...]
    """The lights that it turns red in any layer."""
    unseen: str
    """Why no light sees it; "" where one does."""


_TEXT = """
softmax_over_queries: Softmax over the queries
- weights = scores.softmax(dim=-1)
+ weights = scores.softmax(dim=-2)
Add up a column: it sums to 1, and the rows do not. Each key shares itself out among the queries,
and it should be each query among the keys. The total stays the same, so a check of it sees nothing.
Write dim=-1.
lights: rows_sum_to_1 own_row

heads_normalised: Softmax over the heads
- weights = scores.softmax(dim=-1)
+ weights = scores.softmax(dim=-3)
Add up one cell over all heads: that is 1. So the heads compete with each other, and the keys do
not. Softmax belongs on the last axis: write dim=-1. Where a key is hidden in every head, torch
gives nan; the mistakes lab puts 0 there.
lights: rows_sum_to_1

mask_after_softmax: The mask after softmax
- weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
+ weights = scores.softmax(dim=-1) * mask
Look at the first rows: they sum to far less than 1. The hidden keys took their share before they
were set to 0, so early tokens nearly vanish, and the future has had its say. Hide with −∞, before
softmax.
lights: rows_sum_to_1 no_leak

zero_in_place_of_infinity: 0 in place of −∞
- scores = scores.masked_fill(~mask, -torch.inf)
+ scores = scores.masked_fill(~mask, 0)
Look right of the diagonal: hidden keys get some weight. A score of 0 is a vote like any other,
since e⁰ = 1, and rows still sum to 1, so the usual check passes. Fill with −∞: e to the −∞ is
exactly 0.
lights: hidden_is_zero no_leak

mask_transposed: The mask transposed
- mask = torch.ones(n, n, dtype=torch.bool).tril()
+ mask = torch.ones(n, n, dtype=torch.bool).triu()
Look at which half is empty: the wrong one. Each token sees itself and what comes after it, and
nothing before. There is one .T too many, or a triu where a tril belongs.
lights: hidden_is_zero seen_has_weight no_leak

mask_ignored: The mask is made and never used
- context = attend(queries, keys, values, mask)
+ context = attend(queries, keys, values)
Look right of the diagonal: every token sees the future. The mask was made, and nobody passed it
on. Everything runs. Hand it to attend, and use it there.
lights: hidden_is_zero no_leak

no_scaling: Nothing divides the scores
- scores = queries @ keys.mT / d ** 0.5
+ scores = queries @ keys.mT
Look for rows in which one key takes nearly all. A dot product of d terms spreads √d times as far
as one term does, so softmax becomes all or nothing, and learning stalls. Divide by √d.
lights: variance

divided_by_d: d in place of √d
- scores = queries @ keys.mT / d ** 0.5
+ scores = queries @ keys.mT / d
Look how alike the weights are, whoever asks. Dividing by d is too much: the wider the heads, the
smaller the scores. Divide by √d, the square root of the width of a key.
lights: variance

query_and_key_swapped: Queries and keys changed places
- scores = queries @ keys.mT
+ scores = keys @ queries.mT
Read a row as a column: the scores are transposed. Each row holds what the others ask of a token,
not what it asks of them, and still sums to 1. Write queries @ keys.mT.
lights: own_row

divided_by_the_sum: Divided by the sum, without e
- weights = scores.softmax(dim=-1)
+ weights = scores / scores.sum(dim=-1, keepdim=True)
Look for weights below 0 or above 1. A row of scores may sum to less than 0: then the lowest score
gets the largest weight; near 0, weights explode. Rows still sum to 1, except where the scores sum
to exactly 0: 0/0 is nan (not a number). Use softmax.
lights: not_negative

softmax_overflow: Softmax written out, and large scores
- e = (scores - scores.amax(-1, True)).exp()
- weights = e / e.sum(-1, True)
+ e = scores.exp()
+ weights = e / e.sum(-1, True)
Look for nan (not a number). e to the power of 89 is more than float32 can hold: a score that large
becomes ∞, ∞/∞ is nan, and the rest of its row becomes 0. Subtract the row's largest score first, or
call softmax, which does. The mistakes lab makes all scores large enough to show it; its lights
measure them as they were.
lights: finite

heads_without_transpose: Heads split without the transpose
- heads = queries.view(n, n_heads, d).transpose(0, 1)
+ heads = queries.view(n_heads, n, d)
Look at whose numbers a row holds: mostly those of another token. A reshape cuts in the order in
which numbers lie in memory, and the shape comes out right, so nobody notices. Split the columns
first, then bring the heads to the front.
lights: no_leak tokens_apart

matrices_on_tokens: Matrices on the token axis
- queries = x @ W_query  # W_query: (d_in, d)
+ queries = U_query @ x  # U_query: (n, n)
Look at the shape of the matrix: (token, token). Multiplied from the left, it mixes all tokens
before any attention, so later ones are in the queries before a mask can hide them; and it fits no
other length. Multiply from the right, with a matrix that has a row for each component.
lights: no_leak tokens_apart any_length

whole_matrix_norm: Layer norm over the whole matrix
- x = F.layer_norm(x, x.shape[-1:])
+ x = F.layer_norm(x, x.shape)
Look at one row: its numbers no longer average to 0. The mean and the variance are those of all
tokens together, later ones included. Normalise each row by itself: over the last axis.
lights: no_leak tokens_apart

relu_last: ReLU after the last linear layer
- x = torch.relu(x @ W_in) @ W_out
+ x = torch.relu(x @ W_in @ W_out)
Look for a number below 0: there is none. ReLU came last and cut half of the output to 0, and two
linear layers with nothing in between are only one. ReLU belongs between them.
lights: both_signs

weights_redrawn: Matrices drawn at every call
- def __init__(self): self.W_query = nn.Parameter(torch.rand(d_in, d))
+ def forward(self, x): W_query = torch.rand(d_in, d)
Call it twice: the same sentence gives two different outputs. The matrices are drawn inside forward,
so nothing can be learned. Make them once, as parameters. In the mistakes lab, the first call
stands in the right one's place, and the second in the wrong one's.
lights: repeatable

dictionary_with_gaps: A dictionary with gaps
- ids = {word: i for i, word in enumerate(sorted(set(words)))}
+ ids = {word: i for i, word in enumerate(sorted(words))}
Look for ids that no word has. The words were numbered before duplicates were taken out, so rows
of the table are wasted, or the largest id lies outside of it. Take the distinct words first.
lights: ids

random_tokenizer: Ids drawn at random
- token_ids = torch.tensor([ids[word] for word in words])
+ token_ids = torch.randint(20_000, (len(words),))
Look for a word that stands there twice: it has two ids. So its vector says nothing about it. Give
each distinct word an id of its own, and keep it.
lights: repeatable ids

queries_as_keys: One matrix for queries and keys
- keys = x @ W_key
+ keys = x @ W_query
Compare a score with its mirror image across the diagonal: they are equal. What a token asks for is
also how it is found, so “it” cannot look for “cat” without “cat” looking for “it” just as much.
Give the keys a matrix of their own.
unseen: It is attention, only a poorer one: nothing that holds of every attention is broken. Look at
head_queries and head_keys, which are equal.

keys_as_values: W_key used for the values too
- values = x @ W_value
+ values = x @ W_key
Compare keys and values: they are the same numbers. A line was copied and not changed, so a token
hands on how it is found, and W_value never learns.
unseen: A value may be anything, so no property of attention is broken. Compare head_keys with
head_values: they are equal.

one_head_repeated: The same head, several times
- heads = [Head() for _ in range(n_heads)]
+ heads = [Head()] * n_heads
Compare the heads: all look the same way, so n heads see no more than one. [head] * n makes a list
with one head in it n times. Make each anew: [Head() for _ in range(n)]. Head 0 stays as it is:
choose another one to see the difference.
unseen: Each head is right, taken by itself. Compare the heads: their weights are equal.

softmax_back_by_entry: Softmax’s way back, entry by entry
- grad_scores = weights * (grad_weights - (weights * grad_weights).sum(dim=-1, keepdim=True))
+ grad_scores = weights * (1 - weights) * grad_weights
Add up a row of the gradient: it should be 0. Raising one score lowers all other weights of its row,
and p (1 − p) knows of its own weight alone. Take the row’s weighted mean away: p (g − Σ p g).
lights: slopes gradient_rows

no_scaling_back: No √d on the way back
- grad_queries = grad_scores @ keys / d**0.5
+ grad_queries = grad_scores @ keys
Compare the two gradients: one is √d times the other everywhere, so W_query and W_key learn that
many times too fast. What divides on the way there divides on the way back. The values never meet
the √d, and their gradient stays right.
lights: slopes

mask_forgotten_back: The mask forgotten on the way back
- weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
+ weights = scores.softmax(dim=-1)
Look right of the diagonal: hidden scores get a gradient. The weights were worked out again for the
way back, to save memory, and without the mask. So later tokens teach earlier ones. Hide with −∞
there too.
lights: slopes hidden_learn_nothing

keys_swapped_back: Queries in place of keys on the way back
- grad_queries = grad_scores @ keys
+ grad_queries = grad_scores @ queries
Take a cell apart: a query’s gradient is made of queries. But a score is a query times a key, so
what the score asks of the query is asked along the key. Only W_query learns wrong things.
lights: slopes

one_use_back: One use out of three
- grad_x = grad_queries @ W_query.T + grad_keys @ W_key.T + grad_values @ W_value.T
+ grad_x = grad_queries @ W_query.T
Look at the difference: it is what came back through keys and values. The vectors were used three
times, and each use sends its own gradient. They are added; here the last two are lost. The three
matrices learn as they should, and what lies before the layer does not.
lights: slopes
"""
"""In the order of a layer: name and title, the line as it was and as it is, and the words."""


def _read(paragraph: str) -> Named:
    first, *lines = paragraph.strip().splitlines()
    name, _, title = first.partition(": ")
    if not title or not re.search(r"(^| )(lights|unseen): ", " ".join(lines)):
        raise ValueError(
            f"{first!r}: a mistake begins with `name: title`, and ends with `lights:` and the "
            "names of those that it turns red, or with `unseen:` and why there are none"
        )
    right, wrong = ("\n".join(e[2:] for e in lines if e[:2] == sign) for sign in ("- ", "+ "))
    words = " ".join(each for each in lines if each[:2] not in ("- ", "+ "))
    words, _, unseen = words.partition(" unseen: ")
    words, _, lights = words.partition(" lights: ")
    return Named(name, title, right, wrong, words, tuple(lights.split()), unseen)


NAMED = {each.name: each for each in map(_read, _TEXT.split("\n\n"))}
"""By name."""
