"""Lesson 2: attention without any trainable matrix."""

from attention_ui.cards.card import card
from attention_ui.cards.show import Moving, moves, picture
from attention_ui.controls.widget import control
from attention_ui.frame.ends import ends
from attention_ui.frame.page import open_lesson
from attention_ui.lessons.simplified_attention.lesson import (
    CONTROLS,
    FACTOR,
    SIMILARITY,
    STRETCH,
    trace_of,
)
from attention_ui.picture.layout import equation
from attention_ui.picture.matrix import Matrix

values = open_lesson("simplified_attention", CONTROLS)
trace = trace_of(values)

with card("scores", "Scores", "Each row asks (the query), each column answers.") as beside:
    with beside:
        control(SIMILARITY)
        control(STRETCH, width=150)
        moves("scores", FACTOR)

    def compared(factor: float):
        other = trace_of(values.but(factor=factor))
        scores = other["scores"]
        vectors = scores.inputs[0]
        return equation(
            other,
            *(Matrix(vectors, title="embeddings"), "·"),
            *(Matrix(vectors, title="embeddingsᵀ", transposed=True), "=", Matrix(scores)),
        )

    picture("scores", compared(values.factor), Moving(FACTOR, compared, elsewhere=True))

ends("simplified_attention", trace, "context_vectors", "simplified")
