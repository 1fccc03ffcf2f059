"""What was recorded of a model of one's own: its controls, and what is drawn of it."""

from collections.abc import Iterator
from functools import lru_cache, partial

import torch
from torch import Tensor

from attention_core.files.refused import ModelRefused
from attention_core.files.tensor_file import quoted
from attention_core.real_model.measures import MEASURES
from attention_core.recording.recording import Layer, Recording
from attention_core.text.tokenizers import visible
from attention_core.trace import Step, Trace
from attention_core.utils.head_name import head_id, head_name

from ...cards.elements import Element, Shown, caption, matrices, text
from ...cards.why_there import choosing_head
from ...frame.models import DRAWN, MOST_HEADS, MOST_LAYERS
from ...frame.recordings import choices, opened
from ...picture.matrix import Matrix
from ...reactive.control import Control, Placed, Values
from ...words import percent
from .own_fields import NAME
from .raster import Heads, all_heads

MOST_DRAWN = 256
"""Tokens, of which all heads are drawn at a time."""
MOST_NUMBERS = 50_000_000
"""So many weights are computed at a time."""
MOST_COMPONENTS = 16
"""So many of a query's and a key's numbers are drawn: of 64, each would be a sliver."""
ALL, LAST, NONE = "all", "last", {"0": "none"}
MEASURE = "first"
"""What all heads are marked by: a recording may know no tokens, but it has a first one."""


def has_recording() -> bool:
    """Whether the app was started with one."""
    return bool(choices())


def _recording(v: Values) -> Recording | None:
    """The recording that is chosen; None where it cannot be read."""
    try:
        return opened(v.recording)
    except ModelRefused:
        return None


def _kinds(v: Values) -> dict[str, str]:
    found = _recording(v)
    return {f"{at}": quoted(name) for at, name in enumerate(found.kinds)} if found else NONE


def _layers(v: Values) -> list[Layer]:
    """The layers of the kind that is chosen, as many as can be drawn."""
    found = _recording(v)
    return [*found.kinds.values()][int(v.recorded_kind)][:MOST_LAYERS] if found else []


def _texts(v: Values) -> dict[str, str]:
    layers = _layers(v)
    n_texts = len(layers[0].calls[0].queries) if layers else 1
    return {f"{at}": f"text {at}" for at in range(n_texts)}


def _steps(v: Values) -> dict[str, str]:
    n_steps = len(layers[0].calls) if (layers := _layers(v)) else 1
    if n_steps == 1:
        return {ALL: "the whole pass"}
    return {ALL: "all steps as one"} | {f"{at}": f"step {at}" for at in range(n_steps)}


def _heads(v: Values) -> dict[str, str]:
    layers = _layers(v)
    found = {
        head_id(at, head): f"{head_name(head, at)}, {quoted(layer.name)}"
        for at, layer in enumerate(layers)
        for head in range(min(layer.calls[0].n_heads, MOST_HEADS))
    }
    return found or {head_id(0, 0): "none"}


def _rows(v: Values) -> dict[str, str]:
    try:
        names = _of(v).row_names
    except (ModelRefused, ValueError):
        names = []
    return {LAST: "the last row", **{f"{at}": f"{at}: {name}" for at, name in enumerate(names)}}


RECORDING = Control("recording", NAME, "Recording", "0", options=lambda _: choices() or NONE,
                    undoes=("recorded_kind", "recorded_text", "step_of_writing", "recorded_head",
                            "recorded_from", "cell"))  # fmt: skip
RECORDED_KIND = Control("recorded_kind", NAME, "Kind of layer", "0", options=_kinds,
                        undoes=("recorded_head", "recorded_from", "cell"))  # fmt: skip
RECORDED_TEXT = Control("recorded_text", NAME, "Text of the batch", "0", options=_texts,
                        undoes=("recorded_from", "cell"))  # fmt: skip
STEP_OF_WRITING = Control("step_of_writing", NAME, "Step of writing", ALL, options=_steps,
                        undoes=("recorded_from", "cell"))  # fmt: skip
