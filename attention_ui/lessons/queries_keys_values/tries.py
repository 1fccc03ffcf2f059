"""What a token could ask for instead: a touch each, made from the names of what keys say."""

from collections.abc import Iterator

from attention_core.trace import Trace

from ...cards import elements as ui
from ...controls.shared import MATRIX_EDITS
from ...reactive import settings
from ...reactive.control import Values
from ...words import word_at

MOST, LEAD = 4, 3.0
"""How many are offered, and by how much the scaled score of what is found exceeds the next."""
NOTHING = "nothing"
Edits = tuple[tuple[int, int, float], ...]


def tries(trace: Trace, token: int) -> dict[str, Edits]:
    """What to type into W_query for each thing to look for that comes true; None without names."""
    vectors, keys = trace["embeddings"].value.double(), trace["keys"].value.double()
    names = [trace.name_of("d_query", at) for at in range(keys.shape[1])]
    drawn = trace["drawn_W_query" if "drawn_W_query" in trace else "W_query"].value.double()
    vector = vectors[token]
    if None in names or not vector.any():
        return {}
    # In the row that is most the token's own, a number changes what the others ask for least.
    row = int((vector.abs() / vectors.abs().sum(dim=0).clamp(min=1e-9)).argmax())
    rest = vector @ drawn - vector[row] * drawn[row]
    if "b_query" in trace:
        rest = rest + trace["b_query"].value.double()
    divided = keys.shape[1] ** 0.5 if "scaled_scores" in trace else 1.0
    wanted = {}
    for at, name in enumerate(names):
        has = keys[:, at].unique()
        if len(has) > 1 and has[-1] > 0:
            wanted[name] = at, float(min(LEAD * divided / (has[-1] - has[-2]), 10.0))
    found = dict([*wanted.items()][: MOST - 1]) | {NOTHING: (0, 0.0)}
    return {
        name: tuple(
            (row, column, round(float((strong * (column == at) - rest[column]) / vector[row]), 4))
            for column in range(keys.shape[1])
        )
        for name, (at, strong) in found.items()
    }


def put(v: Values, trace: Trace) -> Iterator[ui.Element]:
    """A button for each."""
    edits = MATRIX_EDITS[0].name
    offered = {} if edits in settings.fixed() or v.paper else tries(trace, v.token)
    if offered:
        word = word_at(trace.labels("query"), v.token, "query")
        look = {"type": "secondary"}
        each = [
            ui.set_to(f"{article} {name}".strip(), f"try_{name}", look, **{edits: typed})
            for name, typed in offered.items()
            for article in ["" if name == NOTHING else "an" if name[0] in "aeiou" else "a"]
        ]
        asks = ui.say(f"Let {word} look for", width="content")
        yield ui.row(asks, *each, key="tries", vertical_alignment="center", gap="small")
