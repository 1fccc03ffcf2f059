"""Tokenizers, how tokens are written, vocabularies: many scripts, and properties."""

import time
import tomllib
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_core.text.tokenizers import TOKENIZERS, clean, visible
from attention_core.text.vocabulary import Vocabulary

split_text = TOKENIZERS["text"].split

# Every kind of character the grammar knows, often side by side, and anything else now and then.
AWKWARD = (
    "aÉß9٣½.,'’-_?!…()“#$=€ \t\n\u00a0\u3000\u200b\u0301\u0e34\u093f\u094d\u0652\u0640عשक한"
    "漢𠮷々〇ひカーｶﾞ👍🏽👩❤\ufe0f\u20e3🇫🇷🏴\U000e0067\U000e007f\u200d\u200c\u00ad\u200e\u202e"
    "\u2067\ufeff\x00\x1b\x85\ud800\udfff\uffff\ue000\U0001faff\u3164\u06dd\r"
)
texts = st.text(
    st.one_of(st.sampled_from(AWKWARD), st.characters(exclude_categories=())), max_size=30
)
property_test = settings(max_examples=100, deadline=None)


def is_dropped(char: str) -> bool:
    """Said apart from the tokenizer: blanks, and characters that have no place of their own."""
    code = ord(char)
    return (
        char.isspace()
        or char in "\u115f\u1160\u2800\u3164\uffa0"
        or unicodedata.category(char) in ("Cc", "Cf", "Cs")
        or code % 0x10000 >= 0xFFFE
        or 0xFDD0 <= code <= 0xFDEF
    )


def can_be_seen(token, *but):
    """Whether no character is a blank, in one of these categories, or leaves no mark."""
    unseen = "\u200b\u00ad\u200e\u200f\u202e\u2066\u2067\u2069\ufeff\uffff\u3164"
    return not any(
        char.isspace() or char in unseen or unicodedata.category(char) in but for char in token
    )


@pytest.mark.parametrize("name", TOKENIZERS)
def test_a_text_of_nothing_has_no_tokens(name):
    assert TOKENIZERS[name].split("") == []
    if name != "blanks_kept":
        assert TOKENIZERS[name].split(" \t\n\u00a0\u3000\u2029") == []


# "text", script by script: the tokens are written with a bar between them

CUT = [
    *tomllib.loads(Path(__file__).with_name("cut_texts.toml").read_text("utf-8"))["text"].items()
]
UNSEEN = ("\x00", "\x1b", "\x7f", "\u00ad", "\u200e", "\u202e", "\u2066", "\u2060", "\ufeff")
UNSEEN += ("\ud800", "\udfff", "\ufdd0", "\uffff", "\U0010fffe")
CUT += [(f"co{char}operate {char}", "cooperate") for char in UNSEEN]


@pytest.mark.parametrize(("text", "tokens"), CUT)
def test_text_is_cut_into_what_a_reader_of_its_script_sees_as_one(text, tokens):
    assert split_text(text) == tokens.split("|")


@property_test
@given(texts)
def test_text_loses_nothing_but_what_cannot_be_seen_and_a_token_is_one_token(text):
    tokens = split_text(text)
    for token in tokens:
        assert split_text(token) == [token] != [""]
        assert can_be_seen(token, "Cc", "Cs")
    expected = [char for char in text if not is_dropped(char)]
    assert [char for char in "".join(tokens) if not is_dropped(char)] == expected


