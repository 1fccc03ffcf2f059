"""The card *Write on*: what a link may say of it, what is put behind the text, and what is told."""

import itertools
import json
from types import SimpleNamespace

import pytest

from attention_ui.lessons.real_model import lesson, running, write_on
from attention_ui.lessons.real_model.write_chart import MIN_PS, TOP_PS
from attention_ui.reactive import long_run
from chosen import of, read
from visiting import stands, texts, visit

PAGE, TEXT = "real_model", "the tired cat sees the dog because it"


@pytest.mark.parametrize(("link", "why"), [
    ({"written_ids": "99"}, "there is no token 99: the model's vocabulary has 61, counted from 0"),
    ({"written_ids": "5.-1"}, "it must look like 8.120.7"),
    ({"written_ids": "5..6"}, "it must look like 8.120.7"),
    ({"written_ids": "9" * 400}, "it must look like 8.120.7"),
    ({"written_ids": ".".join("1" * 300)}, "it names 300 tokens, and 256 fit"),
    ({"next_top_k": "7"}, "it must be a stop of its slider"),
])  # fmt: skip
def test_a_link_that_cannot_be_used_is_said_in_words_and_the_page_stands(link, why):
    _, wrong = read(model="tiny", **link)
    (name,) = link
    assert why in str(wrong[name])
    at = stands(visit(PAGE, prompt="the cat", **link))
    assert why.split(",")[0] in texts(at)
    assert at.query_params["prompt"] == "the cat"


def test_as_many_written_tokens_are_kept_as_there_are_places_for():
    own = len(lesson.encoded_of(of(model="tiny", prompt="the cat")).ids)
    at = stands(visit(PAGE, prompt="the cat", written_ids=".".join(["5"] * 60)))
    n = len(at.query_params["written_ids"].split("."))
    assert own + n == min(lesson.model_of(of(model="tiny")).settings.longest, 64)
    assert f"the first {n} that were written are kept" in texts(at)
    assert "no more fit here" in texts(at)
    assert button(at, "Add it").disabled
    assert "Write ten more" not in [each.label for each in at.button]


def button(at, label):
    return next(each for each in at.button if each.label == label)


@pytest.mark.slow("4 s: a page for each token")
def test_ten_tokens_are_those_that_are_added_one_by_one_and_another_text_has_none_of_them():
    link = {"prompt": TEXT, "next_seed": "4", "next_temperature": "1.3"}
    at = stands(visit(PAGE, **link))
    for _ in range(3):
        at = stands(button(at, "Add it").click().run())
    one_by_one = at.query_params["written_ids"]
    at = stands(visit(PAGE, **link))
    at = stands(button(at, "Write ten more").click().run())
    at_once = at.query_params["written_ids"]
    assert len(at_once.split(".")) == 10
    assert at_once.startswith(f"{one_by_one}.")
    at = stands(button(at, "Take the last one out").click().run())
    assert at.query_params["written_ids"] == at_once.rpartition(".")[0]
    at = stands(at.text_area(key="control_prompt").set_value("the cat").run())
    assert "written_ids" not in at.query_params


def test_all_of_the_page_reads_what_was_written():
    values = of(model="tiny", prompt=TEXT, written_ids="5.17")
    ids = lesson.encoded_of(of(model="tiny", prompt=TEXT)).ids
    assert lesson.whole(values)[1] == (*ids, 5, 17)
    assert len(lesson.encoded_of(values).pieces) == len(ids) + 2
    assert lesson.other(values)[1][-2:] == (5, 17)


def test_who_is_given_a_locked_control_cannot_move_it():
    at = stands(visit(PAGE, lock="top_p", top_p="0.5", hide="min_p"))
    (chart,) = [each.proto for each in at.get("vega_lite_chart") if '"at_p"' in each.proto.spec]
    params = {each["name"]: each for each in json.loads(chart.spec)["params"]}
    assert params["at_p"]["value"] == TOP_PS.index(0.5)
    assert params["at_m"]["value"] == MIN_PS.index(0)
    assert "expr" in params["at_temperature"]
    assert {*chart.selection_mode} == {"next_temperature", "next_top_k"}


def test_what_was_written_is_told_with_its_chance_and_what_else_was_likely():
    values = of(model="tiny", prompt=TEXT, written_ids="5.17")
    for _ in running.passes(lesson.whole(values)):
        pass
    frame = write_on.so_far(values, running.kept(lesson.whole(values))).frame
    assert frame.chance.notna().tolist() == [False] * (len(frame) - 2) + [True, True]
    assert all(each.count("%") == write_on.MOST_OTHERS for each in frame.others.iloc[-2:])


@pytest.mark.parametrize(("most", "n_done"), [(60.0, 20), (5.0, 6)])
def test_work_within_a_callback_is_done_to_its_end_unless_it_takes_too_long(
    monkeypatch, most, n_done
):
    done, clock = [], itertools.count()
    monkeypatch.setattr(long_run, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    long_run.within_callback((done.append(at) or (at / 20, None) for at in range(20)), most)
    assert len(done) == n_done
