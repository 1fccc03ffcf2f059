"""Settings and links: what goes into a link comes out again, and nothing in a link can do harm."""

import math
from dataclasses import fields, replace
from urllib.parse import parse_qsl, urlencode

import pytest
import torch
from hypothesis import assume, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from attention_core import EXAMPLES, embed
from attention_core.text.inputs import RANDOM_ID_ROWS
from attention_core.text.tokenizers import TINY_LANGUAGE, TOKENIZERS, clean
from attention_ui.settings import link
from attention_ui.settings.fields import (
    LARGEST_ENTRY,
    MAX_CHARACTERS,
    MAX_EDITS,
    MAX_TRAIL,
    Choice,
    Decimal,
    Flag,
    Lines,
    OptionalWhole,
    Pages,
    ScoreRow,
    Search,
    Sentence,
    Whole,
    Word,
    entry,
)
from attention_ui.settings.fit import changed
from attention_ui.settings.link import FIRST, MAX_LINK, problem_with, to_query
from attention_ui.settings.settings import (
    FIELDS,
    HEADS,
    MAX_TOKENS,
    SETTINGS,
    Names,
    Pinned,
    Settings,
    label,
)
from sampling import is_long, of_each_kind
from visiting import stands, visit

ONE_HEAD = ("head", "head_off", "head_cut")
DEFAULT = "wild_cat"
SENTENCES = [name for name, field in FIELDS.items() if isinstance(field, Sentence)]
some = hypothesis_settings(max_examples=500 if is_long() else 30, deadline=None)


def guesses(test):
    return pytest.mark.fuzz(pytest.mark.slow("3 s: guesses its cases")(test))


def of(example=DEFAULT, **updates):
    return replace(Settings.of(EXAMPLES[example]), **updates)


def from_query(query):
    """What a link says; one that names no example, of `wild_cat`."""
    return link.from_query({"example": DEFAULT, **query})


def read(**query):
    """The settings of a link, and its notices joined."""
    settings, notices = from_query(query)
    return settings, "\n".join(notices)


def assert_usable(settings):
    """These settings make embeddings, and point at nothing outside of them."""
    assert problem_with(settings) is None
    n_tokens = len(settings.inputs.tokens)
    assert 1 <= n_tokens <= MAX_TOKENS
    assert 0 <= settings.query < n_tokens
    assert 0 <= settings.row_query < n_tokens
    assert 0 <= settings.stretch < n_tokens
    assert 0 <= settings.token < n_tokens
    assert 0 <= settings.changed_token < n_tokens
    assert max(settings.head, settings.head_off, settings.head_cut) < settings.n_heads
    assert embed(settings.inputs)["embeddings"].value.shape == (n_tokens, settings.d_in)
    for name, field in FIELDS.items():
        value = getattr(settings, name)
        if name not in ("edits", "cell") or value:
            assert field.read(field.write(value)) == value, name


# --- valid settings -------------------------------------------------------------------------------

TEXTS = st.one_of(
    st.text(max_size=30),
    st.lists(
        st.sampled_from(["cat", "the", "the", "Zürich", "猫が", "🙂", "ok?", "=&#", "%41", "+"])
    )
    .map(" ".join)
    .map(lambda text: text[:60]),
    st.sampled_from([example.inputs.sentence for example in EXAMPLES.values()]),
)
CELLS = st.tuples(
    st.sampled_from(["scores", "weights", "token_ids", "no_such_step"]),
    st.lists(st.integers(0, 99_999), min_size=1, max_size=4).map(tuple),
)


def decimals(most):
    """Numbers with up to four decimals: a link gives them back exactly."""
    return st.integers(-most * 10_000, most * 10_000).map(lambda number: number / 10_000)


