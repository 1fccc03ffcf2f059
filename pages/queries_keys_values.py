"""Lesson 5: attention with trainable matrices, and training them."""

from functools import partial

import streamlit as st

from attention_core.experiments.training import parting
from attention_core.mechanism.trainable import add_other_ways, attend_trainable
from attention_core.recipes import PLURAL, ROLES
from attention_core.text.embedding import embed
from attention_ui.cards.alone import Place, alone
from attention_ui.cards.begin import begin
from attention_ui.cards.card import card, light, note, waits_for
from attention_ui.cards.question import question
from attention_ui.cards.show import Moving, chart, moves, picture
from attention_ui.controls import shared
from attention_ui.controls.control import Values
from attention_ui.controls.grid import grid
from attention_ui.controls.widget import control
from attention_ui.frame.ends import answers, deeper, ends
from attention_ui.frame.long_run import go_on
from attention_ui.lessons.queries_keys_values import lesson, words
from attention_ui.lessons.queries_keys_values.training import Watched, trained_so_far, training
from attention_ui.picture.below import products
from attention_ui.picture.layout import equation
from attention_ui.picture.matrix import Matrix
from attention_ui.picture.sentence import with_sentence

ROW = {"horizontal": True, "vertical_alignment": "bottom", "gap": "medium"}
values, trace = begin("queries_keys_values")
embedded = embed(shared.inputs_of(values))
weights, contexts = trace["weights"], trace["context_vectors"]
again = lesson.drawn_again(values)

with card(
    "matrices",
    "Three matrices",
    "Multiply a token’s vector by each: you get what it asks for (its **query**), what it is found "
    "by (its **key**) and what it hands on (its **value**). All tokens share these matrices.",
) as beside:
    with beside:
        control(shared.TOKEN, width=150)
    pairs = [(trace[f"W_{role}"], trace[f"one_{role}"]) for role in ROLES]
    picture("matrices", products(trace, trace["one_embedding"], pairs, tall=222))
    with st.container(key="makes_matrices", **ROW):
        control(shared.START, width="content")
        control(shared.D_OUT, width=225)
        control(shared.D_V, width=170)
        control(shared.BIAS)
    st.markdown(f"{words.matrix_words(values)} {words.origin_words(values, trace)}")

with card(
    "one_token",
    "One token asks",
    "Its query meets the key of every token: one score each. Softmax turns the scores into shares "
    "of its attention, so you see who answers, and how much.",
):
    of_query = trace["query_weights"]
    scaled = of_query.inputs[0]
    divided = () if scaled.name == "query_scores" else ("→", Matrix(scaled))
    parts = (
        *(Matrix(trace["keys"]), "·", Matrix(trace["one_query"]), "=", trace["query_scores"]),
        *(*divided, "→", Matrix(of_query, as_bars=True)),
    )
    parts = tuple(Matrix(each) if not isinstance(each, str | Matrix) else each for each in parts)
    picture("one_token", equation(trace, *parts, tall=232))

with card(
    "scores",
    "Scores of all tokens",
    "One matrix product compares each query with each key. There is a score for each pair of "
    "tokens, however wide queries and keys are: twice as many tokens make four times as many "
    "scores.",
):
    keys = Matrix(trace["keys"], transposed=True, title="keysᵀ")
    parts = (Matrix(trace["queries"]), "·", keys, "=", Matrix(trace["scores"]))
    picture("scores", equation(trace, *parts, tall=266))

with card(
    "weights",
    "Scores and weights",
    "Softmax turns each row of scores into shares of 1. Why a matrix each for queries and keys? "
    "Move the slider to 0, so that W_query makes both: then two tokens score the same, whichever "
    "of them asks.",
) as beside:
    with beside:
        control(shared.SCALE, label="Divide by")
        moves("weights", lesson.OWN_KEYS, width=220)
    covered = question(
        "sure_rows", words.how_many_sure(weights.value), trace, ("weights", "largest_weights")
    )
    is_covered = "weights" in covered

    def with_keys(own: float) -> tuple:
        """Scores beside weights, with keys that are so much their own."""
        found = lesson.with_own_keys(embedded, values, own)["weights"]
        scaled, scores = found.inputs[0], found.inputs[0]
        if scaled.name == "scaled_scores":
            scores = scaled.inputs[0]
        before = () if scores is scaled else (Matrix(scores), "→")
        return (*before, Matrix(scaled), "→", Matrix(found, covered=is_covered))

    about = (*values.of(*lesson.MAKES_WEIGHTS), is_covered)
    now = lesson.with_own_keys(embedded, values, values.own_keys)
    drawn = equation(now, *with_keys(values.own_keys), tall=262)
    moving = Moving(lesson.OWN_KEYS, with_keys, about, elsewhere=True)
    picture("weights", with_sentence(drawn, values.token), moving)
    if not is_covered:
        alike, plain = lesson.with_own_keys(embedded, values, 0.0), lesson.of_embeddings(values)
        note(words.own_keys_words(trace, alike, plain, now))

