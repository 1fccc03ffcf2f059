"""The lesson on flash attention: what is played, settings that do not fit, checks and words."""

import re
from dataclasses import replace
from itertools import pairwise

import pyarrow.compute as pc
import pytest
import torch

from attention_core.examples import EXAMPLES
from attention_core.mechanism.tile_traffic import plain_traffic, tiled_traffic
from attention_ui.charts.tiles import play_tiles
from attention_ui.charts.tiles_played import CELL, EVER
from attention_ui.lessons.flash_attention.agreement import same_as_plain, same_as_torch
from attention_ui.lessons.flash_attention.answers import what_it_saves, why_it_shrinks
from attention_ui.lessons.flash_attention.building import all_blocks, build, plain, where
from attention_ui.lessons.flash_attention.playing import played, skipped_words
from attention_ui.lessons.flash_attention.savings import (
    at_size,
    counted,
    in_numbers,
    words,
    written,
)
from attention_ui.lessons.flash_attention.shrinking import unshrunk, without_shrinking, worked_row
from attention_ui.settings.choices import MAX_BLOCKS, tile_called
from attention_ui.settings.fit import changed
from attention_ui.settings.offered import fitting_tile, visited
from attention_ui.settings.settings import Settings
from visiting import rendered, visit

PAGE = "pages/flash_attention.py"


def settings_of(name, **changes):
    return changed(Settings.of(EXAMPLES[name]), **changes)


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("causal", [False, True])
def test_every_example_gives_what_the_whole_table_gives(name, causal):
    settings = settings_of(name, causal_heads=causal, tile_queries=4, tile_keys=3)
    whole, table = all_blocks(settings), plain(settings)
    assert same_as_plain(whole, table)[0]
    assert same_as_torch(whole, table)[0]
    assert "The formulas give the same" in counted(whole, table, settings)
    queries, keys, values = (table[n].value for n in ("queries", "keys", "values"))
    scores = queries @ keys.mT / {"none": 1, "sqrt_d": keys.shape[-1] ** 0.5}[settings.scale]
    if causal:
        later = torch.ones_like(scores).triu(1).bool()
        scores = scores.masked_fill(later, -torch.inf)
    wanted = scores.softmax(dim=-1) @ values
    made = [whole[n].value for n in whole if n.startswith("context_vectors_")]
    torch.testing.assert_close(torch.cat(made), wanted, rtol=1e-4, atol=1e-4)
    trace = build(settings)
    at = where(settings)
    assert trace[f"running_sum_{at}"].value.equal(whole[f"running_sum_{at}"].value)


@pytest.mark.parametrize("causal", [False, True])
def test_what_is_played_is_what_runs_along_and_ends_as_the_context_vectors(causal):
    settings = settings_of("wild_cat", causal_heads=causal, tile_queries=4, tile_keys=3)
    whole, table = all_blocks(settings), plain(settings)
    run = played(whole, settings.tiles)
    n_moments = len(settings.visited_tiles)
    assert len(run.titles) == n_moments == (9 if causal else 12)
    assert run.titles[0] == f"Tile 1 of {n_moments}: queries 0 to 3, keys 0 to 2"
    for query in range(11):
        mine = [state for state in run.states if state.query == query]
        ends = [(state.start, state.end) for state in mine]
        assert all(end == start for (_, end), (start, _) in pairwise(ends))
        assert mine[-1].is_done
        assert mine[-1].end == EVER
        context = table["context_vectors"].value[query]
        torch.testing.assert_close(torch.tensor(mine[-1].output), context, rtol=1e-4, atol=1e-5)
        assert mine[0].shrink is None
    chart = play_tiles(run, 3)
    (shown,) = (each for each in chart.spec["params"] if each["name"] == "tile_shown")
    assert (shown["value"], shown["bind"]["min"], shown["bind"]["max"]) == (4, 1, n_moments)
    # In their last tile the exponentials, divided by the sum, are the weights.
    tile = settings.visited_tiles[-1]
    weights = table["weights"].value[tile.queries.start :, tile.keys.start : tile.keys.stop]
    total = whole[f"running_sum_{tile.query_block}_{tile.key_block}"].value
    torch.testing.assert_close(torch.tensor(run.exponentials[-1]) / total, weights)
    cells = chart.frame.filter(pc.field("kind") == CELL)
    assert cells.num_rows == sum(len(t.queries) * len(t.keys) for t in settings.visited_tiles)
    assert "running maximum" in chart.alt


