"""What the lesson says of its numbers, and what its question asks."""

from collections.abc import Iterable

from torch import Tensor

from attention_core.text.inputs import TRAINED
from attention_core.text.tokenizers import TOKENIZERS, visible
from attention_core.trace import Trace

from ...cards.questions import Pick, Verdict
from ...controls.shared import inputs_of, numbered_tokens
from ...frame.ends import closes, named
from ...reactive.control import Values
from ...words import repeated
from .merges import as_it_stands, learned_from, pieces_of

IN_ORDER = "the tokens in sorted order"


def tokens_words(values: Values) -> str:
    """How many tokens there are, and the rule that cut them."""
    tokens = inputs_of(values).tokens
    rule = TOKENIZERS[values.tokenizer].rule
    return f"{_count(len(tokens), 'token')}, {len(set(tokens))} distinct. {rule}"


def vocabulary_words(values: Values) -> str:
    """How many rows the vocabulary has, and in which order."""
    inputs = inputs_of(values)
    if inputs.vocabulary == "random":
        return (
            "There is no vocabulary here: each place gets a random id below 20,000. One published "
            "notebook does so, and it is a mistake: a repeated word gets two ids, two words may "
            "share one, and every other seed gives other ids."
        )
    vocabulary = inputs.build_vocabulary()
    order = "every word that the network learned" if inputs.vocabulary == TRAINED else IN_ORDER
    words = f"The vocabulary has {_count(len(vocabulary.rows()), 'row')}: {order}"
    if vocabulary.reserved:
        words += (
            f", then {len(vocabulary.reserved)} reserved, for tokens it does not know and for "
            "filling up short sentences"
        )
    return f"{words}."


def unknown_words(values: Values) -> str:
    """Which tokens the vocabulary does not have; "" for none. Quotes the person."""
    inputs = inputs_of(values)
    if inputs.vocabulary == "random":
        return ""
    unknown = inputs.build_vocabulary().unknown(inputs.tokens)
    if not unknown:
        return ""
    listed = ", ".join(map(visible, unknown))
    return f"Not in the vocabulary, so they get the row for unknown tokens: {listed}"


def unused_words(values: Values) -> str:
    """Which rows a vocabulary with duplicates never uses; "" for none."""
    inputs = inputs_of(values)
    if inputs.vocabulary != "duplicates":
        return ""
    vocabulary = inputs.build_vocabulary()
    unused = sorted({*range(len(vocabulary.rows()))} - {*vocabulary.ids(inputs.tokens)})
    if not unused:
        return ""
    rows = f"{'Rows' if unused[1:] else 'Row'} {_rows(unused)} {'are' if unused[1:] else 'is'}"
    return f"{rows} never used: the sorted list was numbered before its duplicates were removed."


def identical(trace: Trace, values: Values) -> Pick:
    """Which rows of the embeddings are like that of one token, if possible of one that is there
    twice.
    """
    vectors = trace["embeddings"].value
    asked, called = asked_token(trace), numbered_tokens(values)
    others = [place for place in range(len(vectors)) if place != asked]
    return Pick(
        words="Which other rows of `embeddings` will be identical to this one?",
        asked=f"Row {called[asked]}",
        choices=[called[place] for place in others],
        judge=lambda guess: judge_identical([others[at] for at in guess], asked, vectors),
        truth=lambda: like_it_words(asked, vectors),
        many=True,
        at={"token": (asked,)},
        teaches="The same id picks the same row, but each place adds a vector of its own."
        if values.positions
        else "The same id always picks the same row: what a vector says is which token it is, not "
        "where it stands.",
    )


def identical_rows(vectors: Tensor) -> list[list[int]]:
    """The groups of rows (of two or more) that are equal in every entry."""
    groups: dict[tuple[float, ...], list[int]] = {}
    for place, vector in enumerate(vectors.tolist()):
        groups.setdefault(tuple(vector), []).append(place)
    return [group for group in groups.values() if len(group) > 1]


