"""What is likely wrong where a light is red, by the name of the mistake: one list for all."""

from typing import NamedTuple


class Likely(NamedTuple):
    """A mistake that learners make: what is likely wrong, and what to do."""

    words: str
    """What was likely done, and what comes of it."""
    advice: str
    """What to write, in one sentence."""


LIKELY_TEXT = """
softmax_over_queries: Softmax runs over the queries: the columns sum to 1, and the rows do not.
    > Let each query share out 1 over the keys: softmax(dim=-1).
softmax_over_everything: Softmax runs over the whole matrix: all weights together sum to 1.
    > Let each query share out 1 over the keys: softmax(dim=-1).
softmax_over_batch: Softmax runs over the batch: with one sentence, each weight is 1.
    > The keys are the last axis, so write softmax(dim=-1).
heads_normalised: Softmax runs over the heads: at each query and key, the heads together share 1.
    > Each head shares out 1 over its own keys: softmax(dim=-1).
softmax_twice: Softmax is taken twice, which makes all weights nearly equal.
    > Take it once, of the scores. What you return is multiplied by the values as it is.
no_softmax: The scores are used as weights: there is no softmax.
    > Turn each row of scores into shares that sum to 1: scores.softmax(dim=-1).
not_normalised: The exponentials are not divided by the sum of their row.
    > Divide by sum(dim=-1, keepdim=True), or write softmax(dim=-1).
sigmoid_for_softmax: Each weight is the sigmoid of its score: the keys do not share 1 among them.
    > Let the keys of a row compete for 1: softmax(dim=-1).
divided_by_the_sum: Scores are divided by the sum of their row, without exponentials: a weight can
    be negative, and a sum near 0 makes them explode.
    > Take e to each score first, or write softmax(dim=-1).
minus_sign: There is one minus sign too many: the smallest score gets the largest weight.
    > Take the scores as they are: softmax of q·k.
softmax_overflow: e to a large score is more than a number can hold, and ∞/∞ is nan (not a number).
    > Subtract the largest score of each row before exp, or write softmax(dim=-1), which does.
mask_after_softmax: The mask comes after softmax: hidden keys have already taken their share of each
    row.
    > Put −∞ in place of the hidden scores first, then take softmax.
zero_in_place_of_infinity: Hidden scores are set to 0 or another ordinary number, and e to its power
    is not 0.
    > Write float("-inf"): softmax then gives hidden keys exactly 0.
mask_ignored: Nothing is hidden: later keys get the weight that their score gives them.
    > Use the mask: scores.masked_fill(~mask, float("-inf")). masked_fill gives a new tensor, so
    keep what it returns.
hides_later_tokens: Later tokens are hidden, as by a causal mask.
    > If they should be, say so: causal=True, or --causal. If not, leave out the mask.
mask_transposed: The mask is on the wrong side: each token sees itself and what comes later.
    > Queries are rows and keys are columns, so the future lies right of the diagonal: keep tril(),
    hide triu(1).
mask_opposite: The mask is the wrong way round: what should be seen is hidden.
    > Hide where the mask says False if True means “may look”, and the other way round if not.
diagonal_hidden: A token cannot see itself, so with a causal mask the first one sees nothing at all.
    > Keep the diagonal: tril(), not tril(-1); triu(1), not triu().
mask_late: The mask begins too late: a token sees one or more of those that come after it.
    > Hide all that lies right of the diagonal: keep tril(), hide triu(1), not triu(2).
one_short: A loop ends one token too early, and leaves the last one out.
    > range(n) counts from 0 to n − 1, which is all of n tokens.
query_and_key_swapped: Queries and keys have changed places: row i holds the scores of key i.
    > Write queries @ keys.mT, and check which matrix each is made with.
query_unused: The queries play no part: the keys stand in their place.
    > Make the queries with W_q, and use them in the scores.
queries_as_keys: The keys play no part: they are made as the queries are.
    > Make the keys with W_k: keys = x @ W_k.
keys_as_values: The keys are used as values: a token hands on how it is found.
    > Make the values with W_v, values = x @ W_v, and multiply the weights by them.
queries_as_values: The queries are used as values: a token hands on what it asks for.
    > Make the values with W_v, values = x @ W_v, and multiply the weights by them.
values_changed: The values are not x·W_v.
    > Write values = x @ W_v, add nothing to it, and return weights @ values.
few_digits: The numbers are rounded to two or three digits, as bfloat16 and float16 round them.
    > Compute in float32 while you check: rounding hides what else may be wrong.
inputs_overwritten: A tensor that is given is changed in place, so whoever gave it has lost it.
    > Use operations that return a new tensor: x * 2, not x.mul_(2) or x *= 2.
remembers: Something is kept from one call to the next, and changes what comes out.
    > Start from what is given each time; what a call leaves behind must not be read by the next.
random_numbers: Numbers are drawn in each call: dropout that is on, or matrices made in forward.
    > Make matrices in __init__, and use nn.Dropout, which eval() switches off.
weights_redrawn: The matrices are drawn at random in each call, so nothing that was learned can
    stay.
    > Use those that are given; in a module, make them in __init__, not in forward.
dropout_left_on: Dropout is on, so that other weights vanish each time.
    > Switch it off outside of training: F.dropout(weights, p, training=False), or nn.Dropout, which
    eval() switches off.
no_scaling: The scores are not divided by √d, so they spread as vectors widen.
    > Divide by the square root of the width of a key: keys.shape[-1] ** 0.5.
divided_by_d: The scores are divided by d, not by √d: as vectors widen, all weights become equal.
    > Take the square root of the width: keys.shape[-1] ** 0.5.
multiplied_by_root: The scores are multiplied by √d where they should be divided.
    > Write scores / keys.shape[-1] ** 0.5.
divided_by_another_width: The scores are not divided by the square root of the width of one key.
    > Take the width that q·k adds up over, that of one head where there are several: keys.shape[-1]
    ** 0.5.
heads_without_transpose: The heads are split, or joined, by a reshape alone: a token's row then
    holds pieces of other tokens.
    > Split with unflatten(-1, (n_heads, -1)).transpose(0, 1), with (1, 2) behind a batch axis, and
    swap the same axes back before you join.
heads_interleaved: The heads take turns column by column, where each should have columns side by
    side.
    > Split with unflatten(-1, (n_heads, -1)), the heads first and then the width of one.
one_head_repeated: All heads use the queries, keys or values of head 0.
    > Keep the axis of heads in all three, and multiply head by head.
matrices_on_tokens: The matrices multiply from the left, W @ x: that mixes tokens before any
    attention, and fits sentences of one length only.
    > Each token's vector is a row, so write x @ W_q, x @ W_k, x @ W_v.
matrices_turned: The matrices are transposed before they are used.
    > Here W_q is d_in × d, so write x @ W_q. (nn.Linear keeps its matrix the other way round.)
matrices_ignored: The matrices that are given play no part: others give the same output.
    > Use them: queries = x @ W_q, keys = x @ W_k, values = x @ W_v.
tokens_never_meet: No token looks at another, as where the axis of the batch is taken for that of
    the tokens.
    > Let the scores be (batch, token, token); nn.MultiheadAttention wants batch_first=True where
    the batch comes first.
whole_matrix_norm: Numbers are normalised over all tokens together, later ones included.
    > Normalise each token by itself: F.layer_norm(x, x.shape[-1:]), or dim=-1 with keepdim=True.
positions_inside: Equal tokens come out as different vectors, each by its place in the text.
    > Attention itself knows no order: add positions before it, outside of what is checked.
one_length: A size is written as a number, or remembered from the first sentence.
    > Take it from the input each time: n_tokens = x.shape[-2].
relu_last: What is below 0 becomes 0 in the end, as by a ReLU.
    > Leave the output as it is: values may be negative, and so may their averages.
not_called: It has to be wrapped, so that it is clear what each argument is.
    > Put yours in the place of the dots:
    \\n      def attention(x, W_q, W_k, W_v):  # or (q, k, v)
    \\n          return ...
    \\n      check(attention)
"""
"""Every mistake: its name, what was likely done, and behind > what to write."""


def likely_in(text: str) -> dict[str, Likely]:
    """The mistakes of such a text, by name."""
    found = {}
    for each in text.strip().replace("\n    ", " ").splitlines():
        name, said = each.split(": ", 1)
        found[name] = Likely(*said.replace(" \\n", "\n").split(" > "))
    return found


LIKELY = likely_in(LIKELY_TEXT)
"""Every mistake by its name."""