@pytest.mark.parametrize("n_tokens", [1, 2, 7, 9, 64])
@pytest.mark.parametrize("size", [1, 3, 64])
def test_no_size_makes_more_than_eight_blocks_a_side(n_tokens, size):
    used = fitting_tile(size, n_tokens)
    assert 1 <= used <= n_tokens
    assert -(-n_tokens // used) <= MAX_BLOCKS
    settings = settings_of(
        "wild_cat",
        sentence="a " * n_tokens,
        tokenizer="blanks",
        drop_blanks=True,
        tile_queries=size,
        tile_keys=size,
        tile=63,
    )
    assert len(settings.tiles) <= MAX_BLOCKS**2
    assert settings.chosen_tile in settings.visited_tiles


def test_skipped_tiles_are_counted():
    settings = settings_of("wild_cat", tile_queries=4, tile_keys=3)
    assert skipped_words(settings.tiles) == (
        "With the causal switch on, 3 of the 12 tiles would be skipped."
    )
    causal = changed(settings, causal_heads=True)
    hidden = [tile for tile in causal.tiles if min(tile.keys) > max(tile.queries)]
    assert f"Of 12 tiles {len(hidden)} lie wholly in the future" in skipped_words(causal.tiles)
    rows = changed(causal, tile_queries=3, tile_keys=11)
    assert "none lies wholly in the future; 4 are cut" in skipped_words(rows.tiles)
    one = changed(causal, tile_queries=11, tile_keys=11)
    assert skipped_words(one.tiles).startswith("One tile holds the whole table")


def test_where_a_tile_is_not_computed_the_next_that_goes_on_is_taken_apart():
    settings = settings_of("wild_cat", tile_queries=4, tile_keys=3)
    assert (settings.chosen_tile.query_block, settings.chosen_tile.key_block) == (0, 1)
    causal = changed(settings_of("wild_cat"), causal_heads=True)
    assert (causal.chosen_tile.query_block, causal.chosen_tile.key_block) == (1, 1)
    for at in range(64):
        chosen = changed(causal, tile=at)
        assert not chosen.chosen_tile.is_hidden
        assert [*visited(chosen).values()] == [tile_called(each) for each in causal.visited_tiles]
        assert visited(chosen)[chosen.tile] == tile_called(chosen.chosen_tile)


def test_without_shrinking_early_keys_weigh_too_much():
    settings = settings_of("named_features")
    trace = build(settings)
    block = settings.chosen_tile.query_block
    beside = unshrunk(trace, block)
    total = sum(trace[f"tile_sum_{block}_{key}"].value for key in range(3))
    output = sum(trace[f"tile_output_{block}_{key}"].value for key in range(3))
    wrong = beside[f"wrong_context_vectors_{block}"].value
    torch.testing.assert_close(wrong, output / total)
    assert beside["difference"].value.abs().max() > 0.1
    question = without_shrinking()
    assert [question.judge([at]).right for at in range(4)] == [False, True, False, False]
    row = torch.tensor([2.0, 4.0, 5.0])
    wanted = float(row.sub(5).exp().sum())
    assert f"+ 1 = {wanted:.2f}, as if 5 had been known" in worked_row()
    wrong = float(torch.cat([row[:2] - 4, row[2:] - 5]).exp().sum())
    assert wrong > wanted + 0.5
    said = why_it_shrinks(settings, trace)
    assert "rises from 0.00 to 3.33" in said
    assert "multiplied by 0.036" in said


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "Tiles of 128 × 128 fit (96.5 KiB: queries"),
        ({}, "of 256 × 256 they would need 257 KiB. The whole table moves **3.97 times as many"),
        ({}, "The table would be 128 MiB, and grows"),
        ({"causal_heads": True}, "Tiles that the causal mask skips are not counted"),
        (
            {"fast_memory": 16, "flash_width": 256, "m_bytes": "4"},
            "times as many bytes as the whole table**",
        ),
        ({"flash_tokens": 64}, "The whole table fits as one tile (40.2 KiB"),
        ({"flash_tokens": 64}, "The table would be only 8 KiB: a loss for so short a text."),
    ],
)
def test_what_is_saved_at_a_size(changes, said):
    settings = settings_of("wild_cat", **changes)
    side, whole, tiled = at_size(settings)
    n, d = settings.flash_tokens, settings.flash_width
    assert whole == plain_traffic(n, n, d, d)
    assert tiled == tiled_traffic(n, n, d, d, side, side, settings.causal_heads)
    assert said in words(settings, side, whole, tiled)
    assert f"{n:,} tokens" in what_it_saves(settings)