RECORDED_HEAD = Control("recorded_head", NAME, "Head (layer.head) of the recording", "0.0",
                        options=_heads, undoes=("cell",))  # fmt: skip
RECORDED_FROM = Control("recorded_from", NAME, "Row that looks", LAST, options=_rows)
CONTROLS = (RECORDING, RECORDED_KIND, RECORDED_TEXT, STEP_OF_WRITING, RECORDED_HEAD, RECORDED_FROM)


class OfLayer:
    """One layer of a recording, at the text and the step that are chosen."""

    def __init__(self, layers: list[Layer], at: int, text: int, step: int | None) -> None:
        self.layers, self.text, self.step = layers, text, step
        self.layer, self.at = layers[at], at

    @property
    def n_rows(self) -> int:
        return len(self.layer.call(self.step).rows)

    @property
    def row_names(self) -> list[str]:
        """What its rows are called: their tokens, or their places."""
        names = self.layer.query_names(self.step, self.text)
        return [visible(each) for each in names] or [f"row {at}" for at in range(self.n_rows)]

    @property
    def key_names(self) -> list[str]:
        """What its keys are called."""
        names = self.layer.key_names(self.step, self.text)
        n_keys = self.layer.call(self.step).keys.shape[-2]
        return [visible(each) for each in names] or [f"key {at}" for at in range(n_keys)]


def _of(v: Values) -> OfLayer:
    """The layer that is looked at. Raises ModelRefused where there is none."""
    opened(v.recording)
    at = int(v.recorded_head.partition(".")[0])
    step = None if v.step_of_writing == ALL else int(v.step_of_writing)
    return OfLayer(_layers(v), at, int(v.recorded_text), step)


def shown_controls(v: Values) -> list[Placed]:
    """The controls that there is a choice for."""
    each = ((RECORDING, 220), (RECORDED_KIND, 240), (RECORDED_TEXT, 140), (STEP_OF_WRITING, 150))
    return [one.at(width=width) for one, width in each if len(one.choices(v)) > 1]


def which_head(v: Values) -> list[Placed]:
    """The controls of the head and the row, where the recording can be read."""
    return [RECORDED_HEAD.at(width=330), RECORDED_FROM.at(width=170)] if _layers(v) else []


def recorded(v: Values) -> Iterator[Element]:
    """All heads of a recording, and one of them down to its numbers; or why it cannot be shown."""
    try:
        of = _of(v)
        head = int(v.recorded_head.partition(".")[2])
        row = of.n_rows - 1 if v.recorded_from == LAST else int(v.recorded_from)
        call = of.layer.call(of.step)
        if call.n_heads * len(call.rows) * call.keys.shape[-2] > MOST_NUMBERS:
            raise ValueError(
                "this layer has more weights than are computed here: record fewer tokens, or "
                "queries=slice(-1, None), or look at one step"
            )
        trace = of.layer.trace(of.text, head, step=of.step)
    except (ModelRefused, ValueError) as error:
        yield text(f"This cannot be shown: {error}.")
        return
    yield text(_told(of, head, row, trace))
    if (overview := _overview(of, head, row)) is not None:
        yield overview
        yield caption(
            "Outlined in green: heads that give the first token 30% of their weight or more. What "
            "needs nothing from the others rests there, an **attention sink**."
        )
    for each in _equations(trace, row):
        yield matrices(trace, *each[1:], name=each[0], is_aside=True)
    n_keys = trace.size("key")
    is_long = f"Of {n_keys} keys, {DRAWN} are drawn as numbers." if n_keys > DRAWN else ""
    for notice in (is_long, of.layer.rounding(of.step), *opened(v.recording).notices):
        if notice:
            yield text(notice)


def _told(of: OfLayer, head: int, row: int, trace: Trace) -> str:
    """What the head does there, in a sentence."""
    weights = trace["weights"].value.float()[row]
    best = int(weights.argmax())
    names = of.key_names
    told = (
        f"{head_name(head, of.at)}, of {quoted(of.layer.name)}: from {of.row_names[row]}, its "
        f"largest weight, {percent(float(weights[best]))}, goes to {names[best]}."
    )
    if (left := 1 - float(weights.sum())) > 0.005:
        told += f" {percent(left)} goes to no key: to its sink."
    return told[0].upper() + told[1:]


