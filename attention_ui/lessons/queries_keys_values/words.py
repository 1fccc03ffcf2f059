"""What the lesson says of its numbers, and what its questions ask."""

import math
from collections.abc import Sequence

from torch import Tensor

from attention_core.experiments.training import TrainingRecord
from attention_core.largest_effect import other_telling_query
from attention_core.recipes import ROLES
from attention_core.text.tokenizers import visible
from attention_core.trace import Trace

from ...cards.common_questions import rows_like, which_key
from ...cards.questions import Pick
from ...controls.shared import example_of, is_set_by_hand, numbered_tokens, projections_of
from ...frame.ends import closes, named
from ...frame.lights import agreement
from ...reactive.control import Values
from ...words import capital, listed, number, percent, word_at

ALIKE = 1e-6
WHY_THERE = (
    "Why do they look there? The loss asks for the next token of this one sentence. Where a token "
    "stands here once, its own vector tells what follows; only where it came before, with another "
    "token after it, other words have to tell the two apart. What a pronoun stands for is never "
    "asked here; who learns from many sentences has to find it out."
)
"""Of a trained query."""
DIVIDING = {"sqrt_d": " dividing by √d,", "d": " dividing by d,", "none": ""}


def origin_words(values: Values, trace: Trace) -> str:
    """Where the numbers in the matrices come from; an example of how to read those set by hand."""
    if projections_of(values).given_for("query", values.d_in) is None:
        return (
            "`torch.rand` draws from 0 to 1, so no entry is negative; `nn.Linear` draws around 0."
        )
    if example_of(values).is_trained:
        return (
            "These matrices were trained: nobody chose a number in them. Together they are the "
            "head that finds the noun of a pronoun, so look at what *it* asks for."
        )
    words = "These matrices were set by hand, so you can read them."
    if is_set_by_hand(values):
        words = (
            "These matrices were set by hand: “it” asks for an animal that hunts, whatever the "
            "verb, and “because it barks” gives the same."
        )
    matrix = trace["W_query"].value
    row, column = divmod(int(matrix.argmax()), matrix.shape[1])
    if matrix[row, column] <= 0:  # numbers typed by hand may leave none to ask for anything
        return words
    has, asked = trace.labels("d_in")[row], trace.labels("d_query")[column]
    return (
        f"{words} In `W_query`, row *{has}* and column *{asked}* hold "
        f"{matrix[row, column].item():g}: the larger a word's *{has}*, the more it asks for "
        f"*{asked}*."
    )


def matrix_words(values: Values) -> str:
    """How many entries the matrices have."""
    recipe = projections_of(values)
    counts = [f"{values.d_in} × {recipe.width(role)}" for role in ROLES]
    biases = f" and {2 * recipe.d_query + recipe.d_value} of the biases" if recipe.bias else ""
    return (
        f"**{recipe.n_parameters(values.d_in):,} parameters** that training may change: "
        f"{counts[0]}, {counts[1]} and {counts[2]} entries{biases}."
    )


def looks_at(trace: Trace, values: Values) -> Pick:
    """Which token another one than that of the page looks at most."""
    weights = trace["weights"].value
    asked = asked_query(trace, values)
    return which_key(
        "Now another token asks. Which one will it look at most? Compare its query with the keys.",
        trace.labels("key"),
        weights[asked],
        asked=numbered_tokens(values)[asked],
        teaches="A query asks, a key answers: their dot product is large where the token has what "
        "is asked for. They need not be alike: what counts is what the matrices make of them.",
        at={"query": rows_like(weights, asked)},
    )


def asked_query(trace: Trace, values: Values) -> int:
    """The query whose row is asked for: that of the page's token stands above."""
    return other_telling_query(trace["weights"].value, values.token)


def ways_agree(trace: Trace) -> list[tuple[bool, str]]:
    """The lights for the other ways of writing a projection, with the largest differences."""

    def compared(words: str, *names: str) -> tuple[bool, str]:
        pairs = [tuple(trace[name].value for name in names)]
        return agreement(words, pairs, *((trace, name) for name in names))

    code = trace["queries_upright"].operation.code("embeddings", "W_query")
    upright = f"Tokens as columns, `{code}`: the same queries"
    linear = "`nn.Linear` with the transposed matrices: the same context vectors"
    return [
        compared(upright, "queries_upright", "queries"),
        compared(linear, "linear_context_vectors", "context_vectors"),
    ]


def own_keys_words(trace: Trace, alike: Trace, plain: Trace, now: Trace) -> str:
    """One token's weight on itself with embeddings compared as they are (`plain`), with W_query for
    both, and with a matrix each; then a pair's two directions where the slider stands (`now`).
    """
    tokens = trace.labels("token")
    own, shared, bare = (each["weights"].value.diagonal() for each in (trace, alike, plain))
    place = int((bare - own).argmax())
    words = (
        f"{capital(word_at(tokens, place))} gives itself {bare[place]:.2f} of its weight where "
        f"embeddings are compared as they are, {shared[place]:.2f} where W_query makes queries and "
        f"keys (slider at 0), and {own[place]:.2f} with a matrix for each (at 1)."
    )
    scores = now["scores"].value
    if mirrored(scores):
        return words
    rounded = scores.masked_fill(scores.abs() < 1e-6 * scores.abs().max(), 0.0)
    query, key = divmod(int((scores - scores.T).argmax()), len(scores))
    one, other = (word_at(tokens, at) for at in (query, key))
    there, back = (number(rounded[at].item(), 2) for at in ((query, key), (key, query)))
    return (
        f"{words} Asking now has a direction: {one} asking {other} scores {there}, {other} asking "
        f"{one} scores {back}."
    )


