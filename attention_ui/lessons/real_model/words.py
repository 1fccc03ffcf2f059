"""What the page of a real model says, with numbers from the run."""

from attention_core.real_model.known import Brought, from_tokens
from attention_core.real_model.model import Model
from attention_core.text.tokenizers import visible

from ...controls.control import Values
from ...words import listed, number, percent
from .heads import strongest as strongest_heads
from .lesson import asked_of, encoded_of, measure_of, query_of
from .running import Seen


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
    return f"{measure_of(values).words} Most: {listed(each)}. Green: 30 % or more."


def of_what_is_asked(values: Values, found: Seen) -> str:
    """Which number is taken apart: the logit of “Mary”, or how far it is above that of “John”."""
    asked, against = asked_of(values, found)
    piece = found.run.model.tokenizer.piece
    told = f"the logit of “{said(piece(asked))}”"
    if against is None:
        return told
    return f"{told}, minus that of “{said(piece(against))}”"


def adds_up(values: Values, found: Seen, parts: Brought) -> tuple[bool, str]:
    """Whether all parts together are what the model says."""
    asked, against = asked_of(values, found)
    said = found.next_logits.double()
    wanted = float(said[asked] - (said[against] if against is not None else 0))
    cap = found.run.model.settings.logit_cap
    off = abs(parts.total - wanted)
    if cap is not None:
        return True, "The parts add up to the logit as it is before the model's soft cap."
    right = off <= 1e-4 * max(1.0, abs(wanted))
    return right, f"All parts add up to what the model says: {number(wanted, 3)}, off by {off:.0e}."


def of_the_parts(values: Values, found: Seen, parts: Brought) -> str:
    """How the parts add up, and which brought most."""
    n_heads = parts.heads.shape[1]
    order = parts.heads.flatten().argsort(descending=True).tolist()

    def called(at: int) -> str:
        layer, head = divmod(at, n_heads)
        return f"{layer}.{head} ({signed(float(parts.heads[layer, head]))})"

    rest = parts.embedding + float(parts.biases.sum()) + parts.last
    told = (
        f"All heads {signed(float(parts.heads.sum()))}, all feed-forward "
        f"{signed(float(parts.ffn.sum()))}, the embedding and biases {signed(rest)}: together "
        f"{number(parts.total, 2)}, {of_what_is_asked(values, found)}."
    )
    return (
        f"{told} Of the heads, most came from {listed([called(at) for at in order[:3]])}, and "
        f"least from {called(order[-1])}."
    )


def of_its_tokens(values: Values, found: Seen, at: tuple[int, int]) -> str:
    """From which tokens a head brought what it brought."""
    asked, against = asked_of(values, found)
    each = from_tokens(found.run, *at, found.last, asked, against)
    pieces = encoded_of(values).pieces
    best = each.abs().argsort(descending=True)[:3].tolist()
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
