"""Two known models beside each other: in which switches they differ, and what each keeps."""

from typing import Any

from ...reactive.control import Control, Values
from ...words import capital, in_bytes
from .lesson import KINDS, MODELS, WINDOW, differences

BYTES = 2
"""What a number of a cache takes, in the precision that models are served in."""


def choice_words(control: Control, value: Any, name: str, values: Values) -> str:
    """How a model's choice of a switch is written, with what it is scaled down from."""
    if isinstance(value, bool):
        return "on" if value else "off"
    told, window = control.choices(values)[value], KINDS[name][1].window
    return f"{told} (really {window:,})" if control is WINDOW and window else told


def compared_words(values: Values) -> str:
    """What the card says above its entries."""
    if values.compared == values.compared_with:
        return "Choose two models. Each entry then changes one switch above, and only that one."
    one, other = (MODELS[name] for name in (values.compared, values.compared_with))
    names = [control.name for control, *_ in differences(values)]
    without = []
    if "rotary_share" in names and values.position_encoding != "rotary":
        without.append("columns turn only with rotary positions")
    if "gated" in names:
        without.append("a gate leaves weights as they are")
    told = f" {capital('; '.join(without))}." if without else ""
    return f"How **{other}** differs from **{one}**: each entry is one switch.{told}"


def facts_words(name: str, n_tokens: int | None) -> str:
    """A kind of layer: how many there are, its heads, and what is kept of so many tokens."""
    model, kind = KINDS[name]
    which = f"{kind.n_layers} of its {model.n_layers} layers are of this kind"
    others = [each for each in model.kinds if each is not kind]
    if not others:
        which = f"all {model.n_layers} layers are alike"
    told = [which, *(f"{each.n_layers} have {each.more}" for each in others if each.more)]
    told += [kind.more] * bool(kind.more)
    heads = f"{model.n_heads} query and {model.n_kv_heads} key/value heads, {model.d_head} wide"
    words = f"**{model.title}** ({model.year}): {heads}; {'; '.join(told)}."
    if n_tokens is None:
        return words
    return (
        f"{words} For {n_tokens:,} tokens it keeps **{in_bytes(model.cached(n_tokens) * BYTES)}**."
    )


def source_words(values: Values) -> str:
    """Where the facts about both stand, and when they were read last."""
    pair = (KINDS[values.compared][0], KINDS[values.compared_with][0])
    told = "; ".join(dict.fromkeys(model.source for model in pair))
    return f"From {told}. Read {max(model.checked for model in pair):%d %B %Y}."
