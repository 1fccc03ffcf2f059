"""What the first lesson leaves its reader able to answer."""

from attention_core.text.tokenizers import visible
from attention_core.trace import Trace

from ...page.closing import Answer, named
from ...page.view import View
from ...words import repeated


def answers(view: View) -> list[Answer]:
    """On ids, on equal words, and on the parameters of the table."""
    trace = view.trace
    rows, columns = trace["embedding_table"].value.shape
    return [
        Answer("What is the id of a token?", what_an_id_is(trace), "ids"),
        Answer("Why do equal words get equal vectors?", why_equal(view), "lookup", ("embeddings",)),
        Answer(
            "Which numbers of the table can training change?",
            "All of them, and each is a parameter: rows times columns, here "
            f"{rows:,} × {columns} = {rows * columns:,}. The ids never change; they only say which "
            "row belongs to which token.",
            "lookup",
        ),
    ]


def what_an_id_is(trace: Trace) -> str:
    """With the first token that is no blank."""
    words = [place for place, token in enumerate(trace.labels("token")) if not token.isspace()]
    place = words[0] if words else 0
    row = f"{int(trace['token_ids'].value[place]):,}"
    return (
        f"The number of its row in the table. {named(trace, 'token', place)} has id {row}, so it "
        f"takes row {row}. An id is only a name: a larger one does not mean more of anything."
    )


def why_equal(view: View) -> str:
    """With a token that stands in the sentence twice, if one does."""
    trace, tokens = view.trace, view.trace.labels("token")
    pair = repeated(tokens)
    ids, vectors = trace["token_ids"].value.tolist(), trace["embeddings"].value
    if pair is None and view.settings.vocabulary == "random":
        return (
            "Here they need not: ids are drawn at random for each place, so a repeated word may "
            "get two. With a vocabulary, an equal word has an equal id."
        )
    if pair is None:
        return (
            "An equal word has an equal id, and an id always picks the same row of the table. No "
            "word stands in this sentence twice: repeat one, and compare its two rows."
        )
    first, second = pair
    stands = f"“{visible(tokens[first])}” stands at places {first} and {second}"
    if ids[first] != ids[second]:
        return (
            f"Here they do not: ids are drawn at random for each place. {stands}, and takes rows "
            f"{ids[first]:,} and {ids[second]:,}. With a vocabulary, an equal word has an equal id."
        )
    has = f"{stands}, and has id {ids[first]:,} at both."
    if "layer_0_stream" in trace:
        return (
            f"They get the same row of the table: {has} The vectors that you see have come "
            "further: the network's first layer has added what it found before each place, so the "
            "two differ."
        )
    if not vectors[first].equal(vectors[second]):
        return (
            f"They get the same row of the table: {has} But Positions is on, so each place adds a "
            "vector of its own, and the sums differ."
        )
    return (
        "An equal word has an equal id, and an id always picks the same row of the table. "
        f"{has} Its vector does not say where it stands."
    )