def _overview(of: OfLayer, head: int, row: int) -> Shown | None:
    """All heads of all layers of the kind; nothing where rows and keys are not the same tokens."""
    shapes = {_shape(each, of.step) for each in of.layers}
    n_heads, n_rows, n_keys = next(iter(shapes))
    n_numbers = len(of.layers) * n_heads * n_rows * n_keys
    if len(shapes) > 1 or n_rows != n_keys > 1 or n_rows < 2:
        return None
    if n_rows > MOST_DRAWN or n_heads > MOST_HEADS or n_numbers > MOST_NUMBERS:
        return None
    try:
        weights = _weights(tuple(of.layers), of.text, of.step)
    except ValueError:  # another layer cannot be shown; this one can
        return None
    measure = MEASURES[MEASURE]
    scores = measure.of(weights, range(n_keys)).nan_to_num()
    made = all_heads(
        Heads(weights.numpy(), scores.numpy(), of.key_names, row, (of.at, head), measure.name)
    )
    return choosing_head(
        "recorded_heads", made, (RECORDED_HEAD.name, RECORDED_FROM.name), "stretch"
    )


def _shape(layer: Layer, step: int | None) -> tuple[int, int, int]:
    calls = layer.calls if step is None else [layer.calls[step]] if step < len(layer.calls) else []
    if not calls:
        return 0, 0, 0
    return calls[-1].n_heads, sum(len(one.rows) for one in calls), calls[-1].keys.shape[-2]


@lru_cache(maxsize=2)
def _weights(layers: tuple[Layer, ...], text: int, step: int | None) -> Tensor:
    """The weights (layer, head, query, key) of one text."""
    return torch.stack([each.weights(step)[text] for each in layers]).cpu()


def _equations(trace: Trace, row: int) -> Iterator[tuple]:
    """How the head comes to its weights, and what it gathers by them; of many tokens, some."""
    weights = trace["weights"]
    n_rows, n_keys = weights.value.shape
    rows = _window(n_rows, row)
    key = int(weights.value[row].argmax()) if n_rows != n_keys else row
    keys = _window(n_keys, key)
    queries, all_keys = trace["scores"].inputs
    amounts = (queries.value[row] * all_keys.value).abs().sum(dim=0)
    columns = None
    if len(amounts) > MOST_COMPONENTS:
        columns = tuple(amounts.topk(MOST_COMPONENTS).indices.tolist())
    made = partial(_matrix, rows=rows, keys=keys, asked=row)
    yield (
        *("recorded_scores", made(queries, columns=columns), "· each"),
        *(made(all_keys, columns=columns), "=", made(trace["scores"]), "→", made(weights)),
    )
    context = trace["context_vectors"]
    yield "recorded_context", made(weights), "·", made(context.inputs[1]), "=", made(context)


def _window(length: int, place: int) -> tuple[int, ...] | None:
    """The places that are drawn around one of many; None for all."""
    if length <= DRAWN:
        return None
    stop = min(length, max(place + 1, DRAWN))
    return tuple(range(stop - DRAWN, stop))


def _matrix(
    step: Step,
    rows: tuple[int, ...] | None,
    keys: tuple[int, ...] | None,
    asked: int,
    columns: tuple[int, ...] | None = None,
) -> Matrix:
    down = rows if step.axes[0] == "query" else keys
    across = keys if step.axes[-1] == "key" else columns
    place = asked - (rows[0] if rows else 0)
    return Matrix(step, rows=down, columns=across, asked=place, title=step.name.replace("_", " "))


def about_the_recording(v: Values) -> str:
    """What the card shows."""
    layers = _layers(v)
    n_heads = sum(each.calls[0].n_heads for each in layers)
    return (
        "What `recorded` saw of a model of yours while it ran, as it was computed: "
        f"{n_heads} heads in {len(layers)} layers of this kind. Click on a head, "
        "and on a number to take it apart."
        if layers
        else "The file that the app was started with."
    )
