"""Lesson 5: attention with trainable matrices, and training them."""

from attention_core.mechanism.trainable import add_other_ways, attend_trainable
from attention_core.recipes import ROLES
from attention_core.text.embedding import embed
from attention_ui.cards import elements as ui
from attention_ui.cards.page import Page, is_covered
from attention_ui.controls import shared
from attention_ui.lessons.queries_keys_values import lesson, tries, words
from attention_ui.lessons.queries_keys_values.training import training, watched_now
from attention_ui.picture.below import products
from attention_ui.picture.matrix import Matrix
from attention_ui.picture.sentence import with_sentence


def others(v):
    """What the notebooks print beside the lesson's own trace."""
    linear = attend_trainable(embed(shared.inputs_of(v)), shared.projections_of(v, start="linear"))
    again = lesson.drawn_again(v)
    made = {"qkv_linear": add_other_ways(linear), "qkv_wrong_axis": lesson.wrong_axis(v)}
    return made | ({"qkv_again": again} if again else {})


page = Page("queries_keys_values", "context_vectors", "qkv", others)
LOOKS_AT = page.ask(
    "looks_at",
    words.looks_at,
    ["weights"],
    stays=["queries", "keys"],
    each=lambda v, trace: words.asked_query(trace, v),
    again=["queries", "keys"],
)


@page.card(
    "matrices",
    "Three matrices",
    "Multiply a token’s vector by each: you get what it asks for (its **query**), what it is found "
    "by (its **key**) and what it hands on (its **value**). All tokens share these matrices. "
    "**Click a number to change it.**",
    controls=[shared.TOKEN.at(width=150)],
)
def matrices(v, trace):
    pairs = [(trace[f"W_{role}"], trace[f"one_{role}"]) for role in ROLES]
    made = products(trace, trace["one_embedding"], pairs, tall=205)
    weights = ui.covered(Matrix(trace["query_weights"]))
    yield ui.picture(with_sentence(made, v.token, weights=weights))
    yield from tries.put(v, trace)
    yield ui.row(
        shared.START.at(width="content"),
        shared.D_QUERY.at(width=225),
        shared.D_VALUE.at(width=170),
        shared.BIAS.at(),
        key="makes_matrices",
    )
    yield ui.say(f"{words.matrix_words(v)} {words.origin_words(v, trace)}")


@page.card(
    "one_token",
    "One token asks",
    "Its query meets the key of every token: one score each. Softmax turns the scores into shares "
    "of its attention, so you see who answers, and how much.",
)
def one_token(trace):
    of_query = trace["query_weights"]
    scaled = of_query.inputs[0]
    yield ui.matrices(
        trace,
        *(Matrix(trace["keys"]), "·", Matrix(trace["one_query"])),
        *("=", Matrix(trace["query_scores"])),
        *(() if scaled.name == "query_scores" else ("→", Matrix(scaled))),
        *("→", Matrix(of_query, as_bars=True)),
        tall=205,
    )


@page.card(
    "scores",
    "Scores of all tokens",
    "One matrix product compares each query with each key. There is a score for each pair of "
    "tokens, however wide queries and keys are: twice as many tokens make four times as many "
    "scores.",
    ask=LOOKS_AT,
)
def scores(trace):
    keys = Matrix(trace["keys"], transposed=True, title="keysᵀ")
    parts = Matrix(trace["queries"]), "·", keys, "=", Matrix(trace["scores"])
    yield ui.matrices(trace, *parts, tall=215)


