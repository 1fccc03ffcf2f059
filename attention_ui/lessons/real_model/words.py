"""What the page of a real model says, with numbers from the run."""

import re
from collections.abc import Sequence

import torch
from torch import Tensor

from attention_core.real_model.attribution import Attribution, head_by_key
from attention_core.real_model.measures import MEASURES
from attention_core.real_model.model import Model
from attention_core.real_model.not_finite import not_finite
from attention_core.rounding import to_within
from attention_core.text.tokenizers import visible
from attention_core.utils.head_name import head_id, head_in_full, head_name

from ...cards.common_questions import one_of
from ...cards.questions import Pick
from ...cards.why_there import said_piece
from ...frame.ends import closes
from ...frame.models import not_known, said
from ...reactive.control import Values
from ...words import capital, listed, number, percent, signed, word_at
from .lesson import OfHead, asked_of, drawn_of, encoded_of, predicts, query_of, scores_by, seen
from .raster import MARKED_FROM
from .seen import Seen

SMALLEST = 0.02
"""A token that brought less of what a head brought is not named."""
MANY_SINKS = 0.1
"""Of so many of all heads it is said why they look at the first token."""
NOT_TRAINED_TO_SAY = (
    "trained to give a text’s vector: what it says next is read off its table of tokens, and is "
    "not what it was trained for"
)
FEW_ASKED = 4
"""A measure that is asked of fewer tokens is a mean of next to nothing."""


def about_the_model(model: Model) -> str:
    """What the model does, and how many heads it has."""
    s = model.settings
    says = "Type a text, and see which tokens (words, or pieces of them) "
    if s.n_vocabulary < 256:  # there is no token for each byte, so none for other words
        says = f"Type a text of its {s.n_vocabulary} words and marks, and see which "
    says += "are likeliest to come next; ␣ is a blank. "
    if not s.predicts:
        says = "Type a text, cut into tokens (words, or pieces of them). "
    return (
        f"{says}Each of the model’s {s.n_layers * s.n_heads} heads ({s.n_layers} layers of "
        f"{s.n_heads}) looks at your text in its own way."
    )


def of_its_sizes(model: Model) -> str:
    """What kind of model this is, for who knows others."""
    s = model.settings
    n_shared = s.n_heads // s.n_key_heads
    told = [
        f"Family: {model.family}",
        f"{n_shared} heads share one head’s keys and values" if n_shared > 1 else "",
        f"{s.d_model:,} numbers for each token",
        f"{s.n_vocabulary:,} tokens to choose from" if s.predicts else "",
        f"its numbers are kept in {model.quantised}" if model.quantised else "",
        NOT_TRAINED_TO_SAY if s.predicts and model.for_vectors else "",
    ]
    return " · ".join(filter(None, told))


def typed_controls(values: Values, model: Model) -> str:
    """That a control token which was typed is none; "" where there is none."""
    found = model.tokenizer.control_words(values.prompt)
    if not found:
        return ""
    return (
        f"{listed([f'“{each}”' for each in found])} is read letter by letter, like any text: a "
        "control token, which would steer the model, cannot be typed here."
    )


def not_as_typed(values: Values, model: Model) -> list[str]:
    """What is read otherwise than typed: control tokens, unknown words, cut characters."""
    encoded = encoded_of(values)
    cut = next((each for each in encoded.pieces if re.search("‹1/[2-9]›", each)), "")
    character, n_parts = re.search("(.)‹1/(.)›", cut).groups() if cut else ("", "")
    told = [typed_controls(values, model), *not_known(model, encoded)]
    if cut:
        told.append(
            f"{visible(character)}‹1/{n_parts}› is part 1 of {n_parts} of {visible(character)}: "
            f"this model has no one token for it, and writes it as {n_parts}."
        )
    return [*filter(None, told)]


