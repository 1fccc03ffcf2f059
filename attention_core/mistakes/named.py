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
    """What happens, and what to do about it, in a few sentences of ours."""
    lights: tuple[str, ...]
    """The lights that it turns red in any layer."""
    unseen: str
    """Why no light sees it; "" where one does."""


_TEXT = """
softmax_over_queries: Softmax over the queries
- weights = scores.softmax(dim=-1)
+ weights = scores.softmax(dim=-2)
Each key shares out a weight of 1 among the queries, so columns sum to 1 and rows do not. It should
be each query among the keys. The whole matrix sums to the same number, so a check of the total sees
nothing. Write dim=-1.
lights: rows_sum_to_1 own_row

heads_normalised: Softmax over the heads
- weights = scores.softmax(dim=-1)
+ weights = scores.softmax(dim=-3)
For each query and key, the weights of all heads together sum to 1: the heads compete, and the keys
do not. (Where a key is hidden in every head, torch gives nan; the mistakes lab puts 0 there.) The
softmax belongs on the last axis, dim=-1.
lights: rows_sum_to_1

mask_after_softmax: The mask after softmax
- weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
+ weights = scores.softmax(dim=-1) * mask
The hidden keys have taken their share before they are set to 0. What is left of a row sums to less
than 1, so early tokens nearly vanish, and the future has had its say in the sum. Hide with −∞
before softmax.
lights: rows_sum_to_1 no_leak

zero_in_place_of_infinity: 0 in place of −∞
- scores = scores.masked_fill(~mask, -torch.inf)
+ scores = scores.masked_fill(~mask, 0)
A score of 0 is a vote like any other: e⁰ = 1. Rows still sum to 1, so the usual check is blind to
it. Fill with −∞, and e to the −∞ is exactly 0.
lights: hidden_is_zero no_leak

mask_transposed: The mask transposed
- mask = torch.ones(n, n, dtype=torch.bool).tril()
+ mask = torch.ones(n, n, dtype=torch.bool).triu()
Each token sees itself and what comes after it, and nothing before. One .T too many, or a triu where
a tril belongs.
lights: hidden_is_zero seen_has_weight no_leak

mask_ignored: The mask is made and never used
- context = attend(queries, keys, values, mask)
+ context = attend(queries, keys, values)
The mask is made, and nobody passes it on. Everything runs, and every token sees the future. Hand
the mask to attend, and use it there.
lights: hidden_is_zero no_leak

no_scaling: Nothing divides the scores
- scores = queries @ keys.mT / d ** 0.5
+ scores = queries @ keys.mT
A dot product of d terms spreads √d times as far as its terms do. Softmax then gives nearly all to
one key, and learning stalls. Divide by √d.
lights: variance

divided_by_d: d in place of √d
- scores = queries @ keys.mT / d ** 0.5
+ scores = queries @ keys.mT / d
Dividing by d makes the scores smaller, the wider the heads are: the weights become alike, whoever
asks. Divide by the square root of the width of a key.
lights: variance

query_and_key_swapped: Queries and keys changed places
- scores = queries @ keys.mT
+ scores = keys @ queries.mT
The scores are transposed: each row holds what others ask of a token, and not what it asks. The rows
still sum to 1. Write queries @ keys.mT.
lights: own_row

divided_by_the_sum: Divided by the sum, without e
- weights = scores.softmax(dim=-1)
+ weights = scores / scores.sum(dim=-1, keepdim=True)
A row of scores may sum to less than 0: then the lowest score gets the largest weight. Weights can
be negative, and explode where the sum is near 0. They still sum to 1. Use softmax.
lights: not_negative

softmax_overflow: Softmax written out, and large scores
- e = (scores - scores.amax(-1, True)).exp()
- weights = e / e.sum(-1, True)
+ e = scores.exp()
+ weights = e / e.sum(-1, True)
e to the power of 89 is more than float32 can hold. While the scores are small nothing is wrong; one
that is too large becomes ∞, ∞/∞ is nan (not a number), and the rest of its row becomes 0. Subtract
the largest score of the row first, or call softmax, which does. The mistakes lab makes all scores
large enough to show it; its lights measure them as they were.
lights: finite

heads_without_transpose: Heads split without the transpose
- heads = queries.view(n, n_heads, d).transpose(0, 1)
+ heads = queries.view(n_heads, n, d)
A reshape cuts the numbers in the order in which they lie in memory, so most rows of a head hold a
piece of the wrong token. The shape is right, which is why nobody notices. Split the columns first,
then bring the heads to the front.
lights: no_leak tokens_apart

matrices_on_tokens: Matrices on the token axis
- queries = x @ W_query  # W_query: (d_in, d)
+ queries = U_query @ x  # U_query: (n, n)
A matrix of (token, token), multiplied from the left, mixes all tokens before any attention: later
tokens are in the queries before any mask can hide them. And a sentence of another length does not
fit. Multiply from the right, with a matrix that has a row for each component.
lights: no_leak tokens_apart any_length

whole_matrix_norm: Layer norm over the whole matrix
- x = F.layer_norm(x, x.shape[-1:])
+ x = F.layer_norm(x, x.shape)
The mean and the variance are those of all tokens together, so every token's vector depends on all
the others, also on later ones. Normalise each row: the last axis.
lights: no_leak tokens_apart

relu_last: ReLU after the last linear layer
- x = torch.relu(x @ W_in) @ W_out
+ x = torch.relu(x @ W_in @ W_out)
Two linear layers with nothing in between are one linear layer, and half of what comes out is cut to
0. ReLU belongs between them.
lights: both_signs

weights_redrawn: Matrices drawn at every call
- def __init__(self): self.W_query = nn.Parameter(torch.rand(d_in, d))
+ def forward(self, x): W_query = torch.rand(d_in, d)
The matrices are made inside forward, so the same sentence gives another output each time, and
nothing can be learned. Make them once, as parameters. In the mistakes lab, the first call stands in
the right one's place, and the second in the wrong one's.
lights: repeatable

dictionary_with_gaps: A dictionary with gaps
- ids = {word: i for i, word in enumerate(sorted(set(words)))}
+ ids = {word: i for i, word in enumerate(sorted(words))}
The list of words was sorted with its duplicates and then numbered, so some ids belong to nobody:
rows of the table are wasted, or the largest id lies outside of it. Take the distinct words first.
lights: ids

random_tokenizer: Ids drawn at random
- token_ids = torch.tensor([ids[word] for word in words])
+ token_ids = torch.randint(20_000, (len(words),))
The same word gets another id each time it stands there, so its vector says nothing about it. Give
each distinct word an id of its own.
lights: repeatable ids

queries_as_keys: One matrix for queries and keys
- keys = x @ W_key
+ keys = x @ W_query
What a token asks for is also how it is found, so any two tokens score each other alike: “it” cannot
look for “cat” without “cat” looking for “it” just as much. Give the keys a matrix of their own.
unseen: It is attention, only a poorer one: nothing that holds of every attention is broken. Look at
head_queries and head_keys, which are equal.

keys_as_values: W_key used for the values too
- values = x @ W_value
+ values = x @ W_key
A line copied and not changed. The token hands on how it is found, and W_value never learns.
unseen: A value may be anything, so no property of attention is broken. Compare head_keys with
head_values: they are equal.

one_head_repeated: The same head, several times
- heads = [Head() for _ in range(n_heads)]
+ heads = [Head()] * n_heads
[head] * n makes a list with one head in it n times. All look the same way, so n heads see no more
than one. Make each anew: [Head() for _ in range(n)]. Head 0 stays as it is: choose another head to
see it.
unseen: Each head is right, taken by itself. Compare the heads: their weights are equal.
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
