"""What the page of a real model says, with numbers from the run."""

from attention_core.real_model.attribution import Attribution, head_by_key
from attention_core.real_model.model import Model
from attention_core.text.tokenizers import visible

from ...controls.control import Values
from ...words import listed, number, percent
from .heads import strongest as strongest_heads
from .lesson import asked_of, encoded_of, measure_of, query_of
from .running import Seen

SMALLEST = 0.02
"""A token that brought less of what a head brought is not named."""


def about_the_model(model: Model) -> str:
    """What kind of model this is."""
    s = model.settings
    shared = "" if s.n_key_heads == s.n_heads else f" on {s.n_key_heads} key/value heads"
    kept = f" Its weights are stored in {model.quantised}." if model.quantised else ""
    return (
        f"A model of the {model.family} family: {s.n_layers} layers of {s.n_heads} heads{shared}, "
        f"{s.d_model:,} numbers for each token, {s.n_vocabulary:,} tokens to choose from.{kept} "
        "Type on, and see what it would say next."
    )


def says_nothing(model: Model) -> str:
    """Of a model that reads both ways."""
    return f"A {model.family} reads a whole text at once and says no next token."


def strongest(values: Values, found: Seen) -> str:
    """Which heads do most of what is measured."""
    each = [f"{name} ({percent(share)})" for name, share in strongest_heads(values, found)]
    return f"{measure_of(values).words} Most: {listed(each)}. Green: 30% or more."


def of_what_is_asked(values: Values, found: Seen) -> str:
    """Which number is taken apart: the logit of “Mary”, or how far it is above that of “John”."""
    asked, against = asked_of(values, found)
    piece = found.run.model.tokenizer.piece
    told = f"the logit of “{said(piece(asked))}”"
    if against is None:
        return told
    return f"{told}, minus that of “{said(piece(against))}”"


def adds_up(found: Seen, made: Attribution) -> tuple[bool, str]:
    """Whether all parts together are the number that is taken apart."""
    total = sum(part.amount for part in made.parts)
    off = abs(total - made.logit)
    right = off <= 1e-4 * max(1.0, abs(made.logit))
    cap = found.run.model.settings.logit_cap
    before = "" if cap is None else ", as it is before the model’s soft cap"
    return right, (
        f"All {len(made.parts)} parts add up to it{before}: {number(made.logit, 3)}, "
        f"{'exactly' if off == 0 else f'to within {off:.0e}'}."
    )


def of_the_parts(values: Values, found: Seen, made: Attribution) -> str:
    """How the parts add up, and which brought most."""

    def of(kind: str) -> float:
        return sum(part.amount for part in made.parts if part.kind == kind)

    heads = sorted((part for part in made.parts if part.kind == "head"), key=lambda p: -p.amount)
    called = [f"{part.layer}.{part.head} ({signed(part.amount)})" for part in heads]
    of_heads, of_ffn = of("head"), of("feed-forward")
    total = sum(part.amount for part in made.parts)
    return (
        f"All heads {signed(of_heads)}, all feed-forward {signed(of_ffn)}, the rest "
        f"{signed(total - of_heads - of_ffn)}: together {number(total, 2)}, "
        f"{of_what_is_asked(values, found)}. Of the heads, most came from {listed(called[:3])}, "
        f"and least from {called[-1]}."
    )


def of_its_tokens(values: Values, found: Seen, at: tuple[int, int]) -> str:
    """From which tokens a head brought what it brought."""
    asked, against = asked_of(values, found)
    each = head_by_key(found.run, *at, asked, found.last, against)
    pieces = encoded_of(values).pieces
    least = SMALLEST * float(each.abs().sum())
    best = [
        key for key in each.abs().argsort(descending=True)[:3].tolist() if abs(each[key]) > least
    ]
    told = [f"“{said(pieces[key])}” (token {key}) {signed(float(each[key]))}" for key in best]
    return f"Head {at[0]}.{at[1]} brought {signed(float(each.sum()))}: from {listed(told)}."


def of_what_is_off(values: Values, found: Seen, without: Seen) -> str:
    """What switching off has changed."""
    asked, against = asked_of(values, found)
    before, after = found.next_logits, without.next_logits
    chance, left = (float(each.chances[asked]) for each in (found, without))
    name = said(found.run.model.tokenizer.piece(asked))
    told = f"“{name}” had {percent(chance)}, and has {percent(left)} without {values.model_off}."
    if against is None:
        return told
    gaps = [number(float(each[asked] - each[against]), 2) for each in (before, after)]
    other = said(found.run.model.tokenizer.piece(against))
    return f"{told} Its logit was {gaps[0]} above that of “{other}”, and is {gaps[1]} above it now."


def said(piece: str) -> str:
    """A token in a sentence: without the blank before it."""
    return visible(piece.strip() or piece)


def signed(value: float) -> str:
    """A number with its sign."""
    text = number(value, 2)
    return text if text.startswith("−") or value == 0 else f"+{text}"


def of_the_head(values: Values, found: Seen, at: tuple[int, int]) -> str:
    """Where the head looks from the token that is asked."""
    layer, head = at
    query = query_of(values)
    row = found.run.weights[layer, head, query]
    key = int(row.argmax())
    n_layers = found.run.model.settings.n_layers
    return (
        f"Head {layer}.{head}, in layer {layer} of 0 to {n_layers - 1}. From token {query} it "
        f"gives {percent(float(row[key]))} of its weight to token {key}. Point at a word to see "
        "where it looks from there."
    )
