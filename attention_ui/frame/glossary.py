"""The words of the lessons, in a drawer that opens from any page."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from attention_core.symbols import SYMBOLS

from ..controls import held
from .contents import HOME, lesson


@dataclass(frozen=True)
class Term:
    """A word, what it means, and the page that explains it.

    `names` are what code and pictures call it, with blanks between them: steps or controls.
    """

    word: str
    meaning: str
    page: str
    names: str = ""

    def heading(self) -> str:
        """The word, its names, and their symbols in formulas, as Markdown."""
        named = [
            f"`{name}`" + (f" ${SYMBOLS[name]}$" if name in SYMBOLS else "")
            for name in self.names.split()
        ]
        return f"**{self.word}**" + (" · " + ", ".join(named) if named else "")


_WORDS = """
activation: transformer_block
A curve that every number goes through by itself. Without one, two linear layers would be no more
than one. ReLU turns numbers below 0 into 0; GELU does so with a rounded corner.

ALiBi: attention_today
Attention with linear biases: each score loses something for every place between its query and its
key. Each head has a slope of its own, and nothing is learned.

attention: home
How each word of a sentence finds the others that matter to it, and takes up something of them.
Queries and keys decide where it looks, values what it finds there.

attention sink: attention_today: sinks
One of the first keys, which stays visible outside of a sliding window. Softmax must put its weight
somewhere: where nothing fits, trained models leave it there.

backward pass: how_a_matrix_learns
The way from the loss back to every number that it is made of, step by step. It gives the gradients
of all of them at once, for about twice the work of the way there.

cache: attention_today
The keys and values of all tokens so far, kept while a model writes, so that each new token needs
only its own query, key and value. It grows with every token.

causal mask: causal_mask: mask
A table that says of each query and key whether the one may look at the other; True means it may.
The causal mask hides every later token, so that a model cannot copy the word it should predict.

context vector: simplified_attention: context_vectors
A token's new vector, with something of the other tokens in it: the mean of all values, weighted by
the token's row of weights. Where there are no values yet, the embeddings themselves are mixed.

cross-attention: cross_attention
Attention from one sentence to another: queries come from the first, keys and values from the
second, the source. This is how a translator looks at the text to translate.

dot product: simplified_attention
One number for how well two vectors fit, written q·k: multiply them entry by entry, and add up the
products. It is large when both are long and point the same way.

dropout: causal_mask: dropped_weights
Setting some weights to 0 by chance while a model trains, so that no query relies on a single key.
Those that are left are scaled up to make up for it.

embedding: tokenize_and_embed: embeddings embedding_table
The vector that stands for a token: the row of a table that its id picks. A sentence has one for
each token, and attention starts from them.

entry: tokenize_and_embed
One number in a vector or a matrix; those of a vector are also called its components. Pictures count
them from 0, beginning with `d0`, unless the example gives them names.

feed-forward: transformer_block: feed_forward_output
Two linear layers with an activation between them, for each token by itself: it makes something new
of what a token has gathered. Llama's SwiGLU multiplies two first layers, one of them activated.

flash attention: flash_attention: tile_queries tile_keys
Attention that never holds the whole table of weights: it goes through keys and values tile by tile,
and comes to the same context vectors.

gradient: how_a_matrix_learns
How much a result changes when you nudge one of the numbers it is made of. It tells training which
way to change each parameter; where it is nearly 0, little is learned.

grouped-query attention: attention_today: kv_heads
Several query heads share one head of keys and values, so that fewer are kept while a model writes.
With one for all heads it is called multi-query attention.

head: multi_head_attention: n_heads
One of several attentions that look at the same sentence side by side. Each has queries, keys and
values of its own, so each can look for something else.

id: tokenize_and_embed: token_ids
The whole number that a token goes by: it picks the token's row in the table of embeddings. It is
only a name, so id 8 is not twice id 4.

induction head: heads_learning
A head that continues what repeats: it looks at the token that came after the query's own token last
time, and hands it on as the next one.

joined heads: multi_head_attention: concat
The context vectors of all heads, side by side in one row for each token. Nothing is computed here;
the mixing is left to the output matrix.