def of_its_components(values: Values, drawn: OfHead) -> str:
    """Which of the components of queries and keys are drawn, where not all are."""
    if drawn.components is None:
        return ""
    token = at_place(encoded_of(values).pieces, query_of(values))
    return (
        f"Of {drawn.n_components} components the {len(drawn.components)} that make most of the "
        f"scores of {token} are drawn, the largest first; a score adds up all of them."
    )


def of_what_is_no_number(reading: Seen) -> str:
    """Where numbers become nan, and what the file holds there; "" where all are finite."""
    predicts = reading.run.model.settings.predicts

    def told() -> str:
        return not_finite(reading.run, reading.next_logits if predicts else None)

    where = reading.once("not finite", told)
    return where and (
        f"{where} Every sum that one of them enters is spoiled too, so nothing of this text can "
        "be shown. Try another text or another model."
    )


def strongest(values: Values, reading: Seen) -> str:
    """Which heads do most of what is measured."""
    scores, ids = scores_by(values.measure, reading), reading.run.ids
    measure = MEASURES[values.measure]
    most, order = scores.flatten().topk(min(5, scores.numel()))
    if not most[0]:
        return f"{measure.words} In this text no token has such a place."
    places = [divmod(at, scores.shape[1]) for at in order.tolist()]
    each = [f"{head_id(*at)} ({percent(float(scores[at]))})" for at in places]
    has_green, bar = most[0] >= MARKED_FROM, percent(MARKED_FROM)
    reached = f"Green: {bar} or more on average." if has_green else f"None reaches {bar}."
    n_asked = int(measure.picks(torch.as_tensor(ids))[1].sum())
    told = (
        f"{measure.words} Most: heads {listed(each)}; first {head_in_full(*places[0])}. {reached} "
        f"Asked of {n_asked} of your {len(ids)} tokens."
    )
    if n_asked < FEW_ASKED < len(ids):
        told += " Too few to name a head by: a text that says things twice asks more."
    if values.heads_from:
        return f"{told} {of_the_fitting(values, reading)}"
    return told + (of_sinks(values, reading) if values.heads_order == "layers" else "")


def of_the_fitting(values: Values, reading: Seen) -> str:
    """How many heads do so much of what is measured as is asked for, and what of the others."""
    scores, share = scores_by(values.measure, reading), values.heads_from / 100
    n_fitting, by_layer = int((scores >= share).sum()), values.heads_order == "layers"
    others = "the others are " + ("faded" if by_layer else "left out")
    verb = "reaches" if n_fitting == 1 else "reach"
    told = f"{n_fitting or 'None'} of {scores.numel()} heads {verb} {percent(share)}"
    return f"{told}; {others}." if n_fitting < scores.numel() else f"{told}."


def of_sinks(values: Values, reading: Seen) -> str:
    """Why so many heads have a stripe at their left edge; "" where few have, or it is measured."""
    scores = scores_by("first", reading)
    n_sinks = int((scores >= MARKED_FROM).sum())
    if values.measure == "first" or n_sinks < MANY_SINKS * scores.numel():
        return ""
    return (
        f" The stripe at the left of some boxes is the first token: {n_sinks} of "
        f"{scores.numel()} heads give it {percent(MARKED_FROM)} or more. Where nothing fits, heads "
        "rest there (an attention sink): softmax must give all its weight away, and this way no "
        "word is mixed in at random."
    )


def of_what_is_asked(values: Values, reading: Seen) -> str:
    """Which number is taken apart: the logit of “Mary”, or how far it is above that of “John”."""
    asked, against = asked_of(values, reading)
    model = reading.run.model
    told = f"the logit of “{said(model, asked)}”"
    if against is None:
        same = " (compared with itself there is nothing to see)" if values.against_token else ""
        return told + same
    return f"{told}, minus that of “{said(model, against)}”"


def adds_up(reading: Seen, made: Attribution) -> tuple[bool, str]:
    """Whether all parts together are the number that is taken apart."""
    off = abs(sum(part.amount for part in made.parts) - made.logit)
    right = off <= 1e-4 * max(1.0, abs(made.logit))
    cap = reading.run.model.settings.logit_cap
    before = "" if cap is None else ", as it is before the model’s soft cap"
    return right, (
        f"All {len(made.parts)} parts add up to it{before}: {number(made.logit, 3)}, "
        f"{to_within(off)}."
    )


