"""The page of the tiny language: what comes next, who brought it, what goes wrong without it."""

from functools import partial

import pyarrow as pa
import pytest

from attention_core.small_models.figures import shipped_figures
from attention_core.small_models.grammar import WORDS
from attention_ui.lessons.tiny_language import lesson
from attention_ui.lessons.tiny_language.charts import next_word
from attention_ui.lessons.tiny_language.lesson import FIRST_WATCHED
from attention_ui.lessons.tiny_language.words import step_words
from attention_ui.picture import palette
from attention_ui.words import number
from chosen import of
from visiting import charts, stands, visit, words

PAGE = "tiny_language"
BUT = "the tired cat sees the dog but it"
AGAIN = "anna brook finds the ball . ben hill paints the kite . anna"

values_of = partial(of, lesson.CONTROLS)


def test_the_network_s_bars_are_blue_also_where_they_stand_alone():
    for beginning in ("anna sees the dog but it", BUT):
        drawn = next_word(values_of(beginning=beginning)).spec["layer"]
        colours = drawn[0]["encoding"]["color"]["scale"]
        assert colours["range"][colours["domain"].index("the network")] == palette.BAR


def test_a_small_number_is_written_out():
    assert [number(4e-5), number(-4e-5), number(0.004, 2)] == ["0.00004", "−0.00004", "0.004"]


def table(at, beginning):
    """The data of the one chart whose words begin so."""
    (found,) = [each for each in charts(at) if each.alt.startswith(beginning)]
    return pa.ipc.open_stream(found.data.data).read_all().to_pylist()


def chances(at):
    """The bars of the next word: by row, the chance of each word that is drawn."""
    found = {}
    for each in table(at, "Chances of the next word"):
        found.setdefault(each["row"], {})[each["name"]] = each["value"]
    return found


@pytest.mark.slow("1 s: whole pages")
def test_the_likeliest_next_words_stand_beside_the_grammar_s_own():
    found = chances(stands(visit(PAGE)))
    assert found["the grammar"]["purrs"] == found["the grammar"]["meows"] == 0.5
    assert found["the network"]["purrs"] + found["the network"]["meows"] > 0.95
    assert found["the network"].keys() == {"purrs", "meows", "59 others <1%"}
    found = chances(visit(PAGE, beginning=BUT))["the network"]
    assert found["barks"] + found["growls"] > 0.95


@pytest.mark.slow("1 s: whole pages")
@pytest.mark.parametrize("word", ["likeliest", "barks"])
def test_the_bars_of_the_parts_add_up_to_the_logit_on_the_screen(word):
    at = visit(PAGE, next_word=word)
    *parts, total = table(at, "What each part brought")
    assert len(parts) == 2 + len(shipped_figures().heads)
    end = 0.0
    for part in parts:
        assert part["from"] == pytest.approx(end, abs=1e-9)
        end = part["to"]
        assert part["to"] - part["from"] == pytest.approx(part["amount"])
    logits = lesson.trace_of(values_of())["logits"].value[-1]
    logit = logits.max() if word == "likeliest" else logits[WORDS.index(word)]
    assert total["is_sum"]
    assert total["from"] == 0
    assert total["to"] == pytest.approx(end) == pytest.approx(logit.item(), abs=1e-4)
    assert any(each.value.startswith(":green[") and "add up" in each.value for each in at.markdown)


@pytest.mark.slow("1 s: whole pages")
def test_a_sentence_goes_wrong_without_the_head_that_it_needs():
    for kind, beginning in (("name again", AGAIN), ("because", "the cat sees the dog because it")):
        off = ".".join(map(str, shipped_figures().best(kind)))
        at = stands(visit(PAGE, beginning=beginning, tiny_off=off))
        assert "the sentence goes wrong" in words(at)
        found = chances(at)
        whole, less = found["the network"], found[f"without head {off}"]
        right = max(whole, key=whole.get)
        assert whole[right] > 0.4
        assert less[right] < whole[right] / 2
        (bars,) = [each.spec for each in charts(at) if each.alt.startswith("Chances")]
        assert f'"range": ["{palette.CHOSEN}", "{palette.BAR}"]' in bars
        assert [*found][-1] == "the network", "blue is the network, whatever stands beside it"


def test_a_first_visit_watches_the_head_that_brings_most_look_at_its_noun():
    values = values_of()
    assert (
        values.tiny_head == FIRST_WATCHED == lesson.worth_watching(values.beginning, lesson.PRONOUN)
    )
    amounts = {part.head: part.amount for part in lesson.parts_of(values)}
    assert max(amounts, key=amounts.get) == lesson.head_of(FIRST_WATCHED)
    trace = lesson.trace_of(values)
    weights = lesson.weights_of(trace, lesson.head_of(FIRST_WATCHED)).values[-1]
    words = trace.labels("key")
    assert (words[-1], words[int(weights.argmax())]) == ("it", "cat")
    assert weights.max() > 0.9


def test_what_a_bar_hides_is_said_and_a_head_that_is_needed_is_marked_not_red():
    found = {part["name"]: part for part in table(visit(PAGE), "What each part brought")}
    needed = found["head 0.0 (because)"]
    assert needed["amount"] < 0
    assert needed["is_needed"]
    assert needed["text"].endswith("· less than 1%")
    assert sum(part["is_needed"] for part in found.values()) == 1
    (spec,) = [each.spec for each in charts(visit(PAGE)) if each.alt.startswith("What each part")]
    assert palette.NEGATIVE not in spec
    assert spec.count(palette.CHOSEN) == 1, "orange is what is needed, and nothing else"


def test_the_two_steps_of_the_pronoun_look_at_because_and_at_the_animal():
    values = values_of()
    one, two = (step_words(lesson.trace_of(values), head, "") for head in lesson.two_steps(values))
    assert "looks at “because”" in one
    assert "looks at “cat”" in two


@pytest.mark.parametrize("label", lesson.READY)
def test_a_beginning_to_try_brings_the_head_that_is_worth_watching(label):
    beginning, kind = lesson.READY[label]
    assert kind in shipped_figures().names(lesson.head_of(lesson.worth_watching(beginning, kind)))


def test_a_ready_beginning_is_taken_up():
    at = visit(PAGE)
    at.button(key="ready_a name again …_of_5").click().run()
    assert at.query_params["beginning"] == AGAIN
    assert chances(stands(at))["the network"]["brook"] > 0.9
