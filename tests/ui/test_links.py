"""Values and links: what goes into a link comes out again, and nothing in a link can do harm."""

import pytest

from attention_core import EXAMPLES, embed
from attention_core.largest_effect import effect_of_rows
from attention_core.mechanism.multi_head import attend_heads
from attention_core.small_models.grammar import LONGEST
from attention_ui.controls import fields, shared
from attention_ui.lessons.real_model.own_fields import Next, Prompt
from attention_ui.lessons.tokenize_and_embed.real_tokens import Sum
from attention_ui.reactive.control import NoRoom, written
from attention_ui.reactive.fields import Decimal, OptionalWhole, Whole
from attention_ui.reactive.settings import refused
from chosen import EVERY, FIELDS, of, read
from guesses import assert_usable
from hostile import VALUES
from sampling import of_each_kind
from visiting import A_PAGE, LESSONS, lesson_module, stands, visit

BY_NAME = {each.name: each for each in EVERY}
DEFAULT = "wild_cat"
PLAIN = of()
SENTENCES = [
    name
    for name, field in FIELDS.items()
    # One is of ten words that are known; others have a limit in bytes, and no tokens.
    if isinstance(field, fields.Sentence) and name != "head_sentence" and not field.most_bytes
]
ONE_OF_MANY = [
    each.name
    for each in EVERY
    if each.options and isinstance(each.field, Whole) and not isinstance(each.field, OptionalWhole)
    if not each.fits
]
"""Controls that choose by number among what others decide: a token, an entry, a head."""


# --- links that cannot be used --------------------------------------------------------------------
TYPED = (fields.Sentence, Sum, Next, fields.Lines, Prompt)
"""What may be nearly any text. All else refuses most of them."""


@pytest.mark.parametrize("name", of_each_kind(FIELDS, lambda name: type(FIELDS[name])))
def test_what_a_field_cannot_be_is_refused_by_name_and_the_example_stays(name):
    n_refused = 0
    for value in (*VALUES, "\ud800", "ab" * 100_000, "," * 500, "0.0:1," * 500):
        values, wrong = read(**{name: value})
        assert_usable(values)
        if not wrong:
            continue
        n_refused += 1
        assert values == (of(example=shared.FIRST) if name == "example" else PLAIN), value
        assert [*wrong] == [name], value
        notice = refused(name, value, wrong[name])
        assert name in notice
        assert notice.endswith("The example’s own is used.")
        assert len(notice) < 400, "a notice quotes only a little of what it refuses"
        assert notice.isprintable()
    assert n_refused > (0 if isinstance(FIELDS[name], TYPED) else 40)


@pytest.mark.parametrize("name", ONE_OF_MANY)
def test_what_lies_beyond_what_can_be_chosen_is_refused_in_words_and_counts_again(name):
    small = {"sentence": "A cat", "tokenizer": "text", "d_in": "2", "n_heads": "2"}
    small.pop(name, None)
    values, one = of(**small), BY_NAME[name]
    last = max(one.choices(values))
    assert of(**small, **{name: str(last)})[name] == last
    if last == one.field.most:
        return
    larger = next((n for n in one.field.options if n > last), last + 1)
    there, wrong = read(**small, **{name: str(larger)})
    assert [*wrong] == [name]
    assert there == values
    if isinstance(wrong[name], NoRoom):
        assert str(wrong[name]).startswith("here it can be ")


MOST_EDITS = ",".join(f"0.{column % 3}:1" for column in range(fields.MAX_EDITS))
LONGEST_TRAIL = ",".join(["scores.0.0"] * fields.MAX_TRAIL)
NO_TOKEN = "there is no token in this text. Type at least one word"


@pytest.mark.parametrize(("name", "text", "beside", "why"), [
    *(("edits", f"0.0:{number}", {}, "") for number in (
        "nan", "inf", "-inf", "1e999", "1000.1", "-1001", "x", "0,5")),
    ("edits", f"{MOST_EDITS},0.0:1", {}, f"more than {fields.MAX_EDITS}"),
    ("cell", f"{LONGEST_TRAIL},scores.0.0", {}, f"more than {fields.MAX_TRAIL}"),
    ("sentence", "a" * 10_000, {}, "10,000 characters, and the limit is 5,000"),
    ("sentence", "A zebra", {"learned": "example", "reserved": "0"},
     '"A" is not in the vocabulary'),
    ("sentence", "the elephant purrs", {"example": "tiny_language"},
     "“elephant” is none of the 60 words here. Its animals: “"),
    ("sentence", "the <start>", {"example": "tiny_language"}, "“<start>” is none of the 60 words"),
    ("sentence", "the " * LONGEST, {"example": "tiny_language"}, f"at most {LONGEST} fit"),
    ("sentence", "?! …", {"tokenizer": "lower_words"}, NO_TOKEN),
    ("sentence", "🙂", {"tokenizer": "lower_words"}, NO_TOKEN),
    ("sentence", "\u200b", {"tokenizer": "text", "drop_blanks": "on"}, NO_TOKEN),
])  # fmt: skip
def test_what_cannot_be_used_is_said_and_left_out(name, text, beside, why):
    values, wrong = read(**beside, **{name: text})
    assert values == of(**beside)
    assert [*wrong] == [name]
    assert why in str(wrong[name])


def test_as_many_typed_numbers_as_fit_are_taken():
    assert read(edits=MOST_EDITS)[1] == {}


def test_no_cell_and_the_lessons_own_cell_are_not_the_same():
    assert PLAIN.cell is None
    assert of(cell="none").cell == ()
    link = {"example": DEFAULT, "cell": "none"}
    assert written(link, EVERY) == link


