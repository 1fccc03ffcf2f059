"""What a phone shows of a card at once, and what it folds, in the order of the card."""

import pytest

from attention_ui.cards.elements import Picture
from attention_ui.cards.page import called_as_folded
from attention_ui.cards.review import declared
from attention_ui.site.reader import Reader
from serving import ROOT

KINDS = {"Placed": "control", "InPicture": "control in it", "Row": "row", "Shown": "words"}
CARDS = {
    "simplified_attention": {
        "scores": "control in it, picture | Change it: control, control",
        "weights": "picture | **Predict first**, change it, read on: control, words",
        "one_query": "control in it, picture | Change it: control",
        "picture": "words | Change it: control, control",
        "loop": "words, words, words",
    },
    "causal_mask": {
        "mask": "control in it, picture | Change it: row",
        "context": "picture",
        "ways": "picture | **Predict first**, change it, read on: control, words, words",
        "leak": "control in it, picture | Change it, read on: control, words",
        "softmax": "picture, words, words, words, words",
    },
    "divide_by_sqrt_d": {
        "dot_products": "picture | **Predict first**: ",
        "many_trials": "control, row, words, row, row",
    },
    "softmax_or_sum": {
        "scores": "picture | Change it, read on: control, control, Alive",
        "constant": "control in it, picture | Change it, read on: words, control, words, words",
        "overflow": "row, words, words, picture, words, picture, words, words",
    },
}


def kind(each):
    return "picture" if isinstance(each, Picture) else KINDS.get(type(each).__name__, "Alive")


@pytest.mark.parametrize("lesson", CARDS)
def test_a_phone_shows_the_first_picture_with_its_control_and_folds_the_rest(lesson):
    page = declared(ROOT / "pages" / f"{lesson}.py")
    reader, found = Reader(page, {}, most_seconds=0.0), {}
    with reader.here():
        reader.goes_to(reader.base)
        for card in page.every_card():
            with reader.within(card):
                made = reader.made(card)
                folded = card.folded_on_phone(made)
            every = [*made.controls, *made.elements]
            stays = [kind(each) for each in every if folded is None or each not in folded]
            label = folded is not None and called_as_folded(folded, bool(card.ask))
            row = f" | {label}: {', '.join(map(kind, folded))}" if label else ""
            found[card.name] = f"{', '.join(stays)}{row}"
    assert {name: found[name] for name in CARDS[lesson]} == CARDS[lesson]