with card(
    "context",
    "Context vectors",
    "The weights mix the values, not the embeddings: each row of weights makes one context vector.",
):
    shape = question("shape", words.shape_of_context(trace), trace, ("context_vectors",))
    covered |= shape
    parts = (
        *(Matrix(weights, covered="weights" in covered), "·", Matrix(trace["values"]), "="),
        Matrix(contexts, covered=bool(covered & {"weights", "context_vectors"})),
    )
    picture("context", equation(trace, *parts, tall=266))


@alone(
    "train",
    "Train it",
    "Gradient descent changes the matrices so that each context vector predicts the next token "
    "(framed), through a small output matrix. Later tokens are hidden. A low **loss** means "
    "good predictions.",
)
def train_it(values: Values, beside: Place) -> None:
    if len(shared.inputs_of(values).tokens) < 2:
        st.markdown("A sentence of one token has no next token to predict. Add a word.")
        return
    with st.container(key="makes_training", **ROW):
        control(lesson.RATE, width=150)
        control(lesson.STEPS, width=150)
        control(lesson.T_WIDTH, label="Width", width=130)
        control(lesson.T_SCALED, label="Divide by √d")
    with beside, st.container(width=260, gap="xsmall"):
        run = training(values)
        watched = Watched(values, run)
        if watched.can_be_moved:
            moves("train", lesson.TRAINED, width=260, told=False)
    moving = None
    if watched.can_be_moved:
        moving = Moving(lesson.TRAINED, watched.picture, watched.about, elsewhere=True)
    picture("train", watched.picture(values.trained), moving)
    if watched.is_finished:
        light(*words.outcome(watched.records, values.rate))
        if parted := words.parting_words(values.rate, parting(watched.records, watched.twin)):
            light(False, parted)
        st.text(words.predicted(watched.trace()))
    go_on(run)