def mirrored(scores: Tensor) -> bool:
    """Whether scores (query, key) are the same in both directions, but for rounding."""
    return bool(((scores - scores.T).abs() <= 1e-5 * scores.abs().max()).all())


def loss_words(loss: float) -> str:
    """What a loss means for the right next token."""
    if not math.isfinite(loss):
        return "This loss is not a finite number, so it says nothing about the next token."
    return f"That is like giving each right next token a probability of {number(math.exp(-loss))}."


def outcome(records: Sequence[TrainingRecord], rate: float) -> tuple[bool, str]:
    """How a run ended, and what that means for the next token."""
    first, last = records[0], records[-1]
    if last.diverged:
        return False, (
            f"Diverged at step {last.step:,}: the loss is no longer a finite number. The learning "
            f"rate of {rate:g} is too large here: each step overshoots further."
        )
    if first.loss > last.loss:
        return True, (
            f"The loss fell from {first.loss:.4f} to {last.loss:.4f}, "
            f"{first.loss / last.loss:,.1f} times smaller. {loss_words(last.loss)}"
        )
    return False, f"The loss did not fall: {first.loss:.4f} at first, {last.loss:.4f} now."


def predicted(trained: Trace) -> str:
    """How many next tokens are right, and the sentence that is predicted: a person's words."""
    names, tokens = trained.labels("next"), trained.labels("token")
    places = trained["probabilities"].value[:-1].argmax(dim=-1).tolist()
    guesses = [names[place] for place in places]
    right = sum(guess == token for guess, token in zip(guesses, tokens[1:], strict=True))
    return (
        f"Its best guess is right for {right} of {len(guesses)} next tokens. The sentence it "
        "predicts: " + " ".join(map(visible, [tokens[0], *guesses]))
    )


def before_training(first: TrainingRecord, n_choices: int) -> str:
    """What the loss is before anything was learned."""
    return (
        f"Nothing is trained yet. The loss is {first.loss:.2f}: the mean of −ln of the chance that "
        f"each next token got. Guessing among {n_choices} tokens without knowing anything gives "
        f"ln {n_choices} = {math.log(n_choices):.2f}."
    )


@closes("What does a word ask for, and who answers?", "one_token", "query_scores", "query_weights")
def who_answers(trace: Trace, values: Values) -> str:
    """With the key that gets the most from the page's token."""
    words = (
        "Its vector times W_query is its query, what it asks for. Each word answers with its key, "
        f"and their dot product says how well the two fit. {_asks(trace, values.token)}"
    )
    scores, weights = trace["query_scores"].value, trace["query_weights"].value
    key, share = int(weights.argmax()), percent(weights.max().item())
    if len(weights) == 1:
        return f"{words} the only answer comes from itself, and gets {share} of its attention."
    if weights.max() - weights.min() < ALIKE:
        return f"{words} all keys fit equally well, and each gets {share} of its attention."
    return (
        f"{words} the best answer comes from {_found(trace, values.token, key)}: a score of "
        f"{number(scores[key].item(), 2)}, and {share} of its attention."
    )


def _asks(trace: Trace, token: int) -> str:
    """The beginning of a sentence on the page's token, with what it asks for, if named."""
    query, (axis,) = trace["one_query"].value, trace["one_query"].axes
    most = query.max().item()
    entries = [at for at, each in enumerate(query.tolist()) if most > 0 and most - each < ALIKE]
    names = [f"“{name}”" for at in entries if (name := trace.name_of(axis, at))]
    asks = f", which asks most for {listed(names)}," if names else ""
    return f"For {named(trace, 'query', token)}{asks or ','}"


@closes("What does training change, and what does it leave alone?", "train")
def what_training_changes(values: Values) -> str:
    """With the number of parameters."""
    recipe = projections_of(values)
    biases = " and their biases" if recipe.bias else ""
    return (
        f"It changes the entries of W_query, W_key and W_value{biases}: the "
        f"{recipe.n_parameters(values.d_in):,} numbers under “Three matrices”, which all tokens "
        f"share. What is done with them stays as it is: dot products,{DIVIDING[recipe.scale]} "
        "softmax, and a mask where there is one. “Train it” trains a layer of its own, of the "
        "width you choose, and leaves the embeddings as they are; a real model trains them as well."
    )


@closes("What if W_value were all 0?", "context", "query_weights")
def without_values(trace: Trace, values: Values) -> str:
    """With the largest weight of the page's token, which does not depend on values."""
    weights = trace["query_weights"].value
    key, share = int(weights.argmax()), percent(weights.max().item())
    left = "the bias alone" if "b_value" in trace else "0"
    given = f"{share} of its attention to {_found(trace, values.token, key)}"
    query = named(trace, "query", values.token)
    if not trace["W_value"].value.any():
        return (
            f"So it is here: every value is {left}, and so is every context vector. The weights do "
            f"not notice, since they come from queries and keys: {query} still gives {given}."
        )
    return (
        f"Every value would be {left}, and so would every context vector. The weights would not "
        f"notice, since they come from queries and keys: {query} would still give {given}."
    )


def _found(trace: Trace, token: int, key: int) -> str:
    return "itself" if key == token else named(trace, "key", key)