key: queries_keys_values: keys
What a token can be found by. Each query is compared with every key: the better the two fit, the
more weight that token gets.

layer: whole_layer
All the steps of attention, once through, from embeddings to output. A language model has many
layers, each working on what the one before it gave.

layer norm: transformer_block: attention_normed feed_forward_normed
A token's numbers, moved and scaled so that their mean is 0 and their variance 1. Then each column
has a learned gain and bias. Llama's RMSNorm only scales, with a gain.

learning rate: how_a_matrix_learns: update_rate
How far one update goes: every parameter moves by this many times its gradient, against it. Too
small a rate takes long; with too large a one the loss rises.

logit: tiny_language
A model's score for one word of its vocabulary: how strongly it expects that word next. Softmax
turns the logits of all words into probabilities.

loss: how_a_matrix_learns: loss
One number for how far a model is from what it should do, such as how little chance it gives to the
right next token. Training makes it fall.

minus infinity (−∞): causal_mask: masked_scores
What a mask puts in the place of a hidden score. Softmax takes e to the power of each score, and e
to the power of −∞ is exactly 0: a hidden key gets no weight at all.

output matrix: multi_head_attention: W_output
The matrix that mixes the joined heads into the output of the layer. Until then, no head knows what
the others found.

padding: cross_attention
Places that fill a short sentence up to the length of others, so that they can be read together.
They mean nothing, so a mask hides them from every query.

parameter: tokenize_and_embed
A number that training may change, such as an entry of the table of embeddings or of `W_query`.
Scores and weights are not parameters: they are computed anew for every sentence.

position: tokenize_and_embed: position_embeddings
Where a token stands in its sentence. Attention by itself does not notice order, so a vector for
each place can be added to the embeddings.

previous-token head: heads_learning
A head that looks at the token just before. It writes into each token's vector what came before it,
so that a head of a later layer can look for that.

query: queries_keys_values: queries
What a token asks for. It is compared with every key, in self-attention its own included, and each
comparison gives a score.

residual connection: transformer_block: after_attention
The output of a part is added to the stream, which goes on: nothing is replaced. A part that gives 0
changes nothing.

residual stream: transformer_block
The vector of a token on its way through a model. Each part reads it and adds to it, so the sum of
all that was added is what goes out.

rotary positions: attention_today
Queries and keys are turned, a pair of columns at a time, by an angle that grows with their place:
the first pair fastest. A score then depends on how far apart two tokens stand, not on where.

scaled score: divide_by_sqrt_d: scaled_scores
A score divided by √d, the square root of the width of the vectors that were compared. Undivided,
the scores of wide vectors grow so large that softmax gives nearly everything to one key.

score: simplified_attention: scores
How well a query fits a key: their dot product. It can be any number, also one below 0; softmax
turns a row of scores into weights.

seed: tokenize_and_embed
The number that random numbers start from. The same seed always draws the same numbers, so others
can see exactly what you see.

self-attention: home
Attention within one sentence: every token may look at every token of it, itself included. All
lessons but the one on cross-attention are about this kind.

sliding window: attention_today: window
A mask that lets a query see only the last few keys, its own included. So a long text needs no
larger cache than a short one.

soft cap: attention_today: soft_cap
A bound that scores never leave: large ones are pressed towards it by cap · tanh(score / cap), small
ones stay nearly as they are.

softmax: softmax_or_sum
A way to turn a row of scores into shares: take e to the power of each, then divide by the sum of
these. No share is below 0, together they make 1, and the largest score gets the most.

temperature: whole_layer
A number that all scores are divided by before they become shares. A low one lets the largest score
of a row take nearly everything; a high one evens the weights out. Equal scores keep equal shares at
any temperature.

token: tokenize_and_embed
A piece of text that is handled as one: a word, a comma, sometimes a blank. Each token of a sentence
gets a vector of its own.

tokenizer: tokenize_and_embed
The rule that cuts a text into tokens. Another rule cuts elsewhere: some keep the blanks, for
example, and some drop them.

trainable matrices: queries_keys_values: W_query W_key W_value
Three tables of numbers: multiply an embedding by each, and you get its query, its key and its
value. Their entries are parameters, and all tokens share them.