def any_value(field):
    """Any value that a field takes, whatever the other settings are."""
    if isinstance(field, Choice):
        return st.sampled_from(list(field.options))
    if isinstance(field, Flag):
        return st.booleans()
    if isinstance(field, Whole):
        numbers = st.sampled_from(field.options) if field.options else whole(field)
        return numbers | st.none() if isinstance(field, OptionalWhole) else numbers
    if isinstance(field, Decimal):
        within = st.integers(int(field.least * 100), int(field.most * 100))
        if field.options:
            return st.sampled_from(field.options)
        return within.map(lambda number: number / 100)
    if isinstance(field, Names):
        return st.lists(st.sampled_from([*FIELDS]), unique=True, max_size=4).map(tuple)
    if isinstance(field, ScoreRow):
        scores = st.lists(decimals(1_000) | st.just(-math.inf), min_size=1, max_size=field.longest)
        return scores.map(tuple)
    return None


def whole(field):
    ends = st.sampled_from([field.least, field.most])
    return (
        ends | st.integers(field.least, min(field.most, 99)) | st.integers(field.least, field.most)
    )


@st.composite
def typed(draw, n_rows, n_columns):
    """Numbers typed into a matrix, as a setting holds them."""
    places = st.tuples(st.integers(0, n_rows - 1), st.integers(0, n_columns - 1))
    edits = draw(st.dictionaries(places, decimals(1_000), max_size=4))
    return tuple((*place, number) for place, number in sorted(edits.items()))


@st.composite
def heads(draw):
    """Heads that fit each other: each a width of its own, or all of d_model shared evenly."""
    n_heads = draw(st.integers(1, 8))
    own = {name: draw(st.integers(1, 12)) for name in ("d_head", "d_value")}
    shared = draw(st.integers(0, 2))
    d_model = n_heads * draw(st.integers(1, 8)) if shared else draw(st.integers(1, 64))
    which = {name: draw(st.integers(0, n_heads - 1)) for name in ONE_HEAD}
    zero = dict.fromkeys(list(own)[:shared], 0)
    return {"n_heads": n_heads, "d_model": d_model, **own, **zero, **which}


SHARED_HEADS = ("kv_heads", "m_kv_heads")
"""Numbers of heads that must divide another one."""
SPECIAL = {
    "sentence": TEXTS.map(lambda text: clean(text)[0]),
    "cell": st.none() | st.lists(CELLS, max_size=MAX_TRAIL).map(tuple),
    "beat": st.sampled_from(["", "scores", "one_query"]),
}


@st.composite
def valid_settings(draw):
    """Settings with any value in any field, as far as they fit together."""
    values = {
        name: draw(SPECIAL[name] if name in SPECIAL else any_value(field))
        for name, field in FIELDS.items()
        if name not in (*HEADS, *ONE_HEAD) and (name in SPECIAL or any_value(field) is not None)
    }
    example = values.pop("example")
    values["start"] = draw(st.sampled_from([*SETTINGS["start"].values(of(example))]))
    settings = of(example, **values, **draw(heads()))
    last = max(len(settings.inputs.tokens) - 1, 0)
    column = st.integers(0, max(settings.d_in - 1, 1))
    settings = replace(
        settings,
        **{
            name: draw(st.integers(0, last))
            for name in ("query", "row_query", "token", "stretch", "changed_token", "decoded")
        },
        **{
            name: draw(st.sampled_from([*SETTINGS[name].values(settings)])) for name in SHARED_HEADS
        },
        **{
            name: draw(st.integers(0, settings.n_heads - 1))
            for name in ("head", "head_off", "head_cut")
        },
        tile=draw(st.integers(0, max(len(settings.tiles) - 1, 1))),
        across=draw(column),
        up=draw(column),
    )
    assume(settings.sentence and problem_with(settings) is None)
    n_rows = embed(settings.inputs)["embedding_table"].value.shape[0]
    return replace(
        settings,
        edits=draw(typed(n_rows, settings.d_in)),
        q_edits=draw(typed(settings.d_in, settings.d_out)),
        k_edits=draw(typed(settings.d_in, settings.d_out)),
        v_edits=draw(typed(settings.d_in, settings.d_v)),
    )


@guesses
@some
@given(valid_settings())
def test_a_link_gives_the_same_settings_back(settings):
    query = to_query(settings)
    carried = dict(parse_qsl(urlencode(query), keep_blank_values=True, strict_parsing=bool(query)))
    back, notices = from_query(carried)
    assert notices == []
    assert back == settings
    assert back.inputs == settings.inputs
    assert to_query(back) == query