with deeper(
    "other numbers, all tokens at once, zeros, other ways to write it, starts, ways to go wrong",
    *("projections", "one_context", "zeroed", "wrong_axis", "token_axis", "again", "matrix"),
) as is_open:
    if is_open:
        st.subheader("Other seeds, or numbers of your own", anchor="own_matrices")
        st.markdown(
            "Without a seed the matrices are the example’s own. A seed for one matrix leaves "
            "the other two as they are."
        )
        with st.container(**ROW):
            for each in lesson.SEEDS:
                control(each, width=200)
        matrix = st.segmented_control(
            "Type into", [*lesson.TYPED_INTO], default="W_query", required=True, key="typed_into"
        )
        matrix = matrix or "W_query"
        drawn = trace.get(f"drawn_{matrix}", trace[matrix])
        grid(trace, lesson.TYPED_INTO[matrix], trace[matrix], drawn)

        st.subheader("All tokens at once", anchor="all_tokens")
        st.markdown("What one token does above, all tokens do at once: one product per matrix.")
        control(lesson.ROLE)
        picture("projections", equation(trace, trace[PLURAL[values.role]], tall=260))

        st.subheader("One token’s context vector", anchor="one_context")
        st.markdown("Its weights mix the values of all tokens into one vector.")
        lying = [Matrix(trace[n], transposed=True) for n in ("query_weights", "query_context")]
        lying[1] = Matrix(
            trace["query_context"], transposed=True, covered="context_vectors" in covered
        )
        parts = (lying[0], "·", Matrix(trace["values"]), "=", lying[1])
        picture("one_context", equation(trace, *parts, tall=260))

        st.subheader("What if a matrix were all 0?", anchor="zeroed")
        control(lesson.ZEROED)
        zeros = lesson.with_zeros(values)
        is_told = zeros["weights"].value.equal(weights.value) and "weights" in covered
        zeroed = (
            Matrix(zeros["weights"], covered=is_told),
            "→",
            Matrix(zeros["context_vectors"], covered="context_vectors" in covered),
        )
        picture("zeroed", equation(zeros, *zeroed, tall=260))
        note(words.zero_words(zeros, values.zeroed))

        st.subheader("The same, written differently", anchor="otherwise")
        st.markdown(
            "With tokens as rows it is `x @ W`; with tokens as columns, `W @ x` with the matrix "
            "transposed. `nn.Linear` stores its matrix transposed; transpose it back, and the "
            "layer gives what the parameter matrix gives. Here both are computed."
        )
        for good, told in words.ways_agree(trace):
            light(good, told)
        known = ("queries", "keys", "values")
        st.latex(r"Q = X W_Q \qquad K = X W_K \qquad V = X W_V")
        st.latex(trace.formula("context_vectors", known=known))
        st.markdown(
            "All of it in four steps: make a query, a key and a value from every vector, compare "
            "each query with every key, turn each row of scores into shares (softmax), and blend "
            "the values by these shares."
        )

        st.subheader("What the start does", anchor="starts")
        st.markdown(
            "The same sentence with each start. Bars show the largest weight w of each row. The "
            "slope of softmax there is w(1 − w), which is almost 0 where w is near 1. Without a "
            "slope, nothing can be learned."
        )
        if "weights" in covered:
            waits_for("Scores and weights")
        else:
            starts = words.compared_starts(values)
            chart("starts", words.bars_of_starts(starts), width=640, height=250)
            st.dataframe(words.spread(starts), width="content")
            st.markdown(words.starts_verdict({n: t["weights"].value for n, t in starts.items()}))

        st.subheader("What training changed", anchor="trained_matrix")
        if so_far := trained_so_far(values):
            if so_far.most:
                st.text(words.change_words(trace.labels("token"), so_far.most))
            with st.container(**ROW):
                control(lesson.MATRIX)
                if so_far.can_be_moved:
                    moves("trained", lesson.TRAINED, width=200, told=False)
            moving = Moving(lesson.TRAINED, partial(so_far.change, values.trained_matrix),
                            (so_far.about, values.trained_matrix), elsewhere=True)  # fmt: skip
            drawn = equation(
                so_far.trace(values.trained),
                *so_far.change(values.trained_matrix, values.trained),
                tall=260,
            )
            picture("trained", drawn, moving if so_far.can_be_moved else None)
        else:
            st.markdown("Train it first: then each matrix stands here before and after.")

        st.subheader("Softmax down the columns", anchor="wrong_axis")
        st.markdown(
            "`softmax(dim=0)` makes the queries of a column share 1, instead of the keys of a row. "
            "The total is the same, so checking the total does not find it. Look at the rows."
        )
        wrong = lesson.wrong_axis(values)
        picture("wrong_axis", equation(wrong, wrong["weights"], tall=260))
        light(False, words.columns_words(wrong["weights"].value))

        st.subheader("A matrix on the token axis", anchor="token_axis")
        turned = lesson.on_token_axis(values)
        st.markdown(words.token_axis_words(turned))
        picture("token_axis", equation(turned, turned["queries"], tall=260))
        note(words.token_axis_parameters(turned))

        if again:
            st.subheader("Drawn again without a new seed", anchor="again")
            st.markdown(
                "The notebook draws its three matrices a second time without setting the seed "
                "again. The generator has moved on, so these are other matrices, with other "
                "context vectors."
            )
            names = ("W_query", "W_key", "W_value", "context_vectors")
            drawn = [Matrix(again[each], covered=each in covered) for each in names]
            picture("again", equation(again, *drawn[:3], "→", drawn[3], tall=260))

answers(
    [
        words.who_answers(trace, values.token),
        words.what_training_changes(values),
        words.without_values(trace, values.token),
    ],
    covered,
)
linear = add_other_ways(
    attend_trainable(embedded.branch(), shared.projections_of(values, start="linear"))
)
others = {"qkv_linear": linear, "qkv_wrong_axis": lesson.wrong_axis(values)}
ends(trace, "context_vectors", "qkv", others=others | ({"qkv_again": again} if again else {}))