@page.card(
    "weights",
    "Scores and weights",
    "Wide vectors have large scores, so one divides by √d, the root of their width; softmax then "
    "turns each row into shares of 1. Why a matrix each for queries and keys? "
    "Move the slider to 0, so that W_query makes both: then two tokens score the same, whichever "
    "of them asks.",
    controls=[shared.SCALE.at(label="Divide by"), ui.in_picture(lesson.OWN_KEYS, width=220)],
)
def weights(v, trace):
    embedded = embed(shared.inputs_of(v))

    def with_keys(own):
        """Scores beside weights, with keys that are so much their own."""
        made = lesson.with_own_keys(embedded, v, own)
        weights = made["weights"]
        scaled = scores = weights.inputs[0]
        if scaled.name == "scaled_scores":
            scores = scaled.inputs[0]
        before = () if scores is scaled else (Matrix(scores), "→")
        return made, (*before, Matrix(scaled), "→", Matrix(weights))

    yield ui.moving(lesson.OWN_KEYS, with_keys, tall=215)
    if not is_covered("weights"):
        now, alike = (lesson.with_own_keys(embedded, v, each) for each in (v.own_keys, 0.0))
        yield ui.note(words.own_keys_words(trace, alike, lesson.of_embeddings(v), now))


@page.card(
    "context",
    "Context vectors",
    "The weights mix the values, not the embeddings: each row of weights makes one context vector, "
    "as wide as a value. The keys have decided the weights, and play no part any more.",
)
def context(trace):
    yield ui.matrices(trace, trace["context_vectors"], tall=205)


@page.card(
    "train",
    "Train it",
    "Gradient descent changes the matrices so that each context vector predicts the next token "
    "(framed), through a small output matrix. A low **loss** means good predictions. Each token "
    "sees only itself and earlier ones; otherwise it could copy the answer. *The causal mask* "
    "shows how that is hidden.",
    work=training,
    controls=lambda v: (
        [ui.in_picture(lesson.TRAINED, width=260, told=False)]
        if len(shared.inputs_of(v).tokens) > 1 and watched_now(v).can_be_moved
        else []
    ),
)
def train(v):
    if len(shared.inputs_of(v).tokens) < 2:
        yield ui.say("A sentence of one token has no next token to predict. Add a word.")
        return
    yield ui.row(
        lesson.RATE.at(width=150),
        lesson.STEPS.at(width=150),
        lesson.T_WIDTH.at(label="Width", width=130),
        lesson.T_SCALED.at(label="Divide by √d"),
        key="makes_training",
    )
    watched = watched_now(v)
    if watched.can_be_moved:
        yield ui.moving(lesson.TRAINED, watched.picture)
    else:
        yield ui.picture(watched.picture(v.trained))
    if len(watched.records) < 2:
        yield ui.say(words.before_training(watched.records[0], len({*shared.inputs_of(v).tokens})))
    if watched.is_finished:
        yield ui.light(*words.outcome(watched.records, v.rate))
        yield ui.text(words.predicted(watched.trace()))
        if watched.can_be_moved:
            yield ui.say(words.WHY_THERE)
            yield ui.link_to("tiny_language", "A network that found out what “it” stands for")


deeper = page.deeper("other seeds, other ways to write it")


@deeper.section(
    "own_matrices",
    "Other seeds",
    "Without a seed the matrices are the example’s own. A seed for one matrix leaves the other two "
    "as they are.",
)
def own_matrices():
    yield ui.row(*(each.at(width=190) for each in lesson.SEEDS))


@deeper.section(
    "otherwise",
    "The same, written differently",
    "With tokens as rows it is `x @ W`; with tokens as columns, `W @ x` with the matrix "
    "transposed. `nn.Linear` stores its matrix transposed; transpose it back, and the layer gives "
    "what the parameter matrix gives. Here both are computed.",
)
def otherwise(trace):
    for good, told in words.ways_agree(trace):
        yield ui.light(good, told)
    made = [trace[name] for name in ("queries", "keys", "values")]
    steps = [*made, *(each for one in made for each in one.inputs)]
    yield ui.formula(r"Q = X W_Q \qquad K = X W_K \qquad V = X W_V", *steps)
    yield ui.formula_of(trace, "context_vectors", "queries", "keys", "values")
    yield ui.say(
        "All of it in four steps: make a query, a key and a value from every vector, compare "
        "each query with every key, turn each row of scores into shares (softmax), and blend "
        "the values by these shares."
    )
    yield ui.link_to(
        "mistakes_lab", "And softmax down the columns?", mistake="softmax_over_queries"
    )


page.answers(words.who_answers, words.what_training_changes, words.without_values)
page.show()