def of_its_tokens(values: Values, reading: Seen, at: tuple[int, int]) -> str:
    """From which tokens a head brought what it brought."""
    asked, against = asked_of(values, reading)
    each = head_by_key(reading.run, *at, asked, reading.last, against)
    pieces = encoded_of(values).pieces
    least = SMALLEST * float(each.abs().sum())
    best = [
        key for key in each.abs().argsort(descending=True)[:3].tolist() if abs(each[key]) > least
    ]
    told = [f"“{said_piece(pieces[key])}” (token {key}) {signed(float(each[key]))}" for key in best]
    who = capital(head_name(at[1], at[0]))
    return f"{who} brought {signed(float(each.sum()))}: from {listed(told)}."


def of_what_is_off(values: Values, reading: Seen, without: Seen) -> str:
    """What switching off has changed."""
    asked, against = asked_of(values, reading)
    before, after = reading.next_logits, without.next_logits
    chance, left = (float(each.chances[asked]) for each in (reading, without))
    name = said(reading.run.model, asked)
    off = re.sub(r"(?<![\w.])(\d+\.\d+)", r"head \1", values.model_off)
    told = (
        f"Orange: what is left. “{name}” had {percent(chance)}, and has {percent(left)} without "
        f"{off}."
    )
    if against is None:
        return told
    gaps = [number(float(each[asked] - each[against]), 2) for each in (before, after)]
    other = said(reading.run.model, against)
    return f"{told} Its logit was {gaps[0]} above that of “{other}”, and is {gaps[1]} above it now."


def of_what_is_measured(values: Values, reading: Seen) -> str:
    """What is measured again: a chance, or a difference of logits."""
    asked, against = asked_of(values, reading)
    name = said(reading.run.model, asked)
    return f"the chance of “{name}”" if against is None else of_what_is_asked(values, reading)


def most_needed(values: Values, reading: Seen, changes: Tensor) -> str:
    """The heads that are missed most, and the one without which it gets stronger."""
    order = changes.flatten().argsort().tolist()
    n_heads = changes.shape[1]

    def called(at: int) -> str:
        layer, head = divmod(at, n_heads)
        return f"{head_name(head, layer)} ({_change(values, reading, float(changes[layer, head]))})"

    told = f"Missed most: {listed([called(at) for at in order[:3]])}."
    if changes.max() <= 0:
        return told
    return f"{told} Without {called(order[-1])} {of_what_is_measured(values, reading)} rises most."


def where_it_turns(values: Values, reading: Seen, changes: Tensor) -> str:
    """The token whose vector changes most, and from which layer to which."""
    strongest = changes.abs().max(dim=0).values
    token = int(strongest.argmax())
    pieces = encoded_of(values).pieces
    layers = (changes[:, token].abs() > 0.5 * strongest[token]).nonzero().flatten().tolist()
    if not layers:
        return "No vector of the other text changes this: try a text that says something else."
    most = float(changes[:, token][changes[:, token].abs().argmax()])
    first, last = layers[0], layers[-1]
    where = f"layer {first}" if first == last else f"layers {first} to {last}"
    told = (
        f"At “{said_piece(pieces[token])}” (token {token}), before {where}, the other text’s "
        f"vector changes most: {_change(values, reading, most)}."
    )
    end = changes[:, reading.last].abs()
    if token != reading.last and end.max() > 0:
        late = (end > 0.5 * end.max()).nonzero()
        told += f" At the last token it does so from layer {int(late[0])} on."
    return told


def _change(values: Values, reading: Seen, change: float) -> str:
    is_chance = asked_of(values, reading)[1] is None
    return f"{signed(100 * change)} points" if is_chance else signed(change)


