"""Cross-attention: the queries of one sentence look at the keys and values of another."""

import streamlit as st

from attention_ui.cards.alone import Place, alone
from attention_ui.cards.begin import begin
from attention_ui.cards.card import card, light, note, waits_for
from attention_ui.cards.question import question
from attention_ui.cards.show import Moving, moves, picture
from attention_ui.controls import shared
from attention_ui.controls.control import Values
from attention_ui.controls.widget import control
from attention_ui.frame.ends import answers, deeper, ends
from attention_ui.frame.lights import sums_verdict
from attention_ui.lessons.cross_attention import lesson, words
from attention_ui.lessons.cross_attention.agreement import torch_agrees
from attention_ui.picture.equation_parts import NEW_LINE, equation_of
from attention_ui.picture.layout import equation
from attention_ui.picture.matrix import Matrix, of_unknown_shape
from attention_ui.picture.sentence import with_sentence

values, trace = begin("cross_attention")
scores, weights, contexts = trace["scores"], trace["weights"], trace["context_vectors"]
n_queries, n_keys = scores.value.shape
asks = lesson.first_query(values)

with card(
    "looking",
    "Which word does each word look at?",
    "Your sentence asks; another one below it, the **source**, answers. Point at a word to see "
    "where it looks. Lower the **temperature**: its best match takes more.",
) as beside:
    with beside:
        control(shared.OTHER_SENTENCE, width=280)
        moves("looking", shared.TEMPERATURE, width=150)
    asked = lesson.roles(values)

    def looked(temperature: float) -> tuple:
        """The weights at one temperature."""
        return (Matrix(lesson.weigh(asked, values, temperature)["weights"]),)

    if shared.is_source_alone_random(values):
        note(shared.source_words(values))
    about = values.of(*shared.SOURCE, *shared.PROJECTED, shared.OTHER_SENTENCE)
    drawn = with_sentence(equation(trace, Matrix(weights), tall=290), asks)
    picture("looking", drawn, Moving(shared.TEMPERATURE, looked, about, elsewhere=True))

with card(
    "roles",
    "Who asks, who answers",
    "The sentence that is being written asks, so its vectors become the queries. The source is "
    "asked: its vectors become keys, by which they are found. What it hands on, its values, is "
    "made the same way; *Go deeper* draws it.",
):
    made = (*equation_of(trace["queries"]), NEW_LINE, *equation_of(trace["keys"]))
    picture("roles", equation(trace, *made, tall=400))
    if not shared.is_source_alone_random(values):
        note(shared.source_words(values))

with card(
    "scores",
    "Scores, and weights",
    "Rows are the tokens of your sentence, columns those of the source. The diagonal means nothing "
    "here: its tokens only happen to stand at the same place. The source is complete, nothing of "
    "it lies in the future, so no causal mask is needed.",
):
    turned = Matrix(trace["keys"], transposed=True, title="keysᵀ")
    found = (Matrix(trace["queries"]), "·", turned, "=", Matrix(scores), "→", Matrix(weights))
    picture("scores", equation(trace, *found))
    note(
        f"A score for each pair: {n_queries} × {n_keys} = {n_queries * n_keys}. "
        + words.made_words(trace)
    )

with card(
    "context",
    "Context vectors",
    "Each row of weights mixes the values of the source into one vector. Your sentence only "
    "decides the mix; none of its values is in it.",
):
    covered = question("shape", words.shape(trace), trace, ("context_vectors",))
    mixed = Matrix(contexts)
    made = of_unknown_shape(mixed) if covered else mixed
    of_source = (Matrix(weights), "·", Matrix(trace["values"]), "=", made)
    picture("context", equation(trace, *of_source, tall=330))


@alone(
    "padding",
    "Padding in the source",
    "A model reads many sources in one batch, all equally long: shorter ones are filled up with "
    "**padding**. No query may look there, so a mask sets its scores to −∞, and softmax gives it "
    "exactly 0.",
)
def padding_in_the_source(values: Values, beside: Place) -> None:
    with beside:
        control(lesson.PADDING, width=150)
    filled = lesson.padded(values)
    shares = filled["weights"]
    shown = (Matrix(shares.inputs[0]), "→", Matrix(shares))
    picture("padding", equation(filled, *shown, tall=300))
    for good, told in words.verdicts(filled, trace):
        light(good, told)
    note(words.padding_words(filled))


with deeper("what changes, values, the roles swapped, PyTorch’s own layer", "values") as is_open:
    if is_open:
        with card(
            "changes",
            "What stays, what changes",
            "The steps are those of self-attention, and so are the matrices. Only keys and values "
            "are made from different vectors.",
        ):
            if covered:
                waits_for("Context vectors", "This table")
            else:
                st.markdown(words.shapes_table(trace, lesson.itself(values)))
        with card(
            "values",
            "Values",
            "Values are made from the source, as its keys are, with a matrix of their own.",
        ):
            picture("values", equation(trace, trace["values"], tall=300))
        st.markdown(
            "**The roles swapped.** One published notebook makes queries and keys of the source, "
            "and values of the sentence that is being written. Count rows and columns before you "
            "read on: does it run?"
        )
        st.code(
            "queries = other_embeddings @ W_query  # should be embeddings\n"
            "keys = other_embeddings @ W_key\n"
            "values = embeddings @ W_value  # should be other_embeddings",
            language="python",
        )
        st.markdown(words.swapped_words(trace))
        if problem := words.torch_says(trace):
            st.code(problem, language=None)
        st.markdown(
            "**PyTorch’s own layer.** `nn.MultiheadAttention` takes three inputs. With the same "
            "one three times it is self-attention; here `query` is your sentence, `key` and "
            "`value` are the source. Its `key_padding_mask` hides padding, and is True where it is "
            "*hidden*: a mask here is True where a key may be seen."
        )
        light(*torch_agrees(trace))
        light(*torch_agrees(lesson.padded(values)))
        light(*sums_verdict(trace, "context_vectors"))
        known = ("queries", "keys", "values")
        for each in (r"Q = X W_Q", r"K = Y W_K", r"V = Y W_V"):
            st.latex(each)
        st.latex(trace.formula("context_vectors", known=known))
        st.markdown(
            "X holds the vectors of your sentence, Y those of the source. With Y = X this is "
            "self-attention."
        )

answers(
    [words.who_asks(trace, asks), words.why_any_length(trace), words.what_is_mixed(trace, asks)],
    covered,
)
ends(trace, "context_vectors")
