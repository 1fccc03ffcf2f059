"""The small charts of the lesson on the tiny language."""

from attention_core.operations import Given
from attention_core.operations.base import Meaning
from attention_core.small_models.figures import shipped_figures
from attention_core.small_models.grammar import WORDS
from attention_core.small_models.heads import BAR, KINDS
from attention_core.trace import Trace
from attention_core.utils.head_name import head_id

from ...charts.bars import bars
from ...charts.chart import Chart
from ...picture import palette
from ...picture.layout import Layout, equation
from ...picture.matrix import Matrix
from ...reactive.control import Values
from ...words import percent
from .brought import brought
from .lesson import TINY_HEADS, allowed_next, chances, parts_of, without_each, word_of, words_of
from .words import names_of_parts

DRAWN, TALL = 8, 90
"""The likeliest words are drawn."""
SEEN = 0.01
"""Words that are less likely by every count are told together."""
FAINT = 0.45
"""How strongly a share is seen that gives no name."""


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
    likeliest = sorted(range(len(WORDS)), key=lambda at: -most[at])[:DRAWN]
    drawn = [at for at in likeliest if most[at] >= SEEN] or likeliest
    others = [at for at in range(len(WORDS)) if at not in drawn]
    together = max((most[at] for at in others), default=0.0)
    picked = {name: [*(each[at] for at in drawn), sum(each[at] for at in others)]
              for name, each in rows.items()}  # fmt: skip
    beside = palette.GREY if off == "none" else palette.CHOSEN
    beside = beside if rows.keys() - {"the network"} else palette.BAR
    rest = f"{len(others)} others {'<1%' if together < SEEN else f'≤{percent(together)}'}"
    made = bars([*(WORDS[at] for at in drawn), rest], picked, "Chances of the next word", beside)
    made.spec["height"] = TALL
    return made


def parts(values: Values) -> Chart:
    """The parts as bars that add up to the logit."""
    word = word_of(values)
    total = f"logit of “{word}”"
    amounts = [part.amount for part in parts_of(values)]
    chance = chances(words_of(values))[WORDS.index(word)]
    said = f"What each part brought to the {total}."
    return brought(names_of_parts(values), amounts, without_each(values), chance, total, said)


def scores() -> Layout:
    """All heads and all kinds, those strong that give a head its name."""
    figures = shipped_figures()
    rows = tuple(tuple(figures.scores_of(head)[kind.name] for kind in KINDS)
                 for head in figures.heads)  # fmt: skip
    trace = Trace(
        heads=[head_id(*head) for head in figures.heads],
        kind=[kind.name.replace(" ", "-") for kind in KINDS],
    )
    step = trace.step("scores", Given(rows), axes=("heads", "kind"), meaning=Meaning.SHARES)
    strengths = (step.value >= BAR).double().clamp(min=FAINT)
    return equation(trace, Matrix(step, title="share of its weight", strengths=strengths))
