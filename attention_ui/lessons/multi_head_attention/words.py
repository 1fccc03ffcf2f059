"""What the lesson on several heads says of its numbers, and what its questions ask."""

from torch import Tensor

from attention_core.recipes import HeadsRecipe
from attention_core.trace import Trace

from ...cards.common_questions import ALIKE, one_of
from ...cards.questions import Pick, Shape, Verdict
from ...controls.shared import example_of, heads_recipe_of, how_many
from ...frame.ends import closes, named
from ...reactive.control import Values
from ...words import capital, listed, number, word_at
from .checks import are_right


def split_words(n_heads: int) -> str:
    """What one product makes, and what is done with it."""
    if n_heads == 1:
        return (
            "One product makes the queries. With one head there is nothing to deal out: it gets "
            "all columns. Keys and values are made the same way."
        )
    return (
        "One product makes the queries of all heads: each head owns the columns of its colour. "
        "These are then dealt out, so every head has a query for every token, only narrower. Keys "
        "and values are made the same way."
    )


def shape(trace: Trace, recipe: HeadsRecipe) -> Shape:
    """Which shape the queries have once they are split."""
    return Shape(
        words=f"`joined_queries` is {trace['joined_queries'].shape}: all heads side by side. "
        f"Split it into its {how_many(recipe.n_heads)}. Which shape does it have then?",
        truth=(("head", recipe.n_heads), ("query", trace.size("query")), ("d_head", recipe.d_head)),
        sides=("Heads", "Rows of a head", "Columns of a head"),
        teaches="Every head sees all tokens, through columns of its own. The heads divide up the "
        "width, not the tokens.",
    )


def adds_most(trace: Trace, query: int) -> Pick | None:
    """Which head adds the longest vector to the output of a query; None for a single head."""
    given = trace["head_outputs"].value[:, query]
    if len(given) == 1:
        return None
    return Pick(
        words="Which head will add most to the output of this query: the longest vector?",
        asked=named(trace, "query", query),
        choices=[f"Head {head}" for head in range(len(given))],
        judge=lambda guess: judge_most(guess[0], given),
        truth=lambda: f"It is {longest(given)[1]}.",
        teaches="How sharply a head looks says little about how much it adds: that depends on the "
        "values it mixes, and on its own rows of `W_output`.",
        at={"query": (query,)},
    )


def judge_most(guess: int, added: Tensor) -> Verdict:
    """How a guess of the head that adds the longest vector does; equal ones are all right."""
    winners, named = longest(added)
    if guess in winners:
        return Verdict(True, f"Right: {named}.")
    length = added[guess].norm()
    return Verdict(False, f"It is {named}; what yours adds has a length of {length:.2f}.")


def longest(added: Tensor) -> tuple[list[int], str]:
    """The heads whose vectors (head, d_model) are longest, and that in words."""
    lengths = added.norm(dim=-1)
    most = lengths.max().item()
    winners = (lengths > most - ALIKE).nonzero().flatten().tolist()
    return winners, " and ".join(f"head {head}" for head in winners) + f" ({most:.2f})"


def cost_question(d_in: int, recipe: HeadsRecipe) -> Pick | None:
    """Which has more parameters, the heads or one wide head; None where there is one only."""
    if recipe.n_heads == 1:
        return None
    heads, wide = how_many(recipe.n_heads), one_wide(recipe)
    many, one = recipe.n_parameters(d_in), wide.n_parameters(d_in)
    return one_of(
        f"{heads} {widths(recipe)}, or one head {widths(wide)}: which has more parameters?",
        (heads, "the one wide head", "neither: both have the same number"),
        2,
        f"Neither: {heads} have {many:,}, the one wide head {one:,}.",
    )


def parameter_words(d_in: int, recipe: HeadsRecipe) -> str:
    """How many numbers training may change, and that one wide head has as many."""
    wide = one_wide(recipe)
    queries, values = recipe.n_heads * recipe.d_head, recipe.n_heads * recipe.d_value
    words = (
        f"`W_query`, `W_key` and `W_value` have {d_in} rows and {queries}, {queries} and {values} "
        f"columns; `W_output` is {values} × {recipe.d_model}. Together: "
        f"**{recipe.n_parameters(d_in):,} parameters**. "
    )
    if recipe.n_heads == 1:
        return words + (
            "There is only one head here. Choose more heads above, each narrower by as much: the "
            "same columns are dealt out, and the number of parameters stays."
        )
    return words + (
        f"One head {widths(wide)} has {wide.n_parameters(d_in):,}: the columns are the same, only "
        "dealt out to more heads. So more heads need no more parameters and no more "
        "multiplications; only softmax runs once for each. The price: each head compares narrower "
        "queries and keys."
    )


def one_wide(recipe: HeadsRecipe) -> HeadsRecipe:
    """One head with the columns of all."""
    n_heads = recipe.n_heads
    return HeadsRecipe(1, n_heads * recipe.d_head, n_heads * recipe.d_value, recipe.d_model)


