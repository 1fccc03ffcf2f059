"""An equation is worked out from its steps: matrices, signs, labels, masks."""

import pytest

from attention_core.examples import EXAMPLES
from attention_core.mechanism.trainable import attend_trainable, expand_token
from attention_core.text.embedding import embed
from attention_ui.lessons.softmax_or_sum.lesson import CONTROLS, trace_of
from attention_ui.picture.equation_parts import NEW_LINE, laid_out
from attention_ui.picture.matrix import Matrix
from attention_ui.reactive.control import understood

EXAMPLE = EXAMPLES["wild_cat"]


@pytest.fixture(scope="module")
def trace():
    return expand_token(attend_trainable(embed(EXAMPLE.inputs, with_product=True)), 2)


def told(parts):
    """An equation in words: ᵀ where a matrix is drawn transposed, * where rows are labelled."""
    return " ".join(
        part if isinstance(part, str) else part.name + "ᵀ" * part.transposed + "*" * part.row_labels
        for part in parts
    )


@pytest.mark.parametrize(("names", "equation"), [
    (["queries"], "embeddings* · W_query* = queries*"),
    (["scores"], "queries* · keysᵀ* = scores*"),
    (["weights"], "scaled_scores* → weights"),
    (["context_vectors"], "weights* · values* = context_vectors*"),
    (["query_scores"], "one_queryᵀ · keysᵀ* = query_scoresᵀ"),
    (["query_weights", "query_context"],
     "scaled_query_scoresᵀ → query_weightsᵀ · values* = query_contextᵀ"),
    (["embeddings"], "token_ids* → embedding_table* = embeddings*"),
    (["embeddings_by_product"], "one_hot* · embedding_table* = embeddings_by_product*"),
    (["embedding_table"], "embedding_table*"),
], ids=lambda value: value[-1] if isinstance(value, list) else "")  # fmt: skip
def test_a_step_is_written_out_as_its_operands_their_signs_and_itself(trace, names, equation):
    assert told(laid_out([trace[name] for name in names])) == equation


def test_steps_that_follow_each_other_are_one_chain():
    trace = trace_of(understood({"example": "wild_cat"}, CONTROLS)[0])
    steps = [trace[name] for name in ("lowered_scores", "exponentials", "softmax_weights")]
    assert told(laid_out(steps)) == (
        "score_row* − largest = lowered_scores → exponentials ÷ exponential_sum = softmax_weights"
    )


def test_labels_begin_anew_on_another_line(trace):
    weights = Matrix(trace["weights"])
    assert told(laid_out([weights, weights, NEW_LINE, weights])) == "weights* weights \n weights*"
