"""The small charts of the lesson on the tiny language."""

from attention_core.small_models.figures import shipped_figures
from attention_core.small_models.grammar import WORDS
from attention_core.small_models.heads import BAR, KINDS

from ...charts.bars import bars
from ...charts.chart import Chart
from ...controls.control import Values
from ...picture import palette
from .brought import brought
from .head_scores import head_scores
from .heads import TINY_HEADS, head_briefly
from .lesson import allowed_next, chances, parts_of, without_each, word_of, words_of
from .words import names_of_parts

DRAWN, TALL = 8, 112
"""The likeliest words are drawn."""


def next_word(values: Values) -> Chart:
    """The likeliest next words: blue the network's, grey the grammar's, orange without a head."""
    words, off = words_of(values), values.tiny_off
    whole = chances(words)
    allowed = allowed_next(words)
    rows = {"the network": whole}
    if off != "none":
        rows = {f"without {TINY_HEADS[off].partition(' (')[0]}": chances(words, off), **rows}
    elif allowed is not None:
        rows = {"the grammar": [allowed.get(word, 0.0) for word in WORDS], **rows}
    most = [max(each) for each in zip(*rows.values(), strict=True)]
    drawn = sorted(range(len(WORDS)), key=lambda at: -most[at])[:DRAWN]
    picked = {name: [each[at] for at in drawn] for name, each in rows.items()}
    names = tuple(WORDS[at] for at in drawn)
    told = f"Chances of the next word, {' and '.join(rows)}."
    beside = palette.GREY if off == "none" else palette.CHOSEN
    made = bars(names, picked, told, width=88, first=beside)
    made.spec.update(height=TALL, autosize={"type": "fit-x", "contains": "padding"})
    return made


def parts(values: Values) -> Chart:
    """The parts as bars that add up to the logit."""
    word = word_of(values)
    total = f"logit of “{word}”"
    amounts = [part.amount for part in parts_of(values)]
    chance = chances(words_of(values))[WORDS.index(word)]
    said = f"What each part brought to the {total}."
    return brought(names_of_parts(values), amounts, without_each(values), chance, total, said)


def scores() -> Chart:
    """All heads and all kinds."""
    figures = shipped_figures()
    heads = [head_briefly(head) for head in figures.heads]
    flat = {
        name: {
            kind.name: [number for layer in table[kind.name] for number in layer] for kind in KINDS
        }
        for name, table in (("after", figures.scores), ("before", figures.untrained))
    }
    return head_scores(heads, flat["after"], flat["before"], BAR)