@pytest.mark.parametrize(
    "unit", ["a", "1.", "a\u200c", "e\u0301", "\u0301", "1\u0301", "😀\u200d", "🇫", "?", "ｶﾞ"]
)
def test_text_of_100_000_characters_takes_no_longer_than_a_moment(unit):
    started = time.process_time()
    split_text(unit * (100_000 // len(unit)))
    assert time.process_time() - started < 1


# The other rules


@property_test
@given(texts)
def test_blanks_kept_tokens_joined_are_the_text(text):
    tokens = TOKENIZERS["blanks_kept"].split(text)
    assert "".join(tokens) == text
    assert all(tokens)
    assert all(len(token) == 1 for token in tokens if token.isspace())


@pytest.mark.parametrize(("rule", "text", "tokens"), [
    ("blanks_kept", "The  dog,\n\tyes.", "The| | |dog,|\n|\t|yes."),
    ("lower_words", "Life is short, EAT!", "life|is|short|eat"),
    ("lower_words", "I CAN'T — a Well-Known 'truth': 3.14 🙂", "i|can't|a|well-known|truth|3.14"),
    ("lower_words", "ÉCOLE ΟΔΟΣ ЁЖ Straße", "école|οδος|ёж|straße"),  # lower: ß stays
    ("lower_words", "我爱，हिन्दी।", "我|爱|हिन्दी"),
])  # fmt: skip
def test_the_other_rules_cut_as_they_say(rule, text, tokens):
    assert TOKENIZERS[rule].split(text) == tokens.split("|")


# How a token is written


PLAIN = ("cat", "a" * 5000, "👨\u200d👩\u200d👧", "❤️", "می\u200cخواهم", "क्\u200dष", "العـــربية")
PLAIN += ("🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f", "\U0001faff")
PLAIN += ("葛\U000e0100", "\u06dd١", "<b>*x*", "‹U+200B›", "␣")
"""Joined characters and markup stand as they are, and nothing is shortened."""


@pytest.mark.parametrize(("token", "written"), [
    *((token, token) for token in PLAIN), (" ", "␣"), ("\n", "↵"), ("\t", "⇥"), ("a b", "a␣b"),
    ("\r", "‹U+000D›"), ("\u00a0", "‹U+00A0›"), ("\u3000", "‹U+3000›"), ("\u200b", "‹U+200B›"),
    ("co\u00adop", "co‹U+00AD›op"), ("x\u202ey", "x‹U+202E›y"), ("\u200d", "‹U+200D›"),
    ("a\u200cb", "a‹U+200C›b"),  # a non-joiner that no eye could find
    ("\u0378", "‹U+0378›"), ("\ue000", "‹U+E000›"),  # unassigned, and of private use
    ("\ud800", "‹U+D800›"), ("\uffff", "‹U+FFFF›"), ("\U000e0061", "‹U+E0061›"),
    ("\u3164", "‹U+3164›"), ("\u0301", "◌\u0301"), ("\u0301\u0302", "◌\u0301\u0302"),
    (" \u0301", "␣◌\u0301"), ("e\u0301", "e\u0301"), ("", "‹empty›"),
])  # fmt: skip
def test_visible_writes_what_cannot_be_seen(token, written):
    assert visible(token) == written


@property_test
@given(texts)
def test_visible_is_never_empty_and_has_no_blank_or_control_character(token):
    written = visible(token)
    assert written
    assert not unicodedata.category(written[0]).startswith("M")
    assert can_be_seen(written, "Cc", "Cs", "Co")
    assert visible(written) == written


# Cleaning


@pytest.mark.parametrize(
    ("text", "cleaned", "n_removed"),
    [
        ("plain text\n\ttab", "plain text\n\ttab", 0),
        ("a\r\nb\rc", "a\nb\nc", 0),
        ("a\x00b\x1b[31m\x7f\x85", "ab[31m", 4),
        ("\u202egnirts\u202c \u2066x\u2069\u200e\u200f\u061c", "gnirts x", 7),
        ("\ufeffBOM", "BOM", 1),
        ("\ud800a\udfff", "a", 2),
        ("\ufdd0\ufffe\U0010ffff", "", 3),
        ("e" + "\u0301" * 8, "e" + "\u0301" * 8, 0),
        ("e" + "\u0301" * 50 + "e\u0301", "e" + "\u0301" * 8 + "e\u0301", 42),
        ("e" + "\u0301\u200d" * 9, "e" + "\u0301\u200d" * 8 + "\u200d", 1),
        ("cafe\u0301 café ﬁ ①", "cafe\u0301 café ﬁ ①", 0),  # no normal form is forced
        ("می\u200cخواهم", "می\u200cخواهم", 0),
        ("👨\u200d👩\u200d👧 क्\u200dष", "👨\u200d👩\u200d👧 क्\u200dष", 0),
        ("", "", 0),
    ],
)
def test_clean_removes_what_does_harm_and_counts_it(text, cleaned, n_removed):
    assert clean(text) == (cleaned, n_removed)


@property_test
@given(texts)
def test_clean_twice_is_clean_once_and_the_count_is_the_difference(text):
    cleaned, n_removed = clean(text)
    assert clean(cleaned) == (cleaned, 0)
    assert n_removed == len(text.replace("\r\n", "\n")) - len(cleaned)
    cleaned.encode("utf-8")
    assert not any(unicodedata.category(char) == "Cc" for char in cleaned if char not in "\t\n")


# --- vocabularies ---------------------------------------------------------------------------------
@property_test
@given(st.lists(st.sampled_from(["a", "b", "B", " ", "é", "漢", "<unk>", "<pad>", "c"])))
def test_distinct_ids_and_tokens_are_each_other_s_inverse(tokens):
    vocabulary = Vocabulary.distinct(tokens)
    ids = vocabulary.ids(tokens)
    assert [vocabulary.token(row) for row in ids] == tokens
    assert set(ids) == set(range(vocabulary.n_rows - 2))
    assert vocabulary.unknown(tokens) == []
    assert len(set(vocabulary.rows())) == vocabulary.n_rows == len(vocabulary.rows())


def test_unknown_names_each_token_once_in_order_of_appearance():
    vocabulary = Vocabulary.distinct(["the", "cat"])
    assert vocabulary.unknown(["wild", "the", "dog", "wild", "The"]) == ["wild", "dog", "The"]


@pytest.mark.parametrize(
    "vocabulary",
    [Vocabulary.distinct(["a"], reserved=("<pad>",)), Vocabulary.with_duplicates(["a"])],
)
def test_an_unknown_token_without_a_row_is_named_with_what_to_do(vocabulary):
    with pytest.raises(ValueError, match=r'^"wild" is not in the vocabulary.*add it to the text'):
        vocabulary.ids(["a", "wild", "cat"])
    with pytest.raises(ValueError, match=r'^"␣" is not in the vocabulary'):
        vocabulary.ids([" "])
    assert vocabulary.unknown(["a", "wild", " "]) == ["wild", " "]


def test_a_token_that_reads_unk_is_not_the_reserved_row():
    vocabulary = Vocabulary.distinct(["<unk>", "a"])
    assert vocabulary.ids(["<unk>", "dog"]) == [0, 2]
    assert vocabulary.rows() == ('"<unk>"', "a", "<unk>", "<pad>")
    assert (vocabulary.token(0), vocabulary.token(2)) == ("<unk>", "<unk>")

    vocabulary = Vocabulary.distinct(["<unk>", "a"], reserved=())
    assert vocabulary.rows() == ("<unk>", "a")
    with pytest.raises(ValueError, match='"dog" is not in the vocabulary'):
        vocabulary.ids(["dog"])


def test_with_duplicates_leaves_the_rows_of_earlier_duplicates_unused():
    tokens = ["life", "is", "short", "eat", "dessert", "first", "is", "life"]
    vocabulary = Vocabulary.with_duplicates(tokens)
    assert vocabulary.rows() == (
        *("dessert", "eat", "first", "(unused)"),
        *("is", "(unused)", "life", "short"),
    )
