"""Attention of today: its controls, and traces of it beside that of 2017, switch by switch."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from attention_core.costs import KNOWN
from attention_core.mechanism.attention import attention, scale_of
from attention_core.mechanism.decoding import decode_step
from attention_core.mechanism.multi_head import attend_heads
from attention_core.mechanism.today import ROTARY_BASE, Today, attend_today
from attention_core.models_of_today import MODELS_OF_TODAY, KindOfLayer, ModelOfToday
from attention_core.operations import DistanceBias
from attention_core.recipes import MAX_HEADS, HeadsRecipe
from attention_core.text.embedding import embed
from attention_core.trace import Trace

from ...controls import shared
from ...controls.fields import MAX_TOKENS
from ...picture.equation_parts import Parts
from ...picture.matrix import Matrix
from ...reactive.control import Control, Values
from ...reactive.fields import Choice, Decimal, Flag, Whole

PLAIN = "head_"
GROUPED, ROTARY = "grouped_", "rotary_"
WINDOWED, SUNK, CAPPED = "windowed_", "sinks_", "cap_"
NORMED, PARTLY, BESIDE_SINK, OPENED = "qk_", "part_", "sink_", "opened_"
"""What the names of the steps begin with in which one thing alone is done otherwise."""
SLOPED = "slope_"
"""The same of a bias with a slope that is chosen, in every head."""
CAPS = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
KINDS: dict[str, tuple[ModelOfToday, KindOfLayer]] = {
    f"{name}_{kind.slug}".rstrip("_"): (model, kind)
    for name, model in MODELS_OF_TODAY.items()
    for kind in model.kinds
    if kind.attends
}
"""The kinds of layers that the switches can be set as in."""
MODELS = {
    name: f"{model.title}, {kind.name}" if kind.name else model.title
    for name, (model, kind) in KINDS.items()
}
SHARES = {"all": 1.0, "half": 1 / 2, "third": 1 / 3, "quarter": 1 / 4}
"""Which shares of a head's columns can be turned, by their names."""
CONTEXTS = (256, 512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536, 131_072, 1_048_576)
HIDDEN = 0.2
"""How strongly a bias is seen that is added to a hidden score."""
LEAST_TURNED = 4
"""The narrowest head that has two pairs of columns."""
NEXT, BESIDE = "⇒", "|"
"""Between what a switch makes and the weights that come of it; before it, those of 2017."""


def sharing(n_heads: int) -> list[int]:
    """The numbers of key/value heads that query heads can share evenly."""
    return [count for count in range(1, n_heads + 1) if n_heads % count == 0]


def _shared_by(heads: str):
    return lambda values: {count: str(count) for count in sharing(values[heads])}


def _sharing_fits(name: str, heads: str):
    def fits(count: int, values: Values) -> tuple[int, str]:
        n_heads = values[heads]
        used = max(each for each in sharing(n_heads) if each <= max(count, 1))
        if used == count:
            return count, ""
        return used, f"{name} went from {count} to {used}, which {n_heads} query heads can share."

    return fits


def _half(values: Values) -> int:
    n_heads = shared.example_of(values).heads.n_heads
    return max((count for count in sharing(n_heads) if 2 * count <= n_heads), default=1)


def _windows(values: Values) -> dict[int, str]:
    n_tokens = len(shared.inputs_of(values).tokens)
    return {window: str(window) if window else "all" for window in range(n_tokens + 1)}