def widths(recipe: HeadsRecipe) -> str:
    """How wide a head is; its values have a width of their own where theirs differs."""
    values = f" and values of width {recipe.d_value}" if recipe.d_value != recipe.d_head else ""
    return f"of width {recipe.d_head}{values}"


def widths_words(recipe: HeadsRecipe) -> str:
    """How wide the heads are, alone and joined."""
    words = (
        f"{how_many(recipe.n_heads)} with queries and keys of width {recipe.d_head} and values of "
        f"width {recipe.d_value}"
    )
    if recipe.n_heads * recipe.d_head == recipe.n_heads * recipe.d_value == recipe.d_model:
        if recipe.n_heads == 1:
            return f"{words}: it has all of d_model."
        shared = f"{recipe.n_heads} × {recipe.d_head} = {recipe.d_model}"
        return f"{words}: {shared}, so the heads share d_model."
    return (
        f"{words}. Joined they are {recipe.n_heads * recipe.d_value} wide, and `W_output` turns "
        f"that into a width of {recipe.d_model}."
    )


def names_words(values: Values) -> str:
    """What the heads are called, where they were set by hand or trained; else ''."""
    given = heads_recipe_of(values).given_for(values.d_in)
    if given is None:
        return ""
    names = listed([f"**{head}** {name}" for head, name in enumerate(given.names)])
    if example_of(values).is_trained:
        return (
            f"Nobody named these heads by hand. Measured on many texts, they are {names}: *A tiny "
            "language* shows the measurements."
        )
    return f"Each head was given a question of its own: {names}."


def asks_nothing(trace: Trace, query: int) -> str:
    """Which heads have a question of zeros for a query, so that keys get the same; ""."""
    asks = trace["head_queries"].value[:, query]
    silent = (asks == 0).all(dim=-1).nonzero().flatten().tolist()
    if not silent:
        return ""
    share = number(trace["head_weights"].value[silent[0], query].max().item(), 2)
    have = "has" if len(silent) == 1 else "have"
    heads = listed([f"head {head}" for head in silent])
    asks = word_at(trace.labels("query"), query, "query")
    return (
        f"{capital(heads)} {have} no question for {asks}: its vector there is all zeros, every "
        f"score is 0, and each key that it may see gets the same {share}."
    )


@closes("Why several heads?", "weights", "head_weights")
def why_several(trace: Trace, values: Values) -> str:
    """With what each head of the page's query looks at most."""
    looks = [
        f"{named(trace, 'head', head)} looks at all tokens alike"
        if row.max() - row.min() < 1e-6 and len(row) > 1
        else f"{named(trace, 'head', head)} looks most at {named(trace, 'key', int(row.argmax()))}"
        for head, row in enumerate(trace["head_weights"].value[:, values.query])
    ]
    words = (
        "A head gives a query one row of weights, and so one mean of values: it cannot look for "
        "two things and keep them apart."
    )
    if len(looks) == 1:
        return f"{words} Here there is one: choose more, and each looks for something of its own."
    return (
        f"{words} For {named(trace, 'query', values.query)}, {listed(looks)}; W_output gets their "
        "means side by side."
    )


@closes(
    "Why does splitting into heads take a transpose, and not just a view?",
    "mixed",
    "split_queries",
    "mixed_queries",
)
def why_transpose(trace: Trace) -> str:
    """With how many rows a view alone gets right."""
    n_heads, n_tokens, d_head = trace["split_queries"].value.shape
    words = (
        f"A view of (query {n_tokens}, head {n_heads}, d_head {d_head}) cuts each token's row into "
        f"its heads; the transpose then puts heads first: (head {n_heads}, query {n_tokens}, "
        f"d_head {d_head})."
    )
    if n_heads == 1 or n_tokens == 1:
        return f"{words} With one head, or one token, a view alone gives the same."
    right = int(are_right(trace, "mixed_queries").sum())
    return (
        f"{words} A view straight to that shape cuts in memory order: head 0 would be filled from "
        f"the first tokens, and only {right} of {n_heads * n_tokens} rows would hold what they "
        "should."
    )


@closes("What would the output lose without one of its heads?", "parts", "head_outputs")
def what_a_head_adds(trace: Trace, values: Values) -> str:
    """With the head that adds most to the page's query."""
    lengths = trace["head_outputs"].value[:, values.query].norm(dim=-1)
    head = int(lengths.argmax())
    length = number(lengths[head].item(), 2)
    if len(lengths) == 1:
        return (
            "Everything, here: there is one head, and what it adds is the whole output. For "
            f"{named(trace, 'query', values.query)} that is a vector of length {length}."
        )
    return (
        "Just what that head adds: the output is a sum over heads, each computed by itself, so the "
        f"others stay as they are. For {named(trace, 'query', values.query)}, "
        f"{named(trace, 'head', head)} adds most: a vector of length {length}."
    )