@guesses
@some
@given(valid_settings(), st.data())
def test_a_link_holds_only_what_differs_from_its_example(settings, data):
    """Which token is looked at follows from the text."""
    last = len(settings.inputs.tokens) - 1
    plain = of(settings.example, changed_token=last, decoded=last)
    names = ("query", "row_query", "token")
    plain = replace(plain, **{name: min(getattr(plain, name), last) for name in names})
    differing = {name for name, value in vars(settings).items() if value != getattr(plain, name)}
    assert to_query(settings).keys() - {"example"} == differing
    shape = {"example", "sentence", "tokenizer", "drop_blanks"}
    for name in data.draw(st.sets(st.sampled_from([*FIELDS]), max_size=5)) - shape:
        settings = replace(settings, **{name: getattr(plain, name)})
        assert name not in to_query(settings)


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_as_it_is_needs_no_more_than_its_name(example):
    settings = of(example)
    assert to_query(settings) == {"example": example}
    assert from_query({"example": example}) == (settings, [])
    assert settings.inputs == EXAMPLES[example].inputs
    assert_usable(settings)


CYRILLIC = " ".join(["предложение"] * 60)


@pytest.mark.parametrize("text", [CYRILLIC, "猫" * 64, "が" * 5_000, "🙂 " * 64, "a" * 5_000])
def test_a_text_is_taken_where_a_link_can_hold_it_and_refused_in_words_where_not(text):
    after = changed(of(), sentence=text, tokenizer="text")
    problem = problem_with(after)
    if problem:
        assert "The link to this page would have" in problem
        assert "Shorten the text" in problem
        assert len(urlencode({"sentence": text})) > MAX_LINK - 100
        assert read(**to_query(after))[0] == of()
    else:
        assert from_query(to_query(after)) == (after, [])
        assert len(urlencode(to_query(after))) <= MAX_LINK


def test_every_setting_has_a_field_that_reads_it_from_a_link():
    assert set(FIELDS) == {field.name for field in fields(Settings)}


@some
@given(st.floats(-LARGEST_ENTRY, LARGEST_ENTRY, width=32))
def test_a_typed_number_comes_out_of_a_link_as_the_same_float32(number):
    back, notices = from_query(to_query(of(edits=((2, 1, number),))))
    assert notices == []
    assert torch.equal(
        embed(back.inputs)["embedding_table"].value,
        embed(of(edits=((2, 1, number),)).inputs)["embedding_table"].value,
    )


# --- links that cannot be used --------------------------------------------------------------------

HOSTILE = {
    "empty": "",
    "blank": " ",
    "blanks": " \t\n ",
    "word": "abc",
    "capitals": "ON",
    "nan": "nan",
    "inf": "inf",
    "-inf": "-inf",
    "1e999": "1e999",
    "minus": "-1",
    "-0.5.5": "-0.5.5",
    "3.7.1": "3.7.1",
    "comma": "3,7",
    "huge": "9" * 40,
    "4300 digits": "9" * 4_400,
    "2**63": str(2**63),
    "hex": "0x10",
    "underscore": "1__0",
    "arabic": "٣٣٣٣٣٣٣٣٣٣٣٣٣",
    "superscript": "²",
    "script": "<script>alert(1)</script>",
    "image": '<img src=x onerror="alert(1)">',
    "markdown": "![x](http://127.0.0.1:9/x.png)",
    "null": "\x00",
    "null within": "1\x002",
    "escape": "\x1b[31m",
    "right to left": "\u202e321",
    "surrogate": "\ud800",
    "percent": "%00",
    "long": "ab" * 100_000,
    "commas": "," * 500,
    "colons": "0.0:1," * 500,
    "dots": "." * 500,
    "python": "__class__",
    "format": "{0.__class__}",
    "path": "../../etc/passwd",
    "json": '{"a": [1]}',
    "None": "None",
}
ACCEPTED = {
    OptionalWhole: {"empty", "blank", "blanks"},
    Pinned: {"empty"},
    Names: {"empty"},
    ScoreRow: {"minus", "-inf", "comma"},
    Sentence: HOSTILE.keys() - {"empty", "blank", "blanks", "null", "surrogate", "long"},
    Word: {"empty", "word", "nan", "inf", "python"},
    Pages: {"empty", "word", "nan", "inf", "python"},
    Lines: HOSTILE.keys() - {"long", "4300 digits", "commas", "colons", "dots"},
    Search: HOSTILE.keys() - {"long", "4300 digits", "commas", "colons", "dots"},
}
"""What a kind of field takes of these. A text may be nearly anything, a part's name any word, a
row of scores some numbers; no other field takes any but -1, if that is within its bounds.
"""


