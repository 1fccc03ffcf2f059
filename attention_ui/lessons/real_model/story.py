"""A story in five steps: why the model says this token and not that one, as measured here."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from torch import Tensor

from attention_core.operations import Given
from attention_core.operations.base import Meaning
from attention_core.real_model.attribution import Attribution, Part
from attention_core.real_model.circuit import LEAST
from attention_core.real_model.lens import likeliest
from attention_core.real_model.score_parts import score_parts
from attention_core.real_model.sweeps import chance_of, logit_of
from attention_core.trace import Trace
from attention_core.utils.head_name import head_id

from ...cards.common_questions import one_of
from ...cards.elements import Element, picture, progress, say, text
from ...cards.page import is_covered
from ...cards.questions import Pick
from ...cards.why_there import Why, said_piece, spoken
from ...frame.models import TINY, said
from ...picture.matrix import Matrix
from ...picture.sentence import sentence
from ...reactive.control import Values
from ...reactive.long_run import Work, run_so_far
from ...words import capital, listed, number, percent, signed
from .heads import off_below
from .lesson import asked_of, encoded_of, predicts, rival_of, seen, whole
from .seen import Seen
from .sweeping import how_long, without_each

REST = "story_of_model"
INDIRECT = 0.25
"""A head that brought less than this part of what its absence takes works through others."""


NEAR = 0.1
"""Of two tokens whose chances are no further apart, neither is the answer."""


@dataclass(frozen=True)
class Story:
    """Two tokens that could come next, and the head that brought most of their difference."""

    reading: Seen
    asked: int
    against: int
    ids: tuple[int, ...]
    pieces: tuple[str, ...]

    @property
    def made(self) -> Attribution:
        """What each part brought to the difference."""
        return self.reading.brought(self.asked, self.against)

    @property
    def best(self) -> Part:
        """The head that brought most."""
        return self.made.heads[0]

    @property
    def names(self) -> tuple[str, str]:
        """What the two are called."""
        return tuple(said(self.reading.run.model, each) for each in (self.asked, self.against))

    @property
    def both(self) -> tuple[float, float]:
        """What that head brought to each of the two alone."""
        alone, other = (self.reading.brought(each, None) for each in (self.asked, self.against))
        head = self.best.layer, self.best.head
        return alone.of_head(*head), other.of_head(*head)

    def row(self, head: Part) -> Tensor:
        """Where a head looks from the last token (key,)."""
        return self.reading.run.weights[head.layer, head.head, self.reading.last]


def told(values: Values) -> Story | None:
    """The story; None where the model says no next token, or knows one alone."""
    reading = seen(values) if predicts(values) else None
    if reading is None:
        return None
    asked, against = asked_of(values, reading)[0], rival_of(values, reading)
    text = encoded_of(values)
    return None if against is None else Story(reading, asked, against, text.ids, text.pieces)


def step_1(v: Values) -> Iterator[Element]:
    """What the difference is, and between which two tokens."""
    if not (story := told(v)):
        yield say("This model knows one token alone: there is nothing to choose between.")
        return
    reading, (yes, no) = story.reading, story.names
    yield text(
        f"1. After your text the model says “{yes}” with "
        f"{percent(float(reading.chances[story.asked]))}, and “{no}” with "
        f"{percent(float(reading.chances[story.against]))}. The difference of their logits is "
        f"{number(story.made.logit, 2)}."
    )


def is_told(v: Values) -> bool:
    """Whether there is a story, and its question does not wait for a guess."""
    return told(v) is not None and not is_covered("story")


HOW = (
    "it raised {yes} more than it lowered {no}",
    "it lowered {no} more than it raised {yes}",
    "it raised both, {yes} more",
    "it lowered both, {no} more",
)
WAYS = tuple(
    capital(how.format(yes="the token that the model says", no="the other")) for how in HOW
)


def way_of(raised: float, lowered: float) -> int:
    """Which of `WAYS` a head took, by what it brought to the one token, and to the other: less."""
    if lowered >= 0:
        return 2
    if raised <= 0:
        return 3
    return 1 if -lowered > raised else 0


def which_way(raised: float, lowered: float) -> Pick:
    """How the head that brought most sets the two tokens apart."""
    way = way_of(raised, lowered)
    told = (
        f"{WAYS[way]}: it brought {signed(raised)} to the one that the model says, and "
        f"{signed(lowered)} to the other."
    )
    asked = one_of(
        "A head can set two tokens apart in several ways. What did the head do that brought most "
        "of this difference?",
        WAYS,
        way,
        told,
        "The textbook’s head copies the name that was said once. Another model may get to the same "
        "word by holding the wrong one down.",
    )
    return replace(asked, in_full=True)


def brought(v: Values) -> Trace:
    """What a guess is held to: what the head brought to each of the two."""
    trace = Trace()
    trace.step("brought", Given(told(v).both), axes=("of_two",))
    return trace


def _of_the_first(story: Story) -> str:
    reading, best, (yes, no) = story.reading, story.best, story.names
    row = story.row(best)
    key = int(row.argmax())
    alone, other = (reading.brought(token, None) for token in (story.asked, story.against))
    raised, lowered = story.both
    does = HOW[way_of(raised, lowered)].format(yes=f"“{yes}”", no=f"“{no}”")
    most = alone.heads[0]
    if (most.layer, most.head) == (best.layer, best.head):
        beside = f"To “{yes}” alone, too, no head brought more."
    else:
        both = other.of_head(most.layer, most.head)
        beside = (
            f"To “{yes}” alone {most.name} brought more, {signed(most.amount)}; "
            f"but with {signed(both)} to “{no}”, it brought only {signed(most.amount - both)} "
            "to the difference."
        )
    return (
        f"2. Of {reading.run.weights[:, :, 0, 0].numel()} heads, {best.name} brought "
        f"most: {signed(best.amount)}. From the last token it looks at "
        f"“{said_piece(story.pieces[key])}” (token {key}, {percent(float(row[key]))}). To “{yes}” "
        f"it brought {signed(raised)}, to “{no}” {signed(lowered)}: {does}. {beside}"
    )


def _of_a_copier(story: Story) -> str:
    """Whether the head that brought most of those that look most at the token copies it."""
    yes, _ = story.names
    if story.asked not in story.ids:
        return (
            f"3. “{yes}” does not stand in your text, so no head can copy it: what speaks for it "
            "was worked out from other words."
        )
    place = story.ids.index(story.asked)
    looking = [each for each in story.made.heads if int(story.row(each).argmax()) == place]
    if not looking or looking[0].amount <= 0:
        return (
            f"3. No head that looks mostly at “{yes}” brings anything to it here. The textbook’s "
            "story (Wang et al. 2022, on GPT-2) is that heads copy the name said once: it is not "
            "this model’s, on this text."
        )
    other, best = looking[0], story.best
    told = (
        f"3. {capital(other.name)} looks at “{yes}” itself (token {place}, "
        f"{percent(float(story.row(other)[place]))} of its weight) and brought "
        f"{signed(other.amount)}. Heads that copy the name said once are the textbook’s story "
        "(Wang et al. 2022, on GPT-2)."
    )
    if best is other:
        return told
    times = number(best.amount / other.amount, 1)
    return f"{told} Here the head of step 2 brought {times} times as much."


def _arcs(story: Story) -> Element:
    """Where the head that brought most looks."""
    trace = Trace(query=story.pieces, key=story.pieces)
    weights = Given.of(story.reading.run.weights[story.best.layer, story.best.head])
    step = trace.step("weights", weights, axes=("query", "key"), meaning=Meaning.SHARES)
    return picture(sentence(trace, Matrix(step), story.reading.last), "story_first", is_aside=True)


def _who_leads(story: Story, missed: list[Part]) -> str:
    """What makes the best head look where it looks, and whether missed heads did that."""
    best, key = story.best, int(story.row(story.best).argmax())
    try:
        parts = score_parts(story.reading.run, best.layer, best.head, story.reading.last, key)
    except ValueError as error:
        return f"What they have to do with {best.name} cannot be said: {error}."
    why = Why(parts, story.reading.run.weights, story.pieces)
    if parts.is_alone or why.lead <= 0:
        return f"What {best.name} looks at has nothing to do with them."
    at = [part.name for part in parts.parts].index
    leading = []
    for each in missed:
        amount, place = max(
            (float(parts.by_key()[at(each.name)]), key),
            (float(parts.by_query()[at(each.name)]), story.reading.last),
        )
        if amount >= LEAST * why.lead:
            leading.append(f"{each.name} ({signed(amount)}, by what it wrote at token {place})")
    who = f"Of those missed, {listed(leading)} did so" if leading else "None of those missed did so"
    others = "" if len(leading) == len(missed) else ": the others work in another way"
    return (
        f"What makes {best.name} look at “{said_piece(story.pieces[key])}” (token {key}) was "
        f"written there by {spoken(why, parts.by_key())}; together with all else its score leads "
        f"by {number(why.lead, 2)}. {who}{others}."
    )


def going_on(v: Values) -> Work | None:
    """Steps 4 and 5 take a run for each head."""
    if not is_told(v):
        return None
    reading = seen(v)
    return Work(
        REST,
        whole(v),
        lambda: without_each(reading),
        cost=f"{len(told(v).made.heads)} runs, one without each head{how_long(reading)}",
        verb="Go on with the story",
        quick=v.model == TINY or reading.without_each is not None,
    )


def after_the_guess(v: Values) -> Iterator[Element]:
    """Steps 2 to 5: the head that brought most, a copier, what it leans on, and what is without."""
    if not is_told(v):
        return
    story = told(v)
    yield text(_of_the_first(story))
    yield _arcs(story)
    yield text(_of_a_copier(story))
    yield progress(REST)
    streams = run_so_far(REST).result
    if isinstance(streams, Tensor):
        run, best, heads, (yes, _) = story.reading.run, story.best, story.made.heads, story.names
        gaps = logit_of(run, streams, story.asked) - logit_of(run, streams, story.against)
        gap = story.made.logit
        below = [
            (gap - float(gaps[each.layer, each.head]), each)
            for each in heads
            if each.layer is not None and best.layer is not None and each.layer < best.layer
        ]
        lost = sorted(
            (each for each in below if abs(each[1].amount) < INDIRECT * each[0]),
            key=lambda each: -each[0],
        )[:3]
        named = [
            f"{each.name} (−{number(fall, 2)}, though it brought {signed(each.amount)} itself)"
            for fall, each in lost
        ]
        yield text(
            f"4. Which earlier heads does {best.name} lean on? Of those that brought little "
            f"themselves, the difference falls most without {listed(named)}. "
            f"{_who_leads(story, [each for _, each in lost])}"
            if named
            else "4. No earlier head is missed that brought little itself."
        )
        left = streams[[best.layer], [best.head]]
        (says,) = likeliest(run.model, left, 1).ids[0].tolist()
        kept, came = (float(chance_of(run, left, each)) for each in (story.asked, says))
        had, was = (float(story.reading.chances[each]) for each in (story.asked, says))
        first = f"Now “{said(run.model, says)}” comes first, with {percent(came)}"
        if says == story.asked:
            so = f"“{yes}” is still what comes first: this head alone does not carry the answer."
        elif min(had - was, came - kept) > NEAR:
            so = f"{first}: the answer hung on this head."
        else:
            so = f"{first}, but before, “{yes}” had {percent(had)} and this one {percent(was)}: "
            so += "too little has changed to say that the answer hung on this head."
        yield text(
            f"5. And without {best.name} itself? The difference is "
            f"{number(float(gaps[best.layer, best.head]), 2)} in place of {number(gap, 2)}, and "
            f"“{yes}” has {percent(kept)}. {so}"
        )
        off = head_id(best.layer, best.head)
        yield off_below(v, f"Switch off {best.name}, below", "story_off", off)