POSITION_ENCODING = Control(
    "position_encoding",
    Choice({"none": "None", "rotary": "Rotary", "alibi": "ALiBi"}),
    "Positions by",
    "none",
)
KV_HEADS = Control(
    "kv_heads",
    Whole(1, MAX_HEADS),
    "Key/value heads",
    _half,
    widget="segmented_control",
    options=_shared_by("n_heads"),
    fits=_sharing_fits("kv_heads", "n_heads"),
)
WINDOW = Control(
    "window",
    Whole(0, MAX_TOKENS),
    "Window: keys, its own included",
    0,
    widget="select_slider",
    options=_windows,
)
SINKS = Control(
    "sinks",
    Whole(0, 4),
    "Sinks: first keys that stay",
    0,
    widget="select_slider",
    options=lambda _: {count: str(count) if count else "none" for count in range(5)},
)
SOFT_CAP = Control(
    "soft_cap",
    Decimal(0, 50, CAPS),
    "Soft cap: the most that a score can be",
    0.0,
    widget="select_slider",
    options=lambda _: {cap: f"±{cap:g}" if cap else "off" for cap in CAPS},
)
NEAR = Control(
    "near",
    Whole(1, MAX_TOKENS),
    "Window",
    lambda values: values.window or max(2, (len(shared.inputs_of(values).tokens) + 1) // 3),
    options=lambda values: {w: str(w) for w in range(1, len(shared.inputs_of(values).tokens) + 1)},
    of_page=True,
)
SLOPE = Control("slope", Decimal(0, 1), "Slope", 0.5, look={"step": 0.0625}, of_page=True)
BOUND = Control(
    "bound",
    Decimal(0.1, 2),
    "Cap, as a share of the largest score",
    0.5,
    look={"step": 0.1},
    of_page=True,
)
MOVED_BY = Control(
    "moved_by", Whole.among(0, 1, 10, 100, 1_000), "Shift the text by", 10, shown="{:,}"
)
DECODED = shared.place_of_token(
    "decoded", "Token that is written now", lambda values: len(shared.inputs_of(values).tokens) - 1
)
COST_MODEL = Control(
    "cost_model",
    Choice({name: each.title for name, each in KNOWN.items()} | {"own": "Sizes of your own"}),
    "Model",
    "llama3",
)
LAYERS = (1, 2, 4, 6, 8, 12, 16, 24, 28, 32, 40, 48, 64, 80, 96, 128)
WIDTHS = (64, 128, 256, 512, 768, 1_024, 1_600, 2_048, 3_072, 4_096, 5_120, 8_192, 16_384)
N_HEADS = (1, 2, 4, 8, 12, 16, 24, 32, 40, 48, 64, 96, 128)
D_HEADS = (16, 32, 64, 80, 96, 128, 256)
KEPT = (0, *CONTEXTS[:-1])
OWN_SIZES = (
    Control("m_layers", Whole.among(*LAYERS), "Layers of the model", 32),
    Control("m_width", Whole.among(*WIDTHS), "Width of the model", 4_096, shown="{:,}"),
    Control("m_heads", Whole.among(*N_HEADS), "Query heads of the model", 32),
    Control(
        "m_kv_heads",
        Whole(1, 128),
        "Its key/value heads",
        8,
        widget="select_slider",
        options=_shared_by("m_heads"),
        fits=_sharing_fits("m_kv_heads", "m_heads"),
    ),
    Control("m_d_head", Whole.among(*D_HEADS), "Width of each of its heads", 128),
    Control("m_context", Whole.among(*CONTEXTS), "Tokens of context", 8_192, shown="{:,}"),
    Control("m_window", Whole.among(*KEPT), "Tokens in its window, 0 for all", 4_096, shown="{:,}"),
)
QK_NORM = Control("qk_norm", Flag(), "QK-norm", False)
ROTARY_SHARE = Control(
    "rotary_share",
    Choice({"all": "all", "half": "1/2", "third": "1/3", "quarter": "1/4"}),
    "Columns turned",
    "all",
)
SINK_LOGIT = Control(
    "sink_logit",
    Choice({logit: logit.replace("-", "−") for logit in ("off", "-2", "0", "1", "2", "4")}),
    "Sink’s logit",
    "off",
)
GATED = Control("gated", Flag(), "Gate", False)
OWN_SINK = Control("own_sink", Decimal(-4, 4), "Its logit", 0.0, look={"step": 0.5}, of_page=True)
COMPARED = Control("compared", Choice(MODELS), "One model", "llama3")
COMPARED_WITH = Control("compared_with", Choice(MODELS), "Another", "qwen3_5_fourth")
SWITCHES = (
    *(KV_HEADS, POSITION_ENCODING, ROTARY_SHARE, WINDOW, SINKS, SOFT_CAP),
    *(QK_NORM, SINK_LOGIT, GATED),
)
CONTROLS = (
    *(*shared.MAKES_VECTORS, *shared.HEADS, *SWITCHES, shared.HEAD, NEAR, SLOPE, BOUND, OWN_SINK),
    *(COMPARED, COMPARED_WITH),
    *(MOVED_BY, DECODED, COST_MODEL, shared.M_BYTES, *OWN_SIZES),
)


def heads(values: Values) -> HeadsRecipe:
    """The heads of this page: causal, and as wide as rotary positions need, even or two pairs."""
    recipe = replace(shared.heads_recipe_of(values), causal=True)
    if values.position_encoding != "rotary":
        return recipe
    least = recipe.d_head if values.rotary_share == "all" else LEAST_TURNED
    return replace(recipe, d_head=max(least, recipe.d_head + recipe.d_head % 2))


def plain(values: Values) -> Trace:
    """Attention with heads as in 2017, up to the context vectors."""
    return attend_heads(embed(shared.inputs_of(values)), heads(values), joined=False)


def trace_of(values: Values) -> Trace:
    """The lesson's trace: plain causal heads and `today_` steps beside them, up to the context."""
    return attend_today(plain(values), today_of(values), joined=False)


def today_of(values: Values) -> Today:
    """What is switched on."""
    return Today(
        n_kv_heads=values.kv_heads,
        rotary_base=ROTARY_BASE if values.position_encoding == "rotary" else None,
        alibi=values.position_encoding == "alibi",
        window=values.window or None,
        sinks=values.sinks if values.window else 0,
        soft_cap=values.soft_cap or None,
        rotary_share=SHARES[values.rotary_share],
        qk_norm=values.qk_norm,
        sink_logit=None if values.sink_logit == "off" else float(values.sink_logit),
        gated=values.gated,
        scale=heads(values).scale,
    )


def alone(values: Values, *prefixes: str) -> Trace:
    """Plain heads, and each switch alone beside them, but rotary; all, or of these prefixes."""
    trace = plain(values)
    for prefix in prefixes or (*SWITCHED, SLOPED):
        if prefix == SLOPED:
            add_slope(trace, values.slope)
        else:
            add(trace, prefix, **SWITCHED[prefix](values, trace))
    return trace


def rotary(values: Values, place: int = 0) -> Trace:
    """Plain heads, wide enough for two pairs, and rotary positions, the first token at a place."""
    return add(_two_pairs(values), ROTARY, place, rotary_base=ROTARY_BASE)


def partly(values: Values) -> Trace:
    """The same with a part of the columns turned: as many as are chosen, or half."""
    share = SHARES["half" if values.rotary_share == "all" else values.rotary_share]
    return add(_two_pairs(values), PARTLY, rotary_base=ROTARY_BASE, rotary_share=share)


def _two_pairs(values: Values) -> Trace:
    """Plain heads, made wider where they have no two pairs of columns, which turn at two speeds."""
    recipe = heads(values)
    recipe = replace(recipe, d_head=max(LEAST_TURNED, recipe.d_head + recipe.d_head % 2))
    return attend_heads(embed(shared.inputs_of(values)), recipe, joined=False)


def add(trace: Trace, prefix: str, place: int = 0, **changes: Any) -> Trace:
    """Add one switch to plain heads, whose first token stands at a place. The same trace."""
    off = Today(trace.size("head"), scale=scale_of(trace, PLAIN))
    return attend_today(trace, replace(off, **changes), prefix, joined=False, place=place)


def add_slope(trace: Trace, slope: float) -> Trace:
    """Add a bias for distance with the same slope in every head. Returns the same trace."""
    n_heads, n_tokens, _ = trace["head_queries"].value.shape
    axes = trace["head_scores"].axes
    operation = DistanceBias((slope,) * n_heads, n_tokens, n_tokens)
    bias = trace.step(f"{SLOPED}bias", operation, axes=axes)
    given = [trace[f"{PLAIN}{name}"] for name in ("queries", "keys", "values")]
    scale = scale_of(trace, PLAIN)
    attention(trace, *given, scale=scale, mask=trace["mask"], prefix=SLOPED, added_mask=bias)
    return trace


def decoded(values: Values, whole: Trace) -> Trace:
    """The step of decoding that is shown, beside the lesson's trace."""
    return decode_step(whole, today_of(values), values.decoded)


def shown_kv_heads(values: Values) -> int:
    """How many heads of keys the card has: what is chosen, or the most that are fewer."""
    fewer = [count for count in sharing(values.n_heads) if count < values.n_heads]
    return min(values.kv_heads, max(fewer, default=1))


def shown_sinks(values: Values) -> int:
    """The sinks of the card: what is chosen, or one."""
    return values.sinks or 1


def shown_cap(values: Values, trace: Trace) -> float:
    """The cap of the card: a share of the largest score of the trace."""
    return max(values.bound * trace["head_masked_scores"].inputs[0].value.abs().max().item(), 1e-3)


SWITCHED: dict[str, Callable[[Values, Trace], dict[str, Any]]] = {
    GROUPED: lambda values, _: {"n_kv_heads": shown_kv_heads(values)},
    WINDOWED: lambda values, _: {"window": values.near},
    SUNK: lambda values, _: {"window": values.near, "sinks": shown_sinks(values)},
    CAPPED: lambda values, trace: {"soft_cap": shown_cap(values, trace)},
    NORMED: lambda *_: {"qk_norm": True},
    BESIDE_SINK: lambda values, _: {"sink_logit": values.own_sink},
    OPENED: lambda *_: {"gated": True},
}
"""What a card has switched on, by what the names of its steps begin with."""


def switches_of(name: str, values: Values) -> dict[str, Any]:
    """The switches of a kind of layer of a known model, scaled down to the heads and tokens here: a
    window is half of the tokens, or a quarter where the model's own is less than half of its
    context; each model learns its own sink, which has the logit 1 here.
    """
    model, kind = KINDS[name]
    wanted = values.n_heads * model.n_kv_heads / model.n_heads
    window, n_tokens = 0, len(shared.inputs_of(values).tokens)
    if kind.window:
        window = max(1, n_tokens // (2 if 2 * kind.window >= model.context else 4))
    share = next(name for name, share in SHARES.items() if abs(share - kind.rotary_share) < 0.01)
    return {
        "position_encoding": kind.positions,
        "kv_heads": max(each for each in sharing(values.n_heads) if each <= max(1, wanted)),
        "window": window,
        "sinks": 0,
        "soft_cap": kind.soft_cap or 0.0,
        "rotary_share": share,
        "qk_norm": kind.qk_norm,
        "sink_logit": "1" if kind.sink else "off",
        "gated": kind.gated,
    }


def model_that_is_on(values: Values) -> str | None:
    """The known model whose switches these are: one of those compared, where several have them.
    None for none; without positions a layer is GPT-2's, or that of a model that was chosen.
    """
    plain = (name for name in MODELS if KINDS[name][1].positions != "none" or name == "gpt2")
    for name in (values.compared, values.compared_with, *plain):
        if all(values[each] == value for each, value in switches_of(name, values).items()):
            return name
    return None


def differences(values: Values) -> list[tuple[Control, Any, Any]]:
    """The switches in which the two models that are compared differ, and where each has them."""
    one, other = (switches_of(name, values) for name in (values.compared, values.compared_with))
    by_name = {control.name: control for control in SWITCHES}
    return [(by_name[name], one[name], other[name]) for name in one if one[name] != other[name]]


def weights(trace: Trace, head: int, prefix: str) -> Matrix:
    """The weights of one head, beside others."""
    return Matrix(trace[f"{prefix}weights"], lead=(head,), compared=True)


def then_and_now(trace: Trace, head: int, prefix: str, made: Matrix | str) -> Parts:
    """One head's plain weights, what a switch makes (or a step's name), and its weights then."""
    if isinstance(made, str):
        made = Matrix(trace[f"{prefix}{made}"], lead=(head,))
    return weights(trace, head, PLAIN), BESIDE, made, NEXT, weights(trace, head, prefix)


def beside(values: Values, prefix: str, name: str) -> tuple[Trace, Parts]:
    """The same of one switch alone, which makes the step of this name: with the trace of it."""
    trace = alone(values, prefix)
    # A bias is faint where no query may look.
    strengths = trace["mask"].value.double().clamp(min=HIDDEN) if prefix == SLOPED else None
    made = Matrix(trace[f"{prefix}{name}"], lead=(values.head,), strengths=strengths)
    return trace, then_and_now(trace, values.head, prefix, made)