def accepted(field):
    if isinstance(field, Whole | Decimal) and field.least <= -1 and not field.options:
        return {"minus"}
    return ACCEPTED.get(type(field), set())


@pytest.mark.parametrize("name", of_each_kind(FIELDS, lambda name: type(FIELDS[name])))
def test_what_a_field_cannot_be_is_refused_by_name_and_the_example_stays(name):
    for kind, value in HOSTILE.items():
        settings, notices = from_query({name: value})
        assert_usable(settings)
        if kind in accepted(FIELDS[name]):
            assert notices == [], kind
            continue
        assert settings == of(FIRST if name == "example" else DEFAULT), kind
        assert len(notices) == 1, kind
        (notice,) = notices
        assert name in notice or label(name).lower() in notice.lower()
        assert notice.endswith(("The example's own is used.", "It was left out.", "instead."))
        assert len(notice) < 400, f"{kind}: a notice quotes only a little of what it refuses"
        assert notice.isprintable()


NEARLY = {
    "example": st.sampled_from([*EXAMPLES, "Wild_Cat"]),
    "sentence": st.sampled_from(
        ["Hello", "A cat", "cat " * 64, " ", "?!", "zebra a\nb", "<b>x</b>"]
    ),
    "tokenizer": st.sampled_from([*TOKENIZERS, "bpe"]),
    "vocabulary": st.sampled_from(["distinct", "duplicates", "random"]),
    "learned": st.sampled_from(["sentence", "example"]),
    **dict.fromkeys(
        ["q_edits", "k_edits", "v_edits"], st.sampled_from(["0.0:5", "2.1:1", "0.63:1"])
    ),
    **dict.fromkeys(["d_out", "d_v"], st.sampled_from(["1", "2", "64", "65", "0"])),
    "edits": st.sampled_from(["0.0:5", "19999.0:1", "20000.0:1", "6.2:1", "0.31:1", "0.99:1"]),
    "d_in": st.sampled_from(["1", "2", "64", "65"]),
    **dict.fromkeys(["n_heads", "d_model", "d_head", *ONE_HEAD], st.integers(-1, 9).map(str)),
    **dict.fromkeys(["reserved", "query", "stretch", "across", "up"], st.integers(-1, 9).map(str)),
}


@pytest.mark.slow("2 s: guesses its cases")
@hypothesis_settings(max_examples=100, deadline=None)
@given(
    st.fixed_dictionaries(
        {},
        optional={
            name: st.one_of(
                NEARLY.get(name, st.sampled_from(["on", "1", "cosine", "scores.0.0"])),
                NEARLY.get(name, st.just("off")),
                st.sampled_from(list(HOSTILE.values())) | st.text(max_size=20),
            )
            for name in FIELDS
        },
    )
)
def test_whatever_a_link_says_its_settings_make_embeddings(query):
    settings, notices = from_query(query)
    assert_usable(settings)
    assert all(isinstance(notice, str) and notice for notice in notices)
    assert from_query(to_query(settings)) == (settings, [])


@some
@given(st.dictionaries(st.text().filter(lambda name: name not in FIELDS), st.text(), max_size=5))
def test_parameters_that_are_not_ours_are_left_alone(query):
    assert link.from_query(query) == (of(FIRST), [])
    assert from_query({**query, "seed": "3"}) == (of(seed=3), [])


