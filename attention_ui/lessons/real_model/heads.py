"""The picture of all heads on the page: pointing stays in the browser, a click chooses a head."""

from typing import Literal

from attention_core.real_model.measures import MEASURES
from attention_core.text.tokenizers import visible
from attention_core.utils.head_name import head_id

from ...cards.elements import Row, Shown, row, say, set_to
from ...cards.why_there import choosing_head
from ...charts.chart import Chart
from ...reactive.control import Values
from .lesson import LOOKS_FROM, MODEL_HEAD, asked_of, encoded_of, query_of, scores_by
from .raster import Heads, all_heads
from .seen import Seen

AS_BUTTON = {"type": "secondary"}


def heads_picture(values: Values, reading: Seen, chosen: tuple[int, int]) -> Shown:
    """All heads on the text, those marked that do what is measured."""
    made = all_heads(
        Heads(
            reading.run.weights.numpy(),
            scores_by(values.measure, reading).numpy(),
            [visible(each) for each in encoded_of(values).pieces],
            query_of(values),
            chosen,
            MEASURES[values.measure].name,
            strongest_first=values.heads_order == "strongest",
            at_least=values.heads_from / 100,
        ),
        reading.once,
    )
    return choosing("all_heads", made)


def choosing(name: str, made: Chart, width: int | Literal["stretch"] = "stretch") -> Shown:
    """A picture in which a click on a head chooses it."""
    return choosing_head(name, made, (MODEL_HEAD.name, LOOKS_FROM.name), width)


def to_switch_off(values: Values, reading: Seen, chosen: tuple[int, int]) -> Row:
    """Buttons that switch off the chosen head, and the one that brought most; or all on again."""
    best = reading.brought(*asked_of(values, reading)).heads[0]
    offers = {
        head_id(best.layer, best.head): "which brought most",
        head_id(*chosen): "which you look at",
    }
    off = values.model_off.split(", ") if values.model_off else []
    buttons = [
        set_to(
            f"Without head {name}, {why}",
            f"switch_off_{name}",
            AS_BUTTON,
            model_off=", ".join([*off, name]),
        )
        for name, why in offers.items()
        if name not in off
    ]
    all_on = [set_to("All on", "switch_on", AS_BUTTON, model_off="")] if off else []
    return row(*buttons, *all_on, gap="small")


def off_below(values: Values, label: str, key: str, off: str) -> Row:
    """A button that switches off a part in the card further down, and then the way there."""
    button = set_to(label, key, AS_BUTTON, model_off=off)
    is_off = values.model_off == off
    return row(button, *([say("It is off: [what the model says then](#off).")] if is_off else []))