training: queries_keys_values
Changing the parameters in many small steps, so that the *loss* falls: one number for how wrong the
predictions are. Gradients say which way each step should go.

transformer block: transformer_block
Attention and a feed-forward, each with a layer norm and a residual connection. In a translator's
decoder, cross-attention stands between the two; decoder-only models such as GPT have none.

value: queries_keys_values: values
What a token hands on. The more weight its key gets from a query, the more of its value enters that
query's context vector.

variance: divide_by_sqrt_d
How far numbers spread: the mean of their squared distances from their own mean. Its square root is
the standard deviation. Scores that spread far make softmax all or nothing.

vector: tokenize_and_embed
A list of numbers. Embeddings, queries, keys and values are all vectors, and two of the same width
can be compared by their dot product.

vocabulary: tokenize_and_embed
All tokens that have an id. Here they come from a single sentence; a language model knows tens of
thousands.

weight: simplified_attention: weights
The share of its attention that a query gives to one key: a row of weights sums to 1. Elsewhere a
model's parameters are called weights too; here they never are.

width: tokenize_and_embed: d_in d_query d_head d_model
How many numbers a vector has, d for short. Embeddings, queries, heads and the output can each have
a width of their own.
"""
"""Each term after an empty line: `word: page: names`, then what it means."""


def _term(written: str) -> Term:
    head, _, meaning = written.partition("\n")
    word, page, *names = head.split(": ")
    return Term(word, meaning.replace("\n", " "), page, *names)


TERMS = tuple(map(_term, _WORDS.strip().split("\n\n")))


def _forms(word: str) -> str:
    """A pattern for the singular and the plural of a word."""
    singular = word.partition(" (")[0]
    plural = re.sub("ry$", "rie", singular) + "s"  # query, vocabulary; but key
    return rf"\b(?:{re.escape(singular)}|{re.escape(plural)})\b"


_FOUND_BY = {
    term: re.compile(_forms(term.word), re.IGNORECASE)
    for term in sorted(TERMS, key=lambda term: -len(term.word))
}
"""Longer words first: what is a “causal mask” is not looked up as a “mask”."""


def terms_in(words: str) -> list[Term]:
    """The terms that stand in a paragraph, in its order. Names in code are none."""
    left = re.sub(r"`[^`]*`|\$[^$]*\$", "", words)
    found = []
    for term, pattern in _FOUND_BY.items():
        if match := pattern.search(left):
            found.append((match.start(), term))
            left = pattern.sub(lambda each: " " * len(each[0]), left)
    return [term for _, term in sorted(found, key=lambda one: one[0])]


def meanings(terms: Sequence[Term]) -> str:
    """What the terms mean, as Markdown."""
    return "\n\n".join(f"**{term.word}**: {term.meaning}" for term in terms)


@st.fragment
def title_and_glossary() -> None:
    """The app's title, and a button that opens the glossary. A part of its own: a click draws the
    drawer and nothing else, and no slider draws it again.
    """
    with st.container(
        horizontal=True,
        horizontal_alignment="distribute",
        vertical_alignment="center",
        gap=None,
        key="app_title",
    ):
        st.markdown(f"**{HOME.title}**", width="content")
        is_offered = "glossary" not in held.names_in("hide")
        if is_offered and st.button("Glossary", type="tertiary", key="glossary"):
            _glossary()


@st.dialog("Glossary", position="right")
def _glossary() -> None:
    st.caption(
        "Names such as `queries` stand in pictures and in programs, letters such as $Q$ in "
        "formulas. Each link leads to where the word is explained, with your settings."
    )
    query = held.link_query("glossary")
    for term in TERMS:
        page = lesson(term.page)
        with st.container(gap=None):
            with st.container(
                horizontal=True,
                horizontal_alignment="distribute",
                vertical_alignment="center",
                gap=None,
            ):
                st.markdown(term.heading(), width="content")
                label = "Home" if page is HOME else page.title
                st.page_link(page.page, label=label, icon=page.icon, query_params=query)
            st.markdown(term.meaning)