def test_one_bad_value_does_not_take_the_good_ones_with_it():
    settings, notices = read(seed="3", d_in="x", sentence="A cat", similarity="cosine")
    last = len(settings.inputs.tokens) - 1
    tokens = {"changed_token": last, "decoded": last}
    assert settings == of(seed=3, sentence="A cat", similarity="cosine", **tokens)
    assert "d_in" in notices
    assert "seed" not in notices


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ({"n_heads": "3"}, "n_heads 3 cannot be used: d_model = 4 cannot be shared"),
        ({"d_model": "7"}, "among 2 heads. It can among 1 or 7."),
        ({"n_heads": "8", "d_head": "32", "d_value": "4"}, "8 heads of width 32 are 256 columns"),
    ],
)
def test_heads_that_do_not_fit_are_refused_in_words_and_nothing_else_is(link, said):
    settings, notices = read(sentence="A cat", seed="3", causal_heads="on", **link)
    last = len(settings.inputs.tokens) - 1
    tokens = {"changed_token": last, "decoded": last}
    assert settings == of(sentence="A cat", seed=3, causal_heads=True, **tokens)
    assert said in notices


@pytest.mark.parametrize("name", [name for name, each in SETTINGS.items() if each.limit])
def test_what_lies_beyond_its_limit_is_refused_in_words_or_brought_back(name):
    small = {"sentence": "A cat", "d_in": "2", "n_heads": "2"}
    settings, notices = from_query(small)
    assert notices == []
    most, words = SETTINGS[name].limit(settings)
    there, notices = from_query({**small, name: str(most)})
    assert (getattr(there, name), notices) == (most, [])
    refused = f"The link's {name} is {most + 1}, but {words}. The example's own is used."
    assert from_query({**small, name: str(most + 1)}) == (settings, [refused])
    large = of(sentence="a b c d e f", d_in=8, n_heads=4, d_model=4, **{name: most + 1})
    assert getattr(changed(large, sentence="A cat", d_in=2, n_heads=2), name) == most


@pytest.mark.parametrize("name", ONE_HEAD)
def test_a_head_beyond_the_last_is_refused_and_the_last_is_named(name):
    settings, notices = read(n_heads="4", **{name: "4"})
    assert settings == of(n_heads=4)
    assert f"{name} is 4, but the last head is 3" in notices
    assert getattr(changed(of(n_heads=4, **{name: 3}), n_heads=2), name) == 1


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_as_it_is_has_its_own_heads(example):
    assert of(example).heads_recipe == EXAMPLES[example].heads


@pytest.mark.parametrize("name", ["query", "token", "stretch", "changed_token"])
def test_a_token_beyond_the_last_is_refused_and_the_last_is_named(name):
    settings, notices = read(sentence="A cat", tokenizer="text", **{name: "2"})
    assert getattr(settings, name) == min(getattr(of(), name), 1)
    assert f"{name} is 2, but the last token is 1" in notices
    settings, notices = read(sentence="A cat", tokenizer="text", **{name: "1"})
    assert (getattr(settings, name), notices) == (1, "")


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_text_shorter_than_the_examples_own_query_is_no_trouble(example):
    """`journey_123` looks at its query 1, which a text of one token does not have."""
    word = "it" if EXAMPLES[example].is_trained else "Hello"
    settings, notices = read(example=example, sentence=word)
    assert settings.sentence == word
    assert settings.query == len(settings.inputs.tokens) - 1
    assert "query" not in notices, "the link did not speak of a query"
    assert_usable(settings)


@pytest.mark.parametrize(
    ("example", "rows", "width"),
    [(DEFAULT, 9, 3), ("journey_123", 6, 3), ("life_is_short", 8, 16), ("sorry_dave", 20_000, 32)],
)
def test_edits_outside_of_the_table_are_refused(example, rows, width):
    assert embed(of(example).inputs)["embedding_table"].value.shape == (rows, width)
    settings, notices = read(example=example, edits=f"{rows - 1}.{width - 1}:5")
    assert notices == ""
    assert settings.edits == ((rows - 1, width - 1, 5.0),)
    assert_usable(settings)
    for outside in (f"{rows}.0:5", f"0.{width}:5", f"0.0:1,{rows}.{width}:5"):
        settings, notices = read(example=example, edits=outside)
        assert settings == of(example)
        assert "outside the table" in notices
        assert_usable(settings)