def at_place(pieces: Sequence[str], place: int) -> str:
    """A token in our Markdown: “to”; with its place if it is repeated, or no plain word."""
    return word_at([said_piece(each) for each in pieces], place)


def settled(reading: Seen) -> int:
    """The first layer after which it would say what it says in the end; −1 for its embeddings."""
    ids = reading.lens.ids.view(reading.run.model.settings.n_layers + 1, -1)[:, -1]
    others = (ids != ids[-1]).nonzero().flatten()
    return int(others[-1]) if len(others) else -1


def when_first_said(values: Values) -> Pick | None:
    """From which layer on would it say what it says in the end? As soon as the run is there."""
    reading = seen(values) if predicts(values) else None
    if reading is None:
        return None
    n_layers, at = reading.run.model.settings.n_layers, settled(reading)
    choices = ["the embedding alone", *(f"after layer {layer}" for layer in range(n_layers))]
    return one_of(
        "The model says one token next. From where on would it have said so, if it had stopped "
        "there?",
        choices,
        at + 1,
        f"It is {choices[at + 1]}; the last is layer {n_layers - 1}.",
        "Each layer adds to the same stream of numbers, so the answer is built up on the way.",
    )


@closes("Does every head of a model do something that has a name?", "heads")
def does_each_have_a_name(values: Values) -> str:
    """By the measure that is chosen."""
    reading = seen(values)
    scores = scores_by(values.measure, reading)
    layer, head = divmod(int(scores.argmax()), reading.run.model.settings.n_heads)
    n_marked = int((scores >= MARKED_FROM).sum())
    return (
        f"No. Of {scores.numel()} heads, {n_marked} reach {percent(MARKED_FROM)} on this text "
        f"by the measure “{MEASURES[values.measure].name}”, {head_name(head, layer)} the most. "
        "Many do several things, and other things on another text."
    )


@closes("When does a model know what it will say?", "layers", "lens")
def when_does_it_know(values: Values) -> str | None:
    """From where on it would say so; nothing of a model that says no next token."""
    if not predicts(values):
        return None
    reading = seen(values)
    layer, n_layers = settled(reading), reading.run.model.settings.n_layers
    if layer < 0:
        return "On this text its embeddings would say the same already."
    if layer == n_layers - 1:
        return (
            "On this text only at the very end: before its last layer it would say something else."
        )
    return (
        f"On this text from layer {layer} on, the last being {n_layers - 1}: its last norm and its "
        "table would say the same there."
    )


@closes("Is the head that brought most the one that is needed most?", "off")
def is_most_needed(values: Values) -> str | None:
    """With what all heads brought."""
    if not predicts(values):
        return None
    reading = seen(values)
    made = reading.brought(*asked_of(values, reading))
    heads = sum(part.amount for part in made.heads)
    return (
        f"Not always. What all heads brought to {of_what_is_asked(values, reading)} is "
        f"{signed(heads)} of {number(made.logit, 2)}; but later heads read what an earlier one "
        "writes, and without it they find something else. Only taking it away tells."
    )


def of_the_head(values: Values, reading: Seen, at: tuple[int, int]) -> str:
    """Where the head looks from the token that is asked."""
    layer, head = at
    query, drawn, pieces = query_of(values), drawn_of(values), encoded_of(values).pieces
    row = reading.run.weights[layer, head, query]
    key = int(row.argmax())
    told = (
        f"{capital(head_in_full(layer, head))}: {at_place(pieces, query)} gives "
        f"{percent(float(row[key]))} of its attention to "
        f"{'itself' if key == query else at_place(pieces, key)}. Point at a word to see where it "
        "looks from there."
    )
    if len(drawn) == len(row):
        return told
    asks = at_place(pieces, query)
    elsewhere = 1 - float(row[drawn.start : drawn.stop].sum())
    return (
        f"{told} Here and below stand tokens {drawn.start} to {drawn.stop - 1} of {len(row)}. The "
        f"others count too: they get {percent(elsewhere)} of the attention of {asks}."
    )
