"""Tokenizers, and how tokens are written: many scripts, and properties. The published tokens are
held by test_examples.
"""

import time
import unicodedata
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_core.text.tokenizers import TOKENIZERS, clean, visible

split_text = TOKENIZERS["text"].split
split_keeping_blanks = TOKENIZERS["blanks_kept"].split

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


# The list of tokenizers


def test_tokenizers_are_listed_by_name_and_each_has_a_title_and_a_rule_of_one_sentence():
    assert list(TOKENIZERS) == ["text", "blanks_kept", "blanks", "lower_words", "tiny_language"]
    assert all(name == tokenizer.name for name, tokenizer in TOKENIZERS.items())
    assert len({tokenizer.title for tokenizer in TOKENIZERS.values()}) == len(TOKENIZERS)
    for tokenizer in TOKENIZERS.values():
        assert tokenizer.rule.endswith(".")
        assert tokenizer.rule.count(".") == 1
        with pytest.raises(FrozenInstanceError):
            tokenizer.name = "other"


@pytest.mark.parametrize("name", TOKENIZERS)
def test_a_text_of_nothing_has_no_tokens(name):
    assert TOKENIZERS[name].split("") == []
    if name != "blanks_kept":
        assert TOKENIZERS[name].split(" \t\n\u00a0\u3000\u2029") == []


# "text", script by script: the tokens are written with a bar between them