@pytest.mark.parametrize(
    ("size", "said"), [(900, "900 bytes"), (2_048, "2 KiB"), (3 * 2**30, "3 GiB")]
)
def test_bytes_have_a_unit(size, said):
    assert written(size) == said


@pytest.mark.slow("1 s: whole pages")
def test_the_page_follows_its_settings_and_what_does_not_fit_is_said():
    at = visit(PAGE, example="journey_123", tile="3", causal_heads="on", predict="off")
    text = rendered(at)
    assert "Of 4 tiles 1 lies wholly in the future and is skipped: nothing" in text
    assert "in the tiles" not in text
    assert "only those of skipped tiles are saved" in text
    assert at.session_state["settings"].chosen_tile.query_block == 1
    at.toggle(key="control_causal_heads").set_value(False).run()
    text = rendered(at)
    assert "not one is saved" in text
    assert "In the matrix products alone" in text
    assert "Rescaling what was gathered comes on top, and is not counted" in text
    assert "With the causal switch on, 1 of the 4 tiles would be skipped" in text
    assert not at.exception
    long = visit(PAGE, sentence="a " * 64, tokenizer="text", tile_keys="2", predict="off")
    assert not long.exception
    one = visit(PAGE, sentence="cat", tokenizer="text", causal_heads="on", predict="off")
    assert not any("is used here" in each for box in one.select_slider for each in box.options)
    assert "One tile holds the whole table" in rendered(one)
    assert not one.exception
    assert "no room for words and numbers" in rendered(long)
    assert "no room for words and numbers" not in text
    sizes = next(each for each in long.select_slider if each.label == "Keys in a tile")
    assert sizes.options[0] == "2: 8 is used here"


@pytest.mark.parametrize(("tokens", "width"), [(8_192, 64), (97, 64), (1_009, 128)])
def test_the_formulas_of_the_bytes_come_to_the_numbers_that_stand_behind_them(tokens, width):
    settings = replace(settings_of("wild_cat"), flash_tokens=tokens, flash_width=width)
    side, whole, tiled = at_size(settings)
    worked = re.findall(r"([\d,²·+ ]+) = ([\d,]+) numbers", in_numbers(settings, side))
    assert len(worked) == 2
    for (formula, said), way in zip(worked, (whole, tiled), strict=True):
        plain = formula.replace(",", "").replace("·", "*").replace("²", "**2")
        assert eval(plain) == int(said.replace(",", "")) == way.moved
    for way in (whole, tiled):
        assert written(way.moved * int(settings.m_bytes)) in in_numbers(settings, side)
