"""What the first lesson leaves its reader able to answer."""

from collections import Counter

from attention_core.trace import Trace

from ...page.closing import Answer, named
from ...page.view import View


def answers(view: View) -> list[Answer]:
    """On ids, on equal words, and on the parameters of the table."""
    trace = view.trace
    rows, columns = trace["embedding_table"].value.shape
    return [
        Answer("What is the id of a token?", what_an_id_is(trace), "ids"),
        Answer("Why do equal words get equal vectors?", why_equal(view), "lookup", ("embeddings",)),
        Answer(
            "Which numbers of the table can training change?",
            f"All of them: rows times columns, here {rows:,} × {columns} = {rows * columns:,} "
            "parameters. The ids stay as they are; they only say which row belongs to which token.",
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
    """With a word that stands in the sentence twice, if one does."""
    trace, settings = view.trace, view.settings
    pair, is_random = repeated(trace.labels("token")), settings.vocabulary == "random"
    if pair is None and is_random:
        return (
            "They need not, here: ids are drawn at random for each place, so a repeated word gets "
            "one id here and another there. With a vocabulary, an equal word has an equal id."
        )
    if pair is None:
        return (
            "An equal word has an equal id, and an id always picks the same row of the table. No "
            "word of this sentence stands in it twice: repeat one, and compare its two rows."
        )
    first, second = pair
    one = f"{named(trace, 'token', first)} and token {second} are the same word"
    ids = [f"{int(trace['token_ids'].value[place]):,}" for place in pair]
    if ids[0] != ids[1]:
        return (
            f"They do not, here: ids are drawn at random for each place. {one}, and take row "
            f"{ids[0]} and row {ids[1]}. With a vocabulary, an equal word has an equal id."
        )
    vectors = trace["embeddings"].value
    if not vectors[first].equal(vectors[second]):
        return (
            f"They take the same row of the table: {one}, and both have id {ids[0]}. But Positions "
            "is on, and each place adds a vector of its own, so what comes out is not equal."
        )
    return (
        f"They have the same id, and an id always picks the same row of the table. {one}, and both "
        f"have id {ids[0]}. Their vectors do not say where they stand."
    )


def repeated(tokens: tuple[str, ...]) -> tuple[int, int] | None:
    """The first two places of a token that stands there more than once, if any does; a word
    rather than a blank.
    """
    twice = [token for token, count in Counter(tokens).items() if count > 1]
    if not twice:
        return None
    token = min(twice, key=str.isspace)
    first = tokens.index(token)
    return first, tokens.index(token, first + 1)
