"""Tokens that are learned from a text: the controls of the card, and what is said of it."""

from functools import lru_cache

from attention_core.text.byte_pairs import Learned, learn_merges, written

from ...controls.fields import Sentence
from ...frame import take_away
from ...picture.layout import Layout
from ...reactive.control import Control, Values
from ...reactive.fields import Whole
from ...words import in_bytes
from .merges_picture import cut_anew

MOST, START = 16, 5
MOST_BYTES, MOST_OF_WORD = 200, 40
EXAMPLE, NEW = "old older oldest cold colder long longer longest strong stronger", "coldest"


BYTES = (
    "Merges join **bytes**, since every text is made of the same 256. A letter of English is one "
    "byte, é is two, 好 three and 🙂 four. Type one of them above: until its bytes are one token, "
    "each is shown by itself, as two hexadecimal digits. ‹C3…› begins é, and ‹…A9› ends it. So a "
    "tokenizer like this can cut any text, but a rare character takes several tokens. "
    "Real vocabularies begin with all 256 bytes; here only those of your text are counted."
)


MERGE_TEXT = Control("merge_text", Sentence(most_bytes=MOST_BYTES), "Text to learn from", EXAMPLE,
                     "text_input", of_page=True)  # fmt: skip
NEW_WORD = Control("new_word", Sentence(most_bytes=MOST_OF_WORD), "Another word", NEW,
                   "text_input", of_page=True)  # fmt: skip
MERGES = Control("merges", Whole(0, MOST), "Merges so far", START, of_page=True)


@lru_cache(maxsize=32)
def learned_from(text: str) -> Learned:
    """What is learned from a text: a merge more than the slider shows, which is joined next."""
    return learn_merges(text, MOST + 1)


def as_it_stands(word: str) -> str:
    """A word with the blank before it, as it stands within a text."""
    return word if word[:1].isspace() else f" {word}"


def cut_at(text: str, word: str, n_merges: int) -> Layout:
    """The picture at a position of the slider."""
    return cut_anew(learned_from(text), text, as_it_stands(word), n_merges, MOST)


def pieces_of(text: str, word: str, n_merges: int) -> str:
    """A word in its tokens, as a sentence has them."""
    return " | ".join(map(written, learned_from(text).cut(word, n_merges)))


def cost_words(text: str, n_merges: int) -> str:
    """What a vocabulary costs, and what it saves, by the numbers of the text."""
    learned = learned_from(text)
    n_bytes, n = len(text.encode()), len(learned.cut(text, n_merges))
    rows, joined = learned.n_rows(n_merges)
    return (
        f"Here the text is {n_bytes} bytes long and has {n} tokens after {n_merges} merges; the "
        f"table has {rows} + {joined} rows. Each merge is one more row of the table, which has to "
        "be learned and kept. It saves a token wherever its pair stands, and attention compares "
        f"every token with every other: {n_bytes**2:,} scores for single bytes, {n**2:,} now. "
        "Every entry of a table is a **parameter**: GPT-2’s has 50,257 rows of 768 numbers, "
        f"{50_257 * 768:,} in all, {in_bytes(4 * 50_257 * 768)} as float32."
    )


def tie_words(text: str, n_merges: int) -> str:
    """How many pairs could be next."""
    n = learned_from(text).n_next(n_merges)
    if not n:
        return "No pair is left in this text: every word is one token."
    now = "one pair is the most frequent" if n == 1 else f"{n} pairs are equally frequent"
    return (
        f"After {n_merges} merges, {now}. Of several, the one is joined whose first token is older "
        "in the vocabulary, then the one whose second is; the letters come first, in order. "
        "Another rule would make other tokens, so the rule is part of a tokenizer."
    )


def take_along(values: Values) -> None:
    """The program and the notebook of all merges."""
    learned = learned_from(values.merge_text)
    if learned.merges:
        take_away.take_along("merges", learned.trace, take_away.DOWNLOADS[:2])
