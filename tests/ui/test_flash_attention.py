"""The lesson on flash attention: the table tile by tile, what does not fit, checks and words."""

import re

import pytest
import torch

from attention_core.examples import EXAMPLES
from attention_core.mechanism.tile_traffic import plain_traffic, tiled_traffic
from attention_ui.controls.control import NoRoom, understood
from attention_ui.lessons.flash_attention.lesson import (
    CONTROLS,
    MAX_BLOCKS,
    TILE_KEYS,
    TILE_QUERIES,
    all_blocks,
    chosen,
    cut,
    held_at,
    kept_at,
    plain,
    same_as_plain,
    same_as_torch,
    same_gradient,
    tile_called,
    trace_of,
    unshrunk,
    visited,
    weights_again,
    where,
    with_table,
)
from attention_ui.lessons.flash_attention.words import (
    at_size,
    counted,
    in_numbers,
    saved_words,
    skipped_words,
    what_it_saves,
    why_it_shrinks,
    without_shrinking,
    worked_row,
)
from attention_ui.words import in_bytes
from chosen import of


def values_of(name, **changes):
    return of(CONTROLS, example=name, **changes)


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("causal", ["off", "on"])
def test_every_example_gives_what_the_whole_table_gives(name, causal):
    values = values_of(name, causal_heads=causal, tile_queries="4", tile_keys="3")
    whole, table = all_blocks(values), plain(values)
    assert same_as_plain(whole, table)[0]
    assert same_as_torch(whole, table)[0]
    good, said = counted(whole, table, values)
    assert good
    assert "The formulas give the same" in said
    trace = trace_of(values)
    at = where(chosen(values))
    assert trace[f"running_sum_{at}"].value.equal(whole[f"running_sum_{at}"].value)