@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "1e999", "1000.1", "-1001", "x", "0,5"])
def test_an_edit_that_is_no_number_of_a_sensible_size_is_refused(number):
    settings, notices = read(edits=f"0.0:{number}")
    assert settings == of()
    assert "The link's edits" in notices


def test_too_many_edits_and_too_long_a_trail_are_refused():
    most = ",".join(f"0.{column % 3}:1" for column in range(MAX_EDITS))
    assert read(edits=most)[1] == ""
    assert f"more than {MAX_EDITS}" in read(edits=most + ",0.0:1")[1]
    trail = ",".join(["scores.0.0"] * MAX_TRAIL)
    assert len(read(cell=trail)[0].cell) == MAX_TRAIL
    assert f"more than {MAX_TRAIL}" in read(cell=trail + ",scores.0.0")[1]


def test_a_cell_edited_twice_has_the_last_number():
    assert read(edits="0.0:1,2.1:3,0.0:-2")[0].edits == ((0, 0, -2.0), (2, 1, 3.0))


def test_no_cell_and_the_lessons_own_cell_are_not_the_same():
    assert read()[0].cell is None
    assert read(cell="none")[0].cell == ()
    assert to_query(of(cell=())) == {"example": DEFAULT, "cell": "none"}


def test_words_that_the_vocabulary_cannot_hold_are_named():
    settings, notices = read(learned="example", reserved="0", sentence="A zebra")
    assert settings == of()
    assert '"A" is not in the vocabulary' in notices
    settings, notices = read(learned="example", reserved="1", sentence="A zebra")
    assert notices == ""
    assert_usable(settings)