CUT = [
    # latin words numbers and signs
    ("The dog, the cat.", "The|dog|,|the|cat|."),
    ("Sorry Dave, I'm afraid I can't do that.", "Sorry|Dave|,|I'm|afraid|I|can't|do|that|."),
    ("don’t l’homme O'Neill's", "don’t|l’homme|O'Neill's"),
    ("'quoted' “so” dogs' ''", "'|quoted|'|“|so|”|dogs|'|''"),
    ("well-known GPT-4 a\u2010b a\u2011b", "well-known|GPT-4|a\u2010b|a\u2011b"),
    ("wait--what - no- -yes", "wait|--|what|-|no|-|-|yes"),
    ("wait... what?! No!! Hm…", "wait|...|what|?!|No|!!|Hm|…"),
    ("¿Qué? ¡Sí!", "¿|Qué|?|¡|Sí|!"),
    ('f(g(x)). "Yes."', 'f|(|g|(|x|)|)|.|"|Yes|.|"'),
    ("3.14 1,000 v2.0 5. 7, ,5", "3.14|1,000|v2.0|5|.|7|,|,|5"),
    ("$5 50% x==y a->b #tag @me", "$|5|50|%|x|==|y|a|-|>|b|#|tag|@|me"),
    ("snake_case __init__ col·lecció", "snake_case|__|init|__|col·lecció"),
    ("<b>bold</b> **x** `y`", "<|b|>|bold|<|/|b|>|**|x|**|`|y|`"),
    ("x² H₂O ½ № €20", "x²|H₂O|½|№|€|20"),
    ("end.Next n.5 one/two", "end|.|Next|n|.|5|one|/|two"),
    # accents stay on their letter
    ("café naïve Łódź", "café|naïve|Łódź"),
    ("cafe\u0301 nai\u0308ve", "cafe\u0301|nai\u0308ve"),  # accents typed apart
    ("Ti\u1ebfng Vie\u0323\u0302t", "Ti\u1ebfng|Vie\u0323\u0302t"),  # two marks on one letter
    ("Москва́ и ёж", "Москва́|и|ёж"),
    ("Ἑλλάς μῆλον", "Ἑλλάς|μῆλον"),
    ("Երևան։", "Երևան|։"),
    ("!\u0301 (\u0301 =\u0338", "!\u0301|(\u0301|=\u0338"),  # a mark stays on a sign too
    ("a \u0301b", "a|\u0301|b"),  # a mark after a blank has no letter
    # an emoji is what a person sees as one
    ("hi🙂bye", "hi|🙂|bye"),
    ("😀😀😀", "😀|😀|😀"),
    ("👍🏽👍🏿 ☝🏽", "👍🏽|👍🏿|☝🏽"),  # skin tones
    ("❤️☎️ ‼️ ↔️", "❤️|☎️|‼️|↔️"),  # variation selectors
    ("👨\u200d👩\u200d👧👦", "👨\u200d👩\u200d👧|👦"),  # a joined family, and a boy alone
    ("👩🏽\u200d❤️\u200d💋\u200d👨🏿!", "👩🏽\u200d❤️\u200d💋\u200d👨🏿|!"),
    ("🏳️\u200d🌈🏴\u200d☠️", "🏳️\u200d🌈|🏴\u200d☠️"),
    ("🙂\u200d↔️", "🙂\u200d↔️"),
    ("🇫🇷🇩🇪🇯", "🇫🇷|🇩🇪|🇯"),  # two flags, and half of one
    ("1️⃣2️⃣ #️⃣ 5⃣ ab7️⃣", "1️⃣|2️⃣|#️⃣|5⃣|ab|7️⃣"),  # keycaps
    (
        "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f🙂",  # Scotland
        "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f|🙂",
    ),
    ("🙂\u200d x\u200d🙂", "🙂|x|🙂"),  # joiners with nothing to join
    ("x\U000e0061\U000e0062 🙂\U000e0061", "x|🙂"),  # tags that spell no flag
    ("\U0001faff\U0001fafe", "\U0001faff|\U0001fafe"),  # perhaps not assigned in this Python
    # chinese by character and japanese kana by run
    ("我爱北京，你呢？！", "我|爱|北|京|，|你|呢|？！"),
    ("𠮷野家\U00030000\U0002ebf0𠮷", "𠮷|野|家|\U00030000|\U0002ebf0|𠮷"),  # extension planes
    ("葛\U000e0100城", "葛\U000e0100|城"),  # a variant of a character
    ("人々 二〇〇八年 \ufa11", "人|々|二|〇|〇|八|年|\ufa11"),
    ("GPT模型2024年", "GPT|模|型|2024|年"),
    ("私は学生です。", "私|は|学|生|です|。"),
    ("東京タワーへ、らーめん・ラーメン", "東|京|タワー|へ|、|らーめん|・|ラーメン"),
    ("ひらカタ か\u3099き CDｶﾞﾗｽ", "ひら|カタ|か\u3099き|CD|ｶﾞﾗｽ"),
    ("「はい」", "「|はい|」"),
    # arabic hebrew and persian words stay whole
    ("مرحبا بالعالم، كيف؟", "مرحبا|بالعالم|،|كيف|؟"),
    ("اَلْعَرَبِيَّةُ ٱللَّٰهِ", "اَلْعَرَبِيَّةُ|ٱللَّٰهِ"),  # vowel signs
    ("العـــربية", "العـــربية"),  # tatweel
    ("٣٫١٤ ١٬٠٠٠", "٣٫١٤|١٬٠٠٠"),
    ("\u06dd١٢", "\u06dd١٢"),  # the sign drawn around a verse's number
    ("می\u200cخواهم کتاب\u200cها", "می\u200cخواهم|کتاب\u200cها"),  # Persian
    ("می\u200c و", "می|و"),  # nothing follows the non-joiner
    ("שָׁלוֹם עוֹלָם", "שָׁלוֹם|עוֹלָם"),
    ("צה״ל ג׳ירפה בית־ספר", "צה״ל|ג׳ירפה|בית־ספר"),
    ("\u202bשלום\u202c \u2067abc\u2069 \u200ex\u200f \u061c٣", "שלום|abc|x|٣"),
    # hangul and indic words keep their marks and joiners
    ("한국어 문장입니다.", "한국어|문장입니다|."),
    ("\u1112\u1161\u11ab\u1100\u116e\u11a8", "\u1112\u1161\u11ab\u1100\u116e\u11a8"),  # jamo
    ("हिन्दी क्षत्रिय नमस्ते।", "हिन्दी|क्षत्रिय|नमस्ते|।"),
    ("क्\u200dष र\u200d्य", "क्\u200dष|र\u200d्य"),  # joiners after and before a virama
    ("അവന്\u200d വന്നു", "അവന്\u200d|വന്നു"),  # a joiner that shapes the last letter
    ("தமிழ் বাংলা ಕನ್ನಡ", "தமிழ்|বাংলা|ಕನ್ನಡ"),
    ("ශ්\u200dරී", "ශ්\u200dරී"),
    ("ᠬᠠᠷ\u180eᠠ ᠨᠣᠮ", "ᠬᠠᠷ\u180eᠠ|ᠨᠣᠮ"),  # Mongolian
    ("ภาษาไทย ที่นี่", "ภาษาไทย|ที่นี่"),
    ("ក\u200bខ", "ក|ខ"),  # a zero-width space is a blank
]
UNSEEN = ("\x00", "\x1b", "\x7f", "\u00ad", "\u200e", "\u202e", "\u2066", "\u2060", "\ufeff")
UNSEEN += ("\ud800", "\udfff", "\ufdd0", "\uffff", "\U0010fffe")
CUT += [(f"co{char}operate {char}", "cooperate") for char in UNSEEN]


