"""The tiles as they are played: what runs along after each, from the traces."""

from attention_core.mechanism.tiling import Tile
from attention_core.text.tokenizers import visible
from attention_core.trace import Trace

from ...charts.tiles import play_tiles
from ...charts.tiles_axes import SMALLEST_LABELLED, TABLE
from ...charts.tiles_played import EVER, State, TilesPlayed
from ...page.show import show_played
from ...page.view import View
from ...settings.choices import tile_called


def show_tiles(view: View, whole: Trace) -> None:
    """The player, which begins at the tile that is taken apart below."""
    settings = view.settings
    first = settings.visited_tiles.index(settings.chosen_tile)
    chart = play_tiles(played(whole, settings.tiles), first)
    show_played(chart, "played_tiles", "Play the tiles", pace=1_100, one="tile")


def played(whole: Trace, tiles: tuple[Tile, ...]) -> TilesPlayed:
    """What is drawn: `whole` has all blocks of queries."""
    visited = [tile for tile in tiles if not tile.is_hidden]
    n_moments = len(visited)
    return TilesPlayed(
        tokens=[visible(token) for token in whole.labels("query")],
        tiles=tiles,
        titles=[
            f"Tile {at + 1} of {n_moments}: {tile_called(tile)}" for at, tile in enumerate(visited)
        ],
        exponentials=[
            whole[f"tile_exponentials_{tile.query_block}_{tile.key_block}"].value.tolist()
            for tile in visited
        ],
        states=[
            state
            for at, tile in enumerate(visited)
            for state in _states(whole, tile, at, _is_last(visited, at))
        ],
    )


def _is_last(visited: list[Tile], at: int) -> bool:
    """Whether a tile is the last of its block of queries."""
    return at + 1 == len(visited) or visited[at + 1].query_block != visited[at].query_block


def _states(whole: Trace, tile: Tile, at: int, is_last: bool) -> list[State]:
    """What runs along for each query of a tile, and what it ends with after the last."""
    here = f"{tile.query_block}_{tile.key_block}"
    columns = (f"running_largest_{here}", f"running_sum_{here}")
    largest, total = (whole[name].value[:, 0].tolist() for name in columns)
    shrink = whole[f"shrink_{here}"].value[:, 0].tolist()
    output = whole[f"running_output_{here}"].value.tolist()
    context = whole[f"context_vectors_{tile.query_block}"].value.tolist()
    found = []
    for row, query in enumerate(tile.queries):
        ran = (largest[row], shrink[row] if tile.key_block else None, total[row])
        found.append(State(query, at, at + 1, *ran, output[row]))
        if is_last:
            done = (largest[row], None, total[row])
            found.append(State(query, at + 1, EVER, *done, context[row], is_done=True))
    return found


def crowded_words(n_tokens: int) -> str:
    """How to read a table whose rows are too low for words and numbers; nothing for others."""
    if TABLE // n_tokens >= SMALLEST_LABELLED:
        return ""
    return (
        "So many tokens leave no room for words and numbers: point at a cell, or a shade of m, ℓ "
        "and O, for its own. Blue is above 0, red below; what is stronger is larger."
    )


def skipped_words(tiles: tuple[Tile, ...]) -> str:
    """How many tiles a causal mask leaves out, or would leave out."""
    if len(tiles) == 1:
        return "One tile holds the whole table, so no tile can be skipped."
    if all(tile.offset is None for tile in tiles):
        later = sum(tile.keys[0] > tile.queries[-1] for tile in tiles)
        return f"With the causal switch on, {later} of the {len(tiles)} tiles would be skipped."
    hidden, cut = (sum(getattr(each, name) for each in tiles) for name in ("is_hidden", "is_cut"))
    through = f"{cut} {'is' if cut == 1 else 'are'} cut by the mask"
    if not hidden:
        return f"Of {len(tiles)} tiles none lies wholly in the future; {through}."
    lie = "lies wholly in the future and is" if hidden == 1 else "lie wholly in the future and are"
    return f"Of {len(tiles)} tiles {hidden} {lie} skipped: nothing is computed. {through}."