# --- texts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("tokenizer", [name for name in TOKENIZERS if name != TINY_LANGUAGE])
def test_the_number_of_tokens_has_a_limit(tokenizer):
    parted = 2 if tokenizer == "blanks_kept" else 1
    fits = "a " * (MAX_TOKENS // parted - 1) + ("a " if parted == 2 else "a")
    settings = of(sentence=fits, tokenizer=tokenizer)
    assert len(settings.inputs.tokens) == MAX_TOKENS
    assert problem_with(settings) is None
    longer = replace(settings, sentence=fits + " a")
    n_tokens = len(longer.inputs.tokens)
    assert n_tokens > MAX_TOKENS
    assert f"{n_tokens} tokens; at most {MAX_TOKENS} fit" in problem_with(longer)
    assert read(sentence=longer.sentence, tokenizer=tokenizer)[0] == of()


@pytest.mark.parametrize("blanks", [" ", "   ", "\n\t \u3000\u00a0"])
@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_a_text_of_blanks_is_refused_with_every_tokenizer(tokenizer, blanks):
    settings, notices = read(sentence=blanks, tokenizer=tokenizer)
    assert settings == of()
    assert "blanks only" in notices
    assert "Type at least one word" in notices


@pytest.mark.parametrize(
    ("tokenizer", "text", "drop_blanks"),
    [("lower_words", "?! …", False), ("lower_words", "🙂", False), ("text", "\u200b", True)],
)
def test_a_text_without_a_token_is_refused(tokenizer, text, drop_blanks):
    problem = problem_with(of(tokenizer=tokenizer, sentence=text, drop_blanks=drop_blanks))
    assert problem == "There is no token in this text. Type at least one word."


@pytest.mark.parametrize("name", SENTENCES)
def test_every_sentence_is_held_to_what_its_field_says_by_the_tokenizer_in_use(name):
    most, which = FIELDS[name].most_tokens, SETTINGS[name].label
    for text, words in {
        "a " * (most + 1): f"has {most + 1} tokens; at most {most} fit. Shorten it.",
        " ": "holds blanks only. Type at least one word.",
    }.items():
        problem = problem_with(of(tokenizer="blanks", **{name: text}))
        assert problem in (f"“{which}” {words}", f"This text {words}")
        assert (problem == f"This text {words}") == (name == "sentence")
    assert problem_with(changed(of(), tokenizer="blanks", **{name: "a " * most})) is None
    opened = of(cell=(("scores", (3, 2)),))
    assert changed(opened, **{name: "A cat"}).cell is None, "of a table of another size"


@pytest.mark.parametrize("text", ["", "\x00", "\x00\x1b\u202e\ufeff", "\ud800"])
def test_a_text_without_a_visible_sign_is_refused(text):
    with pytest.raises(ValueError, match="it must have at least one word"):
        FIELDS["sentence"].read(text)


def test_control_characters_are_left_out_of_a_text():
    text = "a\x00 \x1b[31mcat\u202e\u2066 \ud800sat\r\nup"
    assert FIELDS["sentence"].read(text) == "a [31mcat sat\nup"


def test_ten_thousand_characters_are_refused_with_the_limit():
    assert FIELDS["sentence"].read("a" * MAX_CHARACTERS) == "a" * MAX_CHARACTERS
    settings, notices = read(sentence="a" * 10_000)
    assert settings == of()
    assert "10,000 characters" in notices
    assert f"the limit is {MAX_CHARACTERS:,}" in notices


# --- single fields --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name, f in FIELDS.items() if hasattr(f, "least")])
def test_numbers_reach_from_the_least_to_the_most_and_no_further(name):
    field = FIELDS[name]
    step = 1 if isinstance(field.least, int) and name != "factor" else 0.001
    for edge in (field.least, field.most):
        assert field.read(str(edge)) == edge
    for outside in (field.least - step, field.most + step):
        ends = f"from {field.least:,} to {field.most:,}".replace("-", "−")
        with pytest.raises(ValueError, match=ends):
            field.read(str(outside))


@pytest.mark.parametrize("text", ["3.0", "1e2", "3.7", "٣", "1_0", "", "+", "--1", "1 2", "0x1"])
def test_a_whole_number_is_nothing_but_digits(text):
    with pytest.raises(ValueError, match="a whole number from 0 to"):
        FIELDS["seed"].read(text)


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1e999", "", "x", "4.001", "0,5"])
def test_a_factor_is_a_finite_number_within_its_bounds(text):
    with pytest.raises(ValueError, match="a number from −4 to 4"):
        FIELDS["factor"].read(text)


@pytest.mark.parametrize("number", ["1000", "-1000", "0", "-0.0", "1e-300", "3.25"])
def test_an_entry_of_a_vector_is_read(number):
    assert entry(number) == float(number)


# --- changing -------------------------------------------------------------------------------------

EDITED = {"edits": ((0, 0, 5.0),), "cell": (("scores", (1, 2)),), "beat": "scores", "upto": 2}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("sentence", "A cat"),
        ("tokenizer", "blanks"),
        ("vocabulary", "duplicates"),
        ("learned", "example"),
        ("reserved", 3),
        ("seed", 70),
        ("d_in", 4),
    ],
)
def test_what_makes_another_table_takes_the_typed_numbers_away(name, value):
    after = changed(of(**EDITED), **{name: value})
    assert getattr(after, name) == value
    assert after.edits == ()
    assert_usable(after)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("positions", True),
        ("drop_blanks", True),
        ("similarity", "cosine"),
        ("divide", "sqrt_d"),
        ("factor", 2.0),
        ("query", 3),
        ("predict", False),
    ],
)
def test_what_leaves_the_table_leaves_the_typed_numbers(name, value):
    assert changed(of(**EDITED), **{name: value}).edits == EDITED["edits"]


@pytest.mark.parametrize(
    ("name", "value"),
    [("seed", 70), ("positions", True), ("similarity", "cosine"), ("query", 3), ("reserved", 3)],
)
def test_a_cell_stays_open_while_its_tensor_keeps_its_shape(name, value):
    after = changed(of(**EDITED), **{name: value})
    assert (after.cell, after.beat, after.upto) == (EDITED["cell"], "scores", 2)