@pytest.mark.parametrize(("text", "tokens"), CUT)
def test_text_is_cut_into_what_a_reader_of_its_script_sees_as_one(text, tokens):
    assert split_text(text) == tokens.split("|")


@property_test
@given(texts)
def test_text_no_token_is_empty_or_has_a_blank_or_control_character(text):
    for token in split_text(text):
        assert token
        for char in token:
            assert not char.isspace()
            assert unicodedata.category(char) not in ("Cc", "Cs")
            assert char not in "\u200b\u00ad\u200e\u200f\u202e\u2066\u2067\u2069\ufeff\uffff\u3164"


@property_test
@given(texts)
def test_text_loses_nothing_but_blanks_and_dropped_characters(text):
    expected = [char for char in text if not is_dropped(char)]
    assert [char for char in "".join(split_text(text)) if not is_dropped(char)] == expected


@property_test
@given(texts)
def test_text_a_token_split_again_is_itself(text):
    for token in split_text(text):
        assert split_text(token) == [token]


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
    tokens = split_keeping_blanks(text)
    assert "".join(tokens) == text
    assert all(tokens)
    assert all(len(token) == 1 for token in tokens if token.isspace())


@pytest.mark.parametrize(
    ("rule", "text", "tokens"),
    [
        ("blanks_kept", "The  dog,\n\tyes.", "The| | |dog,|\n|\t|yes."),
        ("lower_words", "Life is short, EAT!", "life|is|short|eat"),
        (
            "lower_words",
            *("I CAN'T — a Well-Known 'truth': 3.14 🙂", "i|can't|a|well-known|truth|3.14"),
        ),
        ("lower_words", "ÉCOLE ΟΔΟΣ ЁЖ Straße", "école|οδος|ёж|straße"),  # lower: ß stays
        ("lower_words", "我爱，हिन्दी।", "我|爱|हिन्दी"),
    ],
)
def test_the_other_rules_cut_as_they_say(rule, text, tokens):
    assert TOKENIZERS[rule].split(text) == tokens.split("|")


# How a token is written


PLAIN = ("cat", "a" * 5000, "👨\u200d👩\u200d👧", "❤️", "می\u200cخواهم", "क्\u200dष", "العـــربية")
PLAIN += ("🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f", "\U0001faff")
PLAIN += ("葛\U000e0100", "\u06dd١", "<b>*x*", "‹U+200B›", "␣")
"""Joined characters and markup stand as they are, and nothing is shortened."""


@pytest.mark.parametrize(
    ("token", "written"),
    [
        *((token, token) for token in PLAIN),
        (" ", "␣"),
        ("\n", "↵"),
        ("\t", "⇥"),
        ("a b", "a␣b"),
        ("\r", "‹U+000D›"),
        ("\u00a0", "‹U+00A0›"),
        ("\u3000", "‹U+3000›"),
        ("\u200b", "‹U+200B›"),
        ("co\u00adop", "co‹U+00AD›op"),
        ("x\u202ey", "x‹U+202E›y"),
        ("a\u200cb", "a‹U+200C›b"),  # a non-joiner that no eye could find
        ("\u200d", "‹U+200D›"),
        ("\ud800", "‹U+D800›"),
        ("\u0378", "‹U+0378›"),  # unassigned
        ("\ue000", "‹U+E000›"),  # private use
        ("\uffff", "‹U+FFFF›"),
        ("\U000e0061", "‹U+E0061›"),
        ("\u3164", "‹U+3164›"),
        ("\u0301", "◌\u0301"),
        ("\u0301\u0302", "◌\u0301\u0302"),
        (" \u0301", "␣◌\u0301"),
        ("e\u0301", "e\u0301"),
        ("", "‹empty›"),
    ],
)
def test_visible_writes_what_cannot_be_seen(token, written):
    assert visible(token) == written


@property_test
@given(texts)
def test_visible_is_never_empty_and_has_no_blank_or_control_character(token):
    written = visible(token)
    assert written
    assert not unicodedata.category(written[0]).startswith("M")
    for char in written:
        assert not char.isspace()
        assert unicodedata.category(char) not in ("Cc", "Cs", "Co")
        assert char not in "\u200b\u00ad\u200e\u200f\u202e\u2066\u2067\u2069\ufeff\uffff\u3164"


@property_test
@given(texts)
def test_visible_of_the_result_changes_nothing(token):
    assert visible(visible(token)) == visible(token)


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
