"""Anything a visitor may give: texts, links, settings, matrices."""

from collections.abc import Sequence
from urllib.parse import urlencode

from hypothesis import strategies as st

from attention_core import embed
from attention_core.small_models.grammar import WORDS
from attention_ui.controls.fields import MAX_TOKENS
from attention_ui.controls.shared import inputs_of
from chosen import FIELDS, read
from hostile import TEXTS, VALUES

NASTY = (
    st.characters(categories=("Cc", "Cf", "Mn", "Lo", "So", "Zs"))
    | st.sampled_from("\u200d\u202e\ufeff\u0301 \n\t'\"<>&%$#*[]()`|\\,.:;-−∞")
    | st.characters()
)
_words = st.lists(st.sampled_from(["a", "b", " ", ",", "don't", "cat", "ß", "猫"]), max_size=70)
texts = st.text(NASTY, max_size=60) | _words.map(" ".join)
texts |= st.sampled_from([*TEXTS.values(), "", " ", "a", "The dog attacks the wild cat"])


def _plausible(name: str) -> st.SearchStrategy[str]:
    """Values that the field takes more often than not."""
    field = FIELDS[name]
    if options := getattr(field, "options", ()):
        return st.sampled_from([str(each) for each in options])
    kind = type(field).__name__
    if kind in ("Whole", "OptionalWhole"):
        small = st.integers(field.least, min(field.most, field.least + 12))
        return (small | st.sampled_from([field.least, field.most])).map(str)
    if kind == "Decimal":
        return st.floats(field.least, field.most).map(lambda number: f"{number:.9g}")
    if kind == "Flag":
        return st.sampled_from(["on", "off"])
    cells = st.tuples(st.integers(0, 9), st.integers(0, 4))
    if kind == "Edits":
        number = st.floats(-1_000, 1_000) | st.sampled_from([0.0, 1e-30, 1_000.0, -1_000.0])
        edit = st.tuples(cells, number).map(lambda e: f"{e[0][0]}.{e[0][1]}:{e[1]:.9g}")
        return st.lists(edit, min_size=1, max_size=6).map(",".join)
    if kind == "Places":
        return st.lists(cells.map(lambda c: f"{c[0]}.{c[1]}"), min_size=1, max_size=5).map(",".join)
    if kind == "ScoreRow":
        score = st.floats(-1_000, 1_000) | st.just(float("-inf"))
        return st.lists(score.map(str), min_size=1, max_size=16).map(",".join)
    if kind == "Trail":
        steps = st.sampled_from(["scores", "weights", "embeddings", "context_vectors", "nowhere"])
        cell = st.tuples(steps, cells).map(lambda c: f"{c[0]}.{c[1][0]}.{c[1][1]}")
        return st.lists(cell, min_size=1, max_size=3).map(",".join)
    if kind == "Names":
        return st.lists(st.sampled_from(sorted(FIELDS)), max_size=4).map(",".join)
    if kind == "KnownWords":
        return st.lists(st.sampled_from(WORDS[1:]), min_size=1, max_size=34).map(" ".join)
    if kind == "Sentence":
        return texts
    if kind == "Query":
        pins = st.deferred(lambda: links(hostile=False, names=sorted(FIELDS.keys() - {name})))
        return pins.map(urlencode) | st.sampled_from(["example=life_is_short&d_in=4", ""])
    return st.sampled_from(["", "scores", "weights", "one_query"])


OF_TOKENS = ("query", "row_query", "token", "stretch", "changed_token", "decoded")
"""What points at a token of the sentence."""


def assert_usable(values):
    """The values make embeddings, point at nothing outside of them, and a link gives them back."""
    inputs = inputs_of(values)
    n_tokens = len(inputs.tokens)
    assert 1 <= n_tokens <= MAX_TOKENS
    assert all(0 <= values[name] < n_tokens for name in OF_TOKENS)
    assert max(values.head, values.head_off, values.head_cut) < values.n_heads
    embeddings = embed(inputs)["embeddings"].value
    assert embeddings.shape == (n_tokens, values.d_in)
    assert embeddings.isfinite().all()
    for name, field in FIELDS.items():
        if values[name] is not None:
            assert field.read(field.write(values[name])) == values[name], name


PLAUSIBLE = {name: _plausible(name) for name in FIELDS}


@st.composite
def links(draw, hostile: bool = True, names: Sequence[str] = ()) -> dict[str, str]:
    """The parameters of a link: most of them usable, some of them not; of some `names` alone."""
    among = st.sampled_from(names or sorted(FIELDS))
    names = draw(st.lists(among, max_size=14, unique=True))
    bad = st.sampled_from(VALUES) | texts
    return {
        name: draw(PLAUSIBLE[name] | bad if hostile and draw(st.booleans()) else PLAUSIBLE[name])
        for name in names
    }


def whole_values():
    """The values of all controls as a link makes them: always valid, whatever the link held."""
    return links(hostile=False).map(lambda link: read(**link)[0])