# --- texts ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", SENTENCES)
def test_every_sentence_is_held_to_the_same_by_the_tokenizer_in_use(name):
    most = fields.MAX_TOKENS
    too_many = f"has {most + 1} tokens; at most {most} fit. Shorten it"
    nothing = "holds blanks only. Type at least one word"
    for text, words in {"a " * (most + 1): too_many, " ": nothing}.items():
        _, wrong = read(tokenizer="blanks", **{name: text})
        assert {n: str(why) for n, why in wrong.items()} == {name: f"this text {words}"}
    assert read(tokenizer="blanks", **{name: "a " * most})[1] == {}
    assert "cell" in BY_NAME[name].undoes, "of a table of another size"


def test_control_characters_are_left_out_of_a_text():
    text = "a\x00 \x1b[31mcat\u202e\u2066 \ud800sat\r\nup"
    assert FIELDS["sentence"].read(text) == "a [31mcat sat\nup"


# --- single fields --------------------------------------------------------------------------------
@pytest.mark.parametrize("name", [name for name, f in FIELDS.items() if hasattr(f, "least")])
def test_numbers_reach_from_the_least_to_the_most_and_no_further(name):
    field = FIELDS[name]
    step = 1 if not isinstance(field, Decimal) else 0.001
    for edge in (field.least, field.most):
        assert field.read(str(edge)) == edge
    for outside in (field.least - step, field.most + step):
        least, most = (int(end) if end == int(end) else end for end in (field.least, field.most))
        ends = f"from {least:,} to {most:,}".replace("-", "−")
        with pytest.raises(ValueError, match=ends):
            field.read(str(outside))


@pytest.mark.parametrize(("name", "why", "typed"), [
    ("seed", "a whole number from 0 to", "3.0 1e2 3.7 ٣ 1_0 + --1 0x1"),
    ("factor", "a number from −4 to 4", "nan inf -inf 1e999 x 4.001 0,5"),
])  # fmt: skip
def test_what_is_no_number_of_its_kind_is_refused(name, why, typed):
    for text in (*typed.split(" "), "", "1 2"):
        with pytest.raises(ValueError, match=why):
            FIELDS[name].read(text)


# --- changing -------------------------------------------------------------------------------------
MAKES_A_TABLE = {"sentence", "tokenizer", "vocabulary", "learned", "reserved", "seed", "d_in"}
MAKES_SHAPES = {"sentence", "tokenizer", "drop_blanks", "d_in", "d_query", "d_value", "source"}


def test_what_makes_another_table_takes_the_typed_numbers_away_and_nothing_else_does():
    assert {each.name for each in EVERY if "edits" in each.undoes} == MAKES_A_TABLE


@pytest.mark.parametrize(("name", "value"), [("seed", "70"), ("sentence", "A cat sat")])
def test_an_open_cell_on_a_page(name, value):
    at = visit(A_PAGE, cell="scores.1.2", section="scores", edits="0.0:5")
    widgets = {"seed": at.text_input, "sentence": at.text_area}
    widgets[name](key=f"control_{name}").set_value(value).run()
    stands(at)
    held = at.session_state["session"].chosen
    assert "edits" not in held
    assert ("cell" in held) == (name not in MAKES_SHAPES)


def test_a_token_that_nobody_has_chosen_follows_the_text():
    """The one with the largest effect, or in its own text the notebook's; the last is changed."""
    looked_at = set()
    for sentence in ("Hello", "A cat sat", "one two three four", "the cat sees the sleepy dog"):
        values = of(example="journey_123", sentence=sentence)
        heads = attend_heads(embed(shared.inputs_of(values)), shared.heads_recipe_of(values))
        most = int(effect_of_rows(heads["head_weights"].value).sum(dim=0).argmax())
        n_tokens = len(sentence.split())
        assert (values.query, values.token, values.changed_token) == (most, most, n_tokens - 1)
        looked_at.add(most)
    assert len(looked_at) > 2
    notebook = EXAMPLES["journey_123"]
    own = of(example="journey_123")
    assert (own.query, own.token, own.changed_token) == (notebook.query, notebook.token, 5)
    kept = {"example": "journey_123", "sentence": "one two three four", "changed_token": "2"}
    assert of(**kept).changed_token == 2
    assert of(example="journey_123", sentence="A cat sat").changed_token == 2
    link = {"example": DEFAULT, "tokenizer": "blanks"}
    assert written(link, EVERY) == link


@pytest.mark.parametrize("lesson", LESSONS)
def test_what_is_changed_while_one_looks_on_moves_nothing_else(lesson):
    """Neither a number that is typed nor what is done to scores chooses another token or head."""
    controls = lesson_module(lesson).CONTROLS
    shown_first = getattr(lesson_module(lesson), "first_query", lambda _: None)
    changes = {each.name: "0.0:9,1.0:-9,2.1:9" for each in (shared.EDITS, *shared.MATRIX_EDITS)}
    changes |= {"scale": "none", "temperature": "4", "factor": "3", "normalise": "sum"}
    for sentence in (None, "the cat sees the sleepy dog", "A sleepy dog sees the small cat"):
        for example in (shared.FIRST, "wild_cat", "journey_123"):
            link = {"example": example} | ({"sentence": sentence} if sentence else {})
            before = of(controls, **link)
            for name in changes.keys() & {each.name for each in controls}:
                after = of(controls, **link, **{name: changes[name]})
                assert after.changed(before) == {name}
                assert shown_first(after) == shown_first(before)
