"""The bars of the next token in a browser: moved without the server, as the core computes."""

import json
import os

import pytest
import torch

from attention_core.real_model.drawing import Cuts, number_drawn, offered, ranked
from attention_core.real_model.model import open_model
from attention_core.real_model.run import logits, run
from attention_ui.lessons.real_model.write_chart import CARRIED, STOPS
from browser_tools import no_exception, open_page, script, settled, soon
from model_folders import tokenizer
from serving import start_server

PROMPT, N = "t3 t17 t5 t41", 49_152
NAMES = dict(zip(STOPS, ("temperature", "top_k", "top_p", "min_p"), strict=True))


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A small model of a large vocabulary, with many equally likely tokens, and its server."""
    transformers = pytest.importorskip("transformers", reason="writes a model's folder")
    folder = tmp_path_factory.mktemp("large")
    torch.manual_seed(3)
    config = transformers.GPT2Config(
        vocab_size=N, n_embd=8, n_layer=1, n_head=2, n_inner=8, n_positions=31
    )
    model = transformers.GPT2LMHeadModel(config)
    with torch.no_grad():
        table = model.transformer.wte.weight
        table.normal_(0, 1.4)
        table[1000:4000] = table[[*range(150)]].repeat(20, 1)  # 20 that are equal, of each
    model.save_pretrained(folder)
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer(N)))
    log = tmp_path_factory.mktemp("server") / "output.txt"
    server = start_server(log, env={**os.environ, "ATTENTION_EXPLORER_MODEL": str(folder)})
    opened = open_model(folder)
    found = logits(run(opened, opened.tokenizer.encode(PROMPT).ids), [-1])[0]
    yield f"real_model?predict=off&prompt={PROMPT.replace(' ', '+')}", server.url, ranked(found)
    server.stop()


MOVE = script("move_cuts")


def test_every_cut_is_what_the_core_cuts_and_follows_the_hand_without_the_server(page, large):
    path, url, order = large
    open_page(page, url, path)
    page.locator(".st-key-fills_chart_of_write").scroll_into_view_if_needed()
    for name in STOPS:
        page.locator(f".st-key-moves_{name} input").hover()
    settled(page)
    number = number_drawn(1)
    places = [
        *((at, k, 19, 0) for at in (0, 9, 19) for k in (0, 5, 9)),
        *((at, 9, p, 0) for at in (4, 14, 19) for p in (0, 9, 17, 18)),
        *((at, 9, 19, m) for at in (2, 9, 19) for m in (0, 1, 5, 25)),
        *((19, k, p, m) for k in (3, 6, 8) for p in (10, 18) for m in (1, 4)),
        *((19, 9, p, m) for p in (16, 18) for m in (1, 2)),
    ]
    for each in places:
        chosen = {NAMES[name]: STOPS[name][at] for (name, at) in zip(STOPS, each, strict=True)}
        found = page.evaluate(MOVE, dict(zip(STOPS, each, strict=True)))
        some = [[*chosen][:n] for n in (2, 3, 4)]
        kept = [len(offered(order, Cuts(**{n: chosen[n] for n in each})).ids) for each in some]
        wanted = offered(order, Cuts(**chosen))
        assert found["kept"] == kept, chosen
        carried = wanted.chances[:CARRIED].tolist()
        assert found["shares"] == pytest.approx(carried, abs=1e-9), chosen
        assert found["rest"] == pytest.approx(1 - sum(carried), abs=1e-8), chosen
        assert found["drawn"] == min(wanted.drawn(number), CARRIED), chosen
    # Each by itself, from rest to rest: what asks meanwhile is the page that catches up.
    for name, ats in zip(STOPS, ((14, 9), (4, 9), (6, 12), (0, 25)), strict=True):
        moved = []
        for at in ats:
            page.wait_for_timeout(400)
            settled(page)
            before, found = found, page.evaluate(MOVE, {name: at})
            moved.append(found["asked"] and found["kept"] != before["kept"])
        assert any(moved), f"the server was asked at each move of {name}"
    no_exception(page)


def test_a_token_that_is_added_is_taken_out_by_back_and_ten_come_as_one_step(page, app_url):
    open_page(page, app_url, "real_model?predict=off&next_seed=3")
    before, add = page.url, page.get_by_role("button", name="Add it")
    add.scroll_into_view_if_needed()
    page.evaluate(script("watch_place"))
    add.click()
    settled(page)
    assert page.evaluate("Math.min(...testPlaces) === Math.max(...testPlaces)")
    sliders = page.locator("[class*=st-key-moves_] input[type=range]")
    soon(page, sliders.count, len(STOPS))
    assert "written_ids=" in page.url
    one = page.url
    page.get_by_role("button", name="Write ten more").click()
    page.wait_for_function("url => location.href !== url", arg=one)
    settled(page)
    soon(page, sliders.count, len(STOPS))
    assert len(page.url.rpartition("written_ids=")[2].partition("&")[0].split(".")) == 11
    boxes = page.locator(".st-key-drawn_written svg path[fill='#3A80C4']")
    assert boxes.count() == 11, "each token that was written is shaded"
    room, last = page.locator("[class*=picture_text]").bounding_box(), boxes.last.bounding_box()
    assert room["y"] + room["height"] - last["y"] - last["height"] < 12, "nothing is below it"
    for wanted in (one, before):
        page.go_back()
        settled(page)
        assert page.url == wanted
    assert page.locator(".st-key-drawn_written").count() == 0
    no_exception(page)
