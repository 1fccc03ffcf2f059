"""The layer with one mistake beside the right one: what is chosen, the traces, the pictures."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from attention_core.examples import EXAMPLES
from attention_core.lights.light import Light
from attention_core.mistakes.base import WRONG
from attention_core.mistakes.layer import right_inputs
from attention_core.mistakes.named import NAMED, Named
from attention_core.mistakes.rounds import lights_with
from attention_core.mistakes.side_by_side import side_by_side
from attention_core.mistakes.switched import MISTAKES, Switched
from attention_core.operations import Subtract
from attention_core.published.stories import Story, stories_of
from attention_core.recipes import HeadsRecipe
from attention_core.text.inputs import Inputs
from attention_core.trace import Trace

from ...cards.elements import Element, Picture, button, caption, code, equation, moving, row, say
from ...cards.stories import told
from ...controls.shared import EDITS, HEAD, HEADS, MAKES_VECTORS, heads_recipe_of, inputs_of
from ...picture.layout import Layout
from ...picture.matrix import Matrix
from ...reactive import settings
from ...reactive.control import Control, Values
from ...reactive.fields import Choice, Whole
from ...words import RIGHT_SIGN, WRONG_SIGN

MISTAKE = Control(
    "mistake",
    Choice(
        {
            name: each.title + " (no light sees it)" * bool(each.unseen)
            for name, each in NAMED.items()
        }
    ),
    "Mistake",
    next(iter(NAMED)),
    undoes=("cell",),
)
SWITCH = Control("switch", Whole(0, 1), "Switch", 1, hint="0 off, 1 on", undoes=("cell",))


def _typed_fit(edits: tuple, values: Values) -> str | None:
    """Beside what the table itself asks: where ids are a mistake, the layer has another table."""
    inputs = inputs_of(values.but(edits=()))
    if right_inputs(inputs) != inputs:
        return (
            "in this lesson each distinct token has one id, and with that the layer has another "
            "table of embeddings than the one these numbers were typed into"
        )
    return EDITS.check(edits, values)


MAKES_LAYER = (
    *(replace(EDITS, check=_typed_fit) if each is EDITS else each for each in MAKES_VECTORS),
    *HEADS,
)
CONTROLS = (*MAKES_LAYER, MISTAKE, SWITCH, HEAD)


def layer_of(values: Values) -> tuple[Inputs, HeadsRecipe]:
    """The sentence and the heads: what a layer is made of."""
    return inputs_of(values), heads_recipe_of(values)


def chosen(values: Values) -> Switched:
    """The mistake that is shown; the first, which any text shows, where that cannot be."""
    return next(iter(MISTAKES.values())) if why_not(values) else MISTAKES[values.mistake]


def why_not(values: Values) -> str:
    """Why the chosen mistake cannot be shown on this text; "" where it can."""
    return MISTAKES[values.mistake].why_not(*layer_of(values))


def found_in(values: Values) -> tuple[Light, ...]:
    """The lights of the layer with the mistake that is shown."""
    return lights_with(*layer_of(values), chosen(values).name)


def trace_of(values: Values) -> Trace:
    """The right layer, the wrong one as far as it differs, and the difference."""
    mistake = chosen(values)
    right, wrong = mistake.pair(*layer_of(values))
    return side_by_side(right, wrong, mistake.step, mistake.wrong_step)


def names(values: Values) -> tuple[str, str]:
    """The steps that are compared: the right one and the wrong one."""
    mistake = chosen(values)
    return mistake.step, f"{WRONG}{mistake.wrong_step or mistake.step}"


def is_of_heads(values: Values) -> bool:
    """Whether what is compared is there once a head."""
    return values.n_heads > 1 and chosen(values).step.startswith(("head_", "grad_head_"))


def compared(trace: Trace, values: Values, tall: float, name: str = "*") -> Picture:
    """Wrong less right, three matrices in one line, with the mistake and without it."""
    right, wrong = names(values)
    off = trace.branch()
    same = off.step("no_difference", Subtract(), off[right], off[right], axes=off[right].axes)
    lead = _lead(trace, right, values)
    titles = [Matrix(trace[each], lead=lead).name for each in (wrong, right, "difference")]

    def at(switch: float) -> tuple[Trace, list[Matrix | str]]:
        """The three under the same titles at either position of the switch."""
        first, gap = (trace[wrong], trace["difference"]) if switch else (off[right], same)
        drawn = (
            Matrix(each, lead=lead, compared=True, title=title)
            for each, title in zip((first, trace[right], gap), titles, strict=True)
        )
        return trace if switch else off, [*chain(*zip(drawn, ("−", "=", ""), strict=True))][:-1]

    return moving(SWITCH, at, lambda made, parts: equation(made, *parts, tall=tall), name)


def made(trace: Trace, values: Values, is_wrong: bool) -> Layout:
    """How one of the two comes about: its operands, and itself."""
    step = trace[names(values)[is_wrong]]
    parts: list[Matrix | str] = []
    *signs, equals = step.operation.signs
    for at, (each, sign) in enumerate(zip(step.inputs, signs, strict=False)):
        if sign is not None:
            drawn = Matrix(each, step.operation.turns(at), lead=_lead(trace, each.name, values))
            parts += [*([sign] if sign else []), drawn]
    whole = Matrix(step, lead=_lead(trace, step.name, values))
    return equation(trace, *parts, equals or "=", whole)


def _lead(trace: Trace, name: str, values: Values) -> tuple[int, ...]:
    return (min(values.head, trace.size("head") - 1),) if trace[name].value.ndim == 3 else ()


def lines(mistake: Named) -> tuple[Element, Element]:
    """The line, wrong and right, side by side, and what it does."""
    look = {"vertical_alignment": "center"}
    wrong, right = (
        row(say(sign, width="content"), code(line, wrap_lines=True), gap="small", width=450, **look)
        for sign, line in ((WRONG_SIGN, mistake.wrong), (RIGHT_SIGN, mistake.right))
    )
    return row(wrong, right), say(mistake.words)


def stories(mistake: str, values: Values) -> Iterator[Element]:
    """The stories of a mistake, with the way to it; of "", those that have no switch."""
    found = stories_of(mistake)
    if not found:
        yield say(
            "None of the five notebooks has this one. You may still meet it, in other people's "
            "code or in your own."
        )
    for story in found:
        yield from told(story)
        if mistake:
            yield _way_to(story, values)


def _way_to(story: Story, values: Values) -> Element:
    """The way to the mistake on the sentence of its notebook, unless that is what is shown."""
    is_shown = values.sentence == EXAMPLES[story.example].inputs.sentence
    if values.example == story.example and is_shown:
        return caption("This is the sentence that you are looking at.")

    def switch_on() -> None:
        settings.change(example=story.example)  # it brings all of its own settings
        settings.change(mistake=story.mistake)

    # No link: one from a page to itself leaves the browser's address as it was.
    return button(
        "Switch it on with this sentence",
        f"seen_{story.name}",
        switch_on,
        icon=":material/arrow_forward:",
        type="tertiary",
        disabled="example" in {*values.hide, *values.lock},
    )