@pytest.mark.parametrize(
    ("name", "value"),
    [("sentence", "A cat"), ("tokenizer", "blanks"), ("drop_blanks", True), ("d_in", 4)],
)
def test_a_cell_closes_when_shapes_change(name, value):
    after = changed(of(**EDITED), **{name: value})
    assert after.cell is None
    assert after.upto == MAX_TOKENS


def test_a_shorter_text_brings_query_and_stretch_back_into_it():
    after = changed(of(query=10, stretch=9), sentence="A cat")
    assert (after.query, after.stretch) == (2, 2)
    assert_usable(after)


def test_another_example_brings_all_of_its_own_settings():
    before = of(**EDITED, seed=3, sentence="A cat", positions=True, predict=False, factor=2.0)
    after = changed(before, example="life_is_short")
    assert after == of("life_is_short", predict=False)


def test_a_token_that_nobody_has_chosen_follows_the_text():
    """Journey's notebook looks at token 1; the last token is the one that is changed."""
    journey = of("journey_123")
    short = changed(journey, sentence="Hello")
    assert (short.query, short.token, short.changed_token) == (0, 0, 0)
    assert to_query(short).keys() == {"example", "sentence"}
    long = changed(short, sentence="one two three four")
    assert (long.query, long.token, long.changed_token) == (1, 1, 3)
    assert to_query(long).keys() == {"example", "sentence"}
    chosen = changed(journey, changed_token=2)
    assert changed(chosen, sentence="one two three four").changed_token == 2
    assert from_query({"example": "journey_123", "sentence": "A cat sat"})[0].changed_token == 2
    assert to_query(changed(of(), tokenizer="blanks")) == {
        "example": DEFAULT,
        "tokenizer": "blanks",
    }


def test_the_examples_numbers_are_those_of_its_seed_only():
    """`sorry_dave` stands 652,920 draws behind its seed; another seed is taken from its start."""
    example = EXAMPLES["sorry_dave"].inputs
    assert of("sorry_dave").inputs.skipped_draws == example.skipped_draws > 0
    assert changed(of("sorry_dave"), seed=3).inputs.skipped_draws == 0
    assert of("sorry_dave").inputs.d_in < RANDOM_ID_ROWS


# --- on a page: a setting that passes its field is one that its widget can show -----------------


@pytest.mark.slow("2 s: whole pages")
@pytest.mark.parametrize("page", ["tokenize_and_embed", "simplified_attention"])
@pytest.mark.parametrize("link", [{"across": "50"}, {"up": "3"}, {"d_in": "2", "across": "2"}])
def test_a_picture_by_an_entry_that_vectors_do_not_have_is_not_asked_for(page, link):
    stands(visit(page, **link))


@pytest.mark.slow("2 s: whole pages")
def test_narrower_vectors_bring_the_entries_of_the_picture_back_into_them():
    at = stands(visit("tokenize_and_embed", example="life_is_short", across="15", up="14"))
    for width in (3, 2, 1, 64):
        stands(at.slider(key="control_d_in").set_value(width).run())


@pytest.mark.parametrize(("name", "value"), [("table_rows", "12345"), ("table_width", "7")])
def test_a_size_of_the_table_between_those_on_offer_is_not_shown_as_another(name, value):
    at = stands(visit("tokenize_and_embed", **{name: value}))
    (slider,) = [each for each in at.select_slider if each.key == f"control_{name}"]
    settings = at.session_state["settings"]
    assert slider.value == getattr(settings, name), "the slider shows another number than the link"
    assert any(
        f"{settings.table_rows:,} × {settings.table_width:,} =" in words.value
        for words in at.markdown
    )


def test_a_cell_in_a_beat_that_is_not_there_is_opened_in_another_or_missed_aloud():
    at = stands(visit("simplified_attention", beat="nope", cell="scores.2.4"))
    said = "\n".join(element.value for element in at.text)
    assert "query 2: dog" in said or "link" in said