@pytest.mark.parametrize("sentence", ["", "cat", "the dog chases " * 21 + "cat"])
@pytest.mark.parametrize("causal", ["off", "on"])
def test_weights_computed_again_give_the_gradient_that_autograd_gives(causal, sentence):
    changes = {"sentence": sentence} if sentence else {}
    values = values_of("named_features", causal_heads=causal, **changes)
    again = weights_again(values, all_blocks(values))
    torch.testing.assert_close(again["weights_again"].value, again["weights"].value)
    assert same_gradient(again)[0]
    name = again["weights"].inputs[0].name
    scores = again[name].value.clone().requires_grad_()
    with torch.enable_grad():
        loss = (scores.softmax(dim=-1) @ again["values"].value).square().sum()
    wanted = torch.autograd.grad(loss, scores)[0]
    torch.testing.assert_close(again[f"grad_{name}"].value, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("causal", ["off", "on"])
def test_what_is_kept_tile_by_tile_ends_as_the_context_vectors(causal):
    values = values_of("wild_cat", causal_heads=causal, tile_queries="4", tile_keys="3")
    tiles, whole, table = cut(values), all_blocks(values), plain(values)
    joined = with_table(whole, tiles)
    assert len(visited(values)) == (9 if causal == "on" else 12)
    for at in visited(values):
        tile = tiles[at]
        held, largest, shrink, total, output, context = kept_at(values, joined, at)[1]
        rows, columns = (
            slice(tile.queries[0], tile.queries.stop),
            slice(*tile.keys[:1], tile.keys.stop),
        )
        here = f"{tile.query_block}_{tile.key_block}"
        # Of the table nothing is seen but the tile, with its own exponentials.
        assert held.values[rows, columns].equal(whole[f"tile_exponentials_{here}"].value)
        assert (
            held.strengths.sum()
            == held.strengths[rows, columns].sum()
            == len(tile.queries) * len(tile.keys)
        )
        for matrix, name in ((largest, "largest"), (total, "sum"), (output, "output")):
            assert matrix.values[rows].equal(whole[f"running_{name}_{here}"].value)
        assert shrink.strengths.any() == bool(tile.key_block)
        if tile.key_block:
            assert shrink.values[rows].equal(whole[f"shrink_{here}"].value)
        done = context.strengths[:, 0].bool()
        assert done[: tile.queries[0]].all()
        assert not done[tile.queries.stop :].any()
    assert done.all()
    torch.testing.assert_close(context.values, table["context_vectors"].value)
    # In the last tile the exponentials, divided by the sum, are the weights.
    torch.testing.assert_close(
        (held.values / total.values)[rows, columns], table["weights"].value[rows, columns]
    )


def test_the_picture_says_at_every_tile_which_it_is():
    values = values_of("wild_cat", causal_heads="on", tile_queries="4", tile_keys="3")
    joined = with_table(all_blocks(values), cut(values))
    layouts = [held_at(values, joined, at) for at in visited(values)]
    texts = [*zip(*([word.text for word in each.wide.words] for each in layouts), strict=True)]
    titles = next(each for each in texts if each[0].startswith("Tile 1 of 9"))
    assert titles[0] == "Tile 1 of 9: queries 0 to 3, keys 0 to 2"
    assert len(titles) == 9
    assert ("", *["done"] * 8) in texts
    skipped = [word.text for word in layouts[0].wide.words if word.text == "skipped"]
    assert len(skipped) == sum(tile.is_hidden for tile in cut(values))


@pytest.mark.parametrize("n_tokens", [1, 2, 7, 9, 64])
@pytest.mark.parametrize("size", ["1", "3", "64"])
def test_no_size_makes_more_than_eight_blocks_a_side(n_tokens, size):
    text = {"sentence": "a " * n_tokens, "tokenizer": "blanks", "drop_blanks": "on"}
    sizes = {"tile_queries": size, "tile_keys": size, "tile": "63"}
    values, wrong = understood({"example": "wild_cat", **text, **sizes}, CONTROLS)
    assert all(isinstance(each, NoRoom) for each in wrong.values())
    for used in values.of(TILE_QUERIES, TILE_KEYS):
        assert 1 <= used <= n_tokens
        assert -(-n_tokens // used) <= MAX_BLOCKS
    assert len(cut(values)) <= MAX_BLOCKS**2
    assert not chosen(values).is_hidden


def test_skipped_tiles_are_counted():
    sizes = {"tile_queries": "4", "tile_keys": "3"}
    assert skipped_words(cut(values_of("wild_cat", **sizes))) == (
        "With the causal switch on, 3 of the 12 tiles would be skipped."
    )
    causal = cut(values_of("wild_cat", causal_heads="on", **sizes))
    hidden = [tile for tile in causal if min(tile.keys) > max(tile.queries)]
    assert f"Of 12 tiles {len(hidden)} lie wholly in the future" in skipped_words(causal)
    rows = values_of("wild_cat", causal_heads="on", tile_queries="3", tile_keys="11")
    assert "none lies wholly in the future; 4 are cut" in skipped_words(cut(rows))
    one = values_of("wild_cat", causal_heads="on", tile_queries="11", tile_keys="11")
    assert skipped_words(cut(one)).startswith("One tile holds the whole table")


def test_where_a_tile_is_not_computed_one_that_goes_on_is_held():
    first = chosen(values_of("wild_cat", tile_queries="4", tile_keys="3"))
    assert (first.query_block, first.key_block) == (0, 1)
    causal = {"example": "wild_cat", "causal_heads": "on"}
    for at in range(64):
        values, _ = understood({**causal, "tile": str(at)}, CONTROLS)
        tile = chosen(values)
        assert not tile.is_hidden
        assert visited(values)[values.tile] == tile_called(tile)
        if at not in visited(values):
            assert (tile.query_block, tile.key_block) == (1, 1)


def test_without_shrinking_early_keys_weigh_too_much():
    values = values_of("named_features")
    trace = trace_of(values)
    block = chosen(values).query_block
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
    said = why_it_shrinks(trace, chosen(values)).answer
    assert "rises from 0.00 to 3.33" in said
    assert "multiplied by 0.036" in said


@pytest.mark.parametrize(("changes", "said"), [
    ({}, "Into 160 KiB of fast memory fit tiles of 128 × 128, square for simplicity (145 KiB:"),
    ({}, "of 256 × 256 they would need 418 KiB. The whole table moves **3.97 times as many"),
    ({}, "In slow memory the table takes 128 MiB and tiles need none: the table grows"),
    ({"causal_heads": "on"}, "Tiles that the causal mask skips are not counted"),
    ({"fast_memory": "16", "flash_width": "256", "m_bytes": "4"},
     "times as many bytes as the whole table**: square ones need more"),
    ({"flash_tokens": "64"},
     "Into 160 KiB of fast memory the whole table fits as one tile (56.5 KiB"),
    ({"flash_tokens": "64"},
     "In slow memory the table takes 8 KiB and tiles need none: at this length that hardly"),
])  # fmt: skip
def test_what_is_saved_at_a_size(changes, said):
    values = values_of("wild_cat", **changes)
    side, whole, tiled = at_size(values)
    n, d = values.flash_tokens, values.flash_width
    assert whole == plain_traffic(n, n, d, d)
    assert tiled == tiled_traffic(n, n, d, d, side, side, values.causal_heads)
    assert said in saved_words(values, side, whole, tiled)
    assert f"{n:,} tokens" in what_it_saves(values).answer


@pytest.mark.parametrize(("tokens", "width"), [(8_192, 64), (97, 64), (1_009, 128)])
def test_the_formulas_of_the_bytes_come_to_the_numbers_that_stand_behind_them(tokens, width):
    values = values_of("wild_cat").but(flash_tokens=tokens, flash_width=width)
    side, whole, tiled = at_size(values)
    worked = re.findall(r"([\d,²·+ ]+) = ([\d,]+) numbers", in_numbers(values, side))
    assert len(worked) == 2
    for (formula, said), way in zip(worked, (whole, tiled), strict=True):
        plain = formula.replace(",", "").replace("·", "*").replace("²", "**2")
        assert eval(plain) == int(said.replace(",", "")) == way.moved
    for way in (whole, tiled):
        assert in_bytes(way.moved * int(values.m_bytes)) in in_numbers(values, side)
