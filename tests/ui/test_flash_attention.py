"""The lesson on flash attention: the table tile by tile, what does not fit, checks and words."""

import pytest
import torch

from attention_core.mechanism.tile_traffic import plain_traffic, tiled_traffic
from attention_ui.lessons.flash_attention import lesson, words
from attention_ui.reactive.control import NoRoom, understood
from chosen import of


def values_of(name, **changes):
    return of(lesson.CONTROLS, example=name, **changes)


@pytest.mark.parametrize("sentence", ["", "cat", "the dog chases " * 21 + "cat"])
@pytest.mark.parametrize("causal", ["off", "on"])
def test_weights_computed_again_give_the_gradient_that_autograd_gives(causal, sentence):
    changes = {"sentence": sentence} if sentence else {}
    values = values_of("named_features", causal_heads=causal, **changes)
    again = lesson.weights_again(values, lesson.all_blocks(values))
    torch.testing.assert_close(again["weights_again"].value, again["weights"].value)
    assert lesson.same_gradient(again)[0]
    name = again["weights"].inputs[0].name
    scores = again[name].value.clone().requires_grad_()
    with torch.enable_grad():
        loss = (scores.softmax(dim=-1) @ again["values"].value).square().sum()
    wanted = torch.autograd.grad(loss, scores)[0]
    torch.testing.assert_close(again[f"grad_{name}"].value, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("causal", ["off", "on"])
def test_what_is_kept_tile_by_tile_ends_as_the_context_vectors(causal):
    values = values_of("wild_cat", causal_heads=causal, tile_queries="4", tile_keys="3")
    tiles, whole, table = lesson.cut(values), lesson.all_blocks(values), lesson.plain(values)
    joined = lesson.with_table(whole, tiles)
    for agrees in (lesson.same_as_plain, lesson.same_as_torch):
        assert agrees(whole, table)[0]
    assert len(lesson.visited(values)) == (9 if causal == "on" else 12)
    for number, (at, called) in enumerate(lesson.visited(values).items(), start=1):
        tile = tiles[at]
        shown = lesson.held_at(values, joined, at).wide.words
        title = f"Tile {number} of {len(lesson.visited(values))}: {called}"
        assert title in {word.text for word in shown}
        held, largest, shrink, total, output, context = lesson.kept_at(values, joined, at)[1]
        rows, columns = (slice(each[0], each.stop) for each in (tile.queries, tile.keys))
        here = f"{tile.query_block}_{tile.key_block}"
        # Of the table nothing is seen but the tile, with its own exponentials.
        assert held.values[rows, columns].equal(whole[f"tile_exponentials_{here}"].value)
        n_cells = len(tile.queries) * len(tile.keys)
        assert held.strengths.sum() == held.strengths[rows, columns].sum() == n_cells
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


@pytest.mark.parametrize("n_tokens", [1, 2, 7, 9, 64])
@pytest.mark.parametrize("size", ["1", "3", "64"])
def test_no_size_makes_more_than_eight_blocks_a_side(n_tokens, size):
    text = {"sentence": "a " * n_tokens, "tokenizer": "blanks", "drop_blanks": "on"}
    sizes = {"tile_queries": size, "tile_keys": size, "tile": "63"}
    values, wrong = understood({"example": "wild_cat", **text, **sizes}, lesson.CONTROLS)
    assert all(isinstance(each, NoRoom) for each in wrong.values())
    for used in values.of(lesson.TILE_QUERIES, lesson.TILE_KEYS):
        assert 1 <= used <= n_tokens
        assert -(-n_tokens // used) <= lesson.MAX_BLOCKS
    assert len(lesson.cut(values)) <= lesson.MAX_BLOCKS**2
    assert not lesson.chosen(values).is_hidden


@pytest.mark.parametrize(("causal", "queries", "keys", "said"), [
    ("off", "4", "3", "Of 12 tiles 3 would be, with the causal switch on, wholly in the future"),
    ("on", "4", "3", "Of 12 tiles 3 are wholly in the future and skipped."),
    ("on", "3", "11", "Of 4 tiles 0 are"),
    ("on", "6", "6", "Of 4 tiles 1 is wholly"),
])  # fmt: skip
def test_skipped_tiles_are_counted(causal, queries, keys, said):
    sizes = {"causal_heads": causal, "tile_queries": queries, "tile_keys": keys}
    assert said in words.skipped_words(lesson.cut(values_of("wild_cat", **sizes)))


def test_where_a_tile_is_not_computed_one_that_goes_on_is_held():
    first = lesson.chosen(values_of("wild_cat", tile_queries="4", tile_keys="3"))
    assert (first.query_block, first.key_block) == (0, 1)
    causal = {"example": "wild_cat", "causal_heads": "on"}
    for at in range(64):
        values, _ = understood({**causal, "tile": str(at)}, lesson.CONTROLS)
        tile = lesson.chosen(values)
        assert not tile.is_hidden
        assert lesson.visited(values)[values.tile] == lesson.tile_called(tile)
        if at not in lesson.visited(values):
            assert (tile.query_block, tile.key_block) == (1, 1)


def test_without_shrinking_early_keys_weigh_too_much():
    values = values_of("named_features", causal_heads="on")
    trace = lesson.trace_of(values)
    block = lesson.chosen(values).query_block
    beside = lesson.unshrunk(trace, block)
    total = sum(trace[f"tile_sum_{block}_{key}"].value for key in range(block + 1))
    output = sum(trace[f"tile_output_{block}_{key}"].value for key in range(block + 1))
    torch.testing.assert_close(beside[f"wrong_context_vectors_{block}"].value, output / total)
    assert beside["difference"].value.abs().max() > 0.1


@pytest.mark.parametrize(("changes", "said"), [
    ({}, "Into 160 KiB of fast memory fit tiles of 128 × 128, square for simplicity (145 KiB:"),
    ({"causal_heads": "on"}, "Tiles that the causal mask skips are not counted"),
    ({"fast_memory": "16", "flash_width": "256", "m_bytes": "4"},
     "times as many bytes as the whole table**: square ones need more"),
    ({"flash_tokens": "64"},
     "Into 160 KiB of fast memory the whole table fits as one tile (56.5 KiB"),
])  # fmt: skip
def test_what_is_saved_at_a_size(changes, said):
    values = values_of("wild_cat", **changes)
    side, whole, tiled = words.at_size(values)
    n, d = values.flash_tokens, values.flash_width
    assert whole == plain_traffic(n, n, d, d)
    assert tiled == tiled_traffic(n, n, d, d, side, side, values.causal_heads)
    assert said in words.saved_words(values, side, whole, tiled)
    assert f"{n:,} tokens" in words.what_it_saves(values).answer