def identical_words(vectors: Tensor, picked: Tensor, values: Values) -> str:
    """Which rows of vectors (token, d_in), or rows that were `picked`, are still equal, and why."""
    groups, alike = identical_rows(vectors), identical_rows(picked)
    if not groups and alike:
        added = "each place adds a vector of its own" if values.positions else "more is added"
        return (
            f"In `token_embeddings`, {_groups(alike)} are equal: the same id picks the same row. "
            f"Further down, {added}: every row of `embeddings` is different, so attention can "
            "tell all tokens apart."
        )
    if not groups:
        return "Every row is different, so attention can tell all tokens apart."
    listed = _groups(groups)
    words = f"Identical: {listed}. Nothing in these vectors says where a token stands" + (
        "." if values.positions else ": turn on *Positions* below and they will differ."
    )
    tokens = inputs_of(values).tokens
    each = [{tokens[place] for place in group} for group in groups]
    if any(len(these) > len({token.casefold() for token in these}) for these in each):
        words += (
            " Two tokens that differ only by a capital letter have an id and a row each: in this "
            "example both rows hold the same numbers."
        )
    return words


def _groups(groups: list[list[int]]) -> str:
    return "; ".join("rows " + _rows(group) for group in groups)


def asked_token(trace: Trace) -> int:
    """The token whose row is asked for: where a token comes again, its second place."""
    ids = trace["token_ids"].value.tolist()
    return next((at for at, each in enumerate(ids) if each in ids[:at]), 0)


def judge_identical(guess: list[int], asked: int, vectors: Tensor) -> Verdict:
    """Whether a guess of the rows that are like the asked one is right, and what is amiss."""
    truth = rows_like_it(asked, vectors)
    if {*truth} == {*guess}:
        return Verdict(True, f"Right: {_rows(truth)}.")
    return Verdict(False, f"{like_it_words(asked, vectors)} {_amiss(truth, guess)}")


def _amiss(truth: list[int], guess: list[int]) -> str:
    extra, missed = sorted({*guess} - {*truth}), sorted({*truth} - {*guess})
    told = [f"you missed {_rows(missed)}"] if missed else []
    told += [f"you took {_rows(extra)}, which differ{'' if extra[1:] else 's'}"] if extra else []
    return f"{' and '.join(told).capitalize()}."


def rows_like_it(asked: int, vectors: Tensor) -> list[int]:
    """The places of all other rows that are identical to one."""
    return [at for at, each in enumerate(vectors) if at != asked and each.equal(vectors[asked])]


def like_it_words(asked: int, vectors: Tensor) -> str:
    """Which rows those are."""
    rows = rows_like_it(asked, vectors)
    if not rows:
        return f"None of them: row {asked} of `embeddings` differs from all others."
    return f"The row is {_rows(rows)}." if len(rows) == 1 else f"The rows are {_rows(rows)}."


def _rows(places: Iterable[int]) -> str:
    return ", ".join(map(str, places)) or "none"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


@closes("Why are there tokens, and not words?", "learned")
def why_tokens(values: Values) -> str:
    """With the text that tokens are learned from, and the other word."""
    text, word, n = values.merge_text, as_it_stands(values.new_word), values.merges
    return (
        "No list of words is complete, but parts that many words share can cut any: "
        f"{pieces_of(text, word, n)}. The text has {len(text.encode())} bytes, and "
        f"{len(learned_from(text).cut(text, n))} tokens."
    )


@closes("Why does a blank make another token?", "learned")
def why_blanks_count(values: Values) -> str:
    """With the other word, with a blank and without."""
    word, n = values.new_word.strip() or values.new_word, values.merges
    bare, within = (pieces_of(values.merge_text, each, n) for each in (word, f" {word}"))
    return (
        "A blank goes with the word after it, so “ tokens” and “tokens” are different bytes: they "
        f"have two ids, and two vectors. Here: {within}, and {bare} where a text begins."
    )


@closes("What is the id of a token?", "ids")
def what_an_id_is(trace: Trace) -> str:
    """With the first token that is no blank."""
    words = [place for place, token in enumerate(trace.labels("token")) if not token.isspace()]
    place = words[0] if words else 0
    row = f"{int(trace['token_ids'].value[place]):,}"
    return (
        f"The number of its row in the table. {named(trace, 'token', place)} has id {row}, so it "
        f"takes row {row}. An id is only a name: a larger one does not mean more of anything."
    )


@closes("Why do equal words get equal vectors?", "lookup", "embeddings")
def why_equal(trace: Trace, values: Values) -> str:
    """With a token that stands in the sentence twice, if one does."""
    tokens = trace.labels("token")
    pair = repeated(tokens)
    ids, vectors = trace["token_ids"].value.tolist(), trace["embeddings"].value
    if pair is None and values.vocabulary == "random":
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
