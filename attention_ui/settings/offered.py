"""What a control offers beside the other settings: its choices now, and how far it may go."""

from typing import TYPE_CHECKING, Any

from attention_core.examples import EXAMPLES
from attention_core.recipes import STARTS
from attention_core.text.inputs import TRAINED, VOCABULARIES
from attention_core.text.tokenizers import TINY_LANGUAGE, TOKENIZERS

from .choices import MAX_BLOCKS, tile_called

if TYPE_CHECKING:
    from .settings import Settings


def tokens(settings: "Settings") -> dict[int, str]:
    return dict(enumerate(settings.numbered_tokens))


def last_token(settings: "Settings") -> tuple[int, str]:
    last = len(settings.inputs.tokens) - 1
    return max(last, 0), f"the last token is {last}"


def entries(settings: "Settings") -> dict[int, str]:
    inputs = settings.inputs
    names = inputs.components if inputs.has_given_vectors() else ()
    return dict(enumerate(names or (f"d{column}" for column in range(settings.d_in))))


def starts(settings: "Settings") -> dict[str, str]:
    """How matrices can begin: set by hand, or trained, only where the example has such."""
    example = EXAMPLES[settings.example]
    given = {"given": "Trained"} if example.is_trained else {"given": STARTS["given"]}
    drawn = {name: title for name, title in STARTS.items() if name != "given"}
    return drawn | (given if example.projections.given else {})


def tokenizers(settings: "Settings") -> dict[str, str]:
    """A trained network reads its own tokens, and nobody else does."""
    trained = EXAMPLES[settings.example].is_trained
    return {
        name: each.title for name, each in TOKENIZERS.items() if (name == TINY_LANGUAGE) == trained
    }


def vocabularies(settings: "Settings") -> dict[str, str]:
    """A trained network has a vector for each of its own words, and for no others."""
    trained = EXAMPLES[settings.example].is_trained
    return {name: title for name, title in VOCABULARIES.items() if (name == TRAINED) == trained}


def last_entry(settings: "Settings") -> tuple[int, str]:
    return max(settings.d_in - 1, 1), f"vectors are {settings.d_in} wide"


def heads(settings: "Settings") -> dict[int, str]:
    given = settings.heads_recipe.given_for(settings.d_in)
    if given:
        return {head: f"{head}: {name}" for head, name in enumerate(given.names)}
    return {head: str(head) for head in range(settings.n_heads)}


def last_head(settings: "Settings") -> tuple[int, str]:
    return settings.n_heads - 1, f"the last head is {settings.n_heads - 1}"


def sharing(n_heads: int) -> list[int]:
    """The numbers of key/value heads that query heads can share evenly."""
    return [count for count in range(1, n_heads + 1) if n_heads % count == 0]


def kv_heads(heads: str) -> dict[str, Any]:
    """What can be chosen of a number of key/value heads, beside the setting of query heads."""
    return {
        "choices": lambda settings: {count: str(count) for count in shared_by(settings, heads)},
        "limit": lambda settings: (
            getattr(settings, heads),
            f"there are {getattr(settings, heads)} query heads",
        ),
        "only_choices": True,
    }


def shared_by(settings: "Settings", heads: str) -> list[int]:
    return sharing(getattr(settings, heads))


def windows(settings: "Settings") -> dict[int, str]:
    """What a link named beyond this text is one: it counts again when the text is longer."""
    windows = {*range(len(settings.inputs.tokens) + 1), settings.window}
    return {window: str(window) if window else "all" for window in sorted(windows)}


def hidden_keys(settings: "Settings") -> dict[int, str]:
    """What a link named beyond this text is one, as with windows."""
    keys = tokens(settings)
    if settings.hidden is not None:
        keys.setdefault(settings.hidden, f"{settings.hidden}: not in this text")
    return keys


def least_tile(n_tokens: int) -> int:
    """The smallest tile of which a table's side has no more than MAX_BLOCKS."""
    return max(1, -(-n_tokens // MAX_BLOCKS))


def fitting_tile(size: int, n_tokens: int) -> int:
    """A size of tile as it is used with so many tokens."""
    return max(least_tile(n_tokens), min(size, n_tokens))


def visited(settings: "Settings") -> dict[int, str]:
    """The tiles that are computed, in the order in which they are gone through. A number that is
    none of theirs stands for the one that is taken apart in its place.
    """
    chosen = settings.chosen_tile
    return {
        settings.tile if tile == chosen else at: tile_called(tile)
        for at, tile in enumerate(settings.tiles)
        if not tile.is_hidden
    }


def last_tile(settings: "Settings") -> tuple[int, str]:
    last = len(settings.tiles) - 1
    return max(last, 1), f"the last tile is {last}"
