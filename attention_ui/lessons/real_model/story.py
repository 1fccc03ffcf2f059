"""A story in five steps: why the model says this token and not that one, measured on the text and
the model that are there.
"""

import streamlit as st
from torch import Tensor

from attention_core.operations import Given
from attention_core.real_model.attribution import Part
from attention_core.real_model.lens import likeliest
from attention_core.real_model.sweeps import chance_of, logit_of
from attention_core.trace import Trace

from ...cards.question import question
from ...cards.questions import Pick, Verdict
from ...cards.show import picture
from ...controls import held, parts
from ...controls.control import Values
from ...frame.long_run import go_on, long_run
from ...frame.models import TINY, said
from ...picture.matrix import Matrix
from ...picture.sentence import sentence
from ...words import listed, number, percent
from .lesson import PAIRS, STARTS, asked_of, encoded_of, whole
from .running import in_words
from .seen import Seen
from .sweeping import without_each
from .words import said_piece, signed

INDIRECT = 0.25
"""A head that brought less than this part of what its absence takes works through others."""


def story(values: Values, found: Seen) -> None:
    """The five steps, or a way to the text that the story is about."""
    asked, against = asked_of(values, found)
    if against is None:
        model, pair = values.model, PAIRS.get(values.model)
        st.markdown(
            "The story is about two tokens that could come next. Choose what to compare with at "
            "*Who brought the answer*, above."
        )
        if pair:
            told = {"asked_token": pair[0], "against_token": pair[1], "prompt": STARTS[model]}
            label = f"{pair[0]} or {pair[1]}?"
            st.button(label, key="tell_the_story", on_click=held.change, kwargs=told)
        return
    yes, no = (said(found.run.model, each) for each in (asked, against))
    made = found.brought(asked, against)
    heads = made.heads
    best = heads[0]
    st.text(
        f"1. After your text the model says “{yes}” with {percent(float(found.chances[asked]))}, "
        f"and “{no}” with {percent(float(found.chances[against]))}. The difference of their logits "
        f"is {number(made.logit, 2)}. Where does it come from?"
    )
    if question("story_way", which_way(*_both(found, best, asked, against)),
                _brought(found, best, asked, against), ("brought",), ("story",)):  # fmt: skip
        return
    st.text(_of_the_first(values, found, best, (asked, yes), (against, no)))
    _arcs(values, found, best, "story_first")
    if other := _copier(values, found, heads, asked):
        place = encoded_of(values).ids.index(asked)
        st.text(
            f"3. Head {other.layer}.{other.head} looks at “{yes}” itself (token {place}, "
            f"{percent(float(_row(found, other)[place]))} of its weight) and brought "
            f"{signed(other.amount)}. Heads that copy the name said once are the textbook’s story "
            "(Wang et al. 2022, on GPT-2)."
            + (
                f" Here the head of step 2 brought {number(best.amount / other.amount, 1)} times "
                "as much."
                if best is not other and other.amount > 0
                else ""
            )
        )
        if best is not other:
            _arcs(values, found, other, "story_other")
    elif asked not in encoded_of(values).ids:
        st.text(
            f"3. “{yes}” does not stand in your text, so no head can copy it: what speaks for it "
            "was worked out from other words."
        )
    else:
        st.text(
            f"3. No head that looks mostly at “{yes}” brings anything to it here. The textbook’s "
            "story (Wang et al. 2022, on GPT-2) is that heads copy the name said once: it is not "
            "this model’s, on this text."
        )
    _of_the_rest(values, found, best, (asked, yes), against, heads)


def _row(found: Seen, head: Part) -> Tensor:
    """Where a head looks from the last token (key,)."""
    return found.run.weights[head.layer, head.head, found.last]


WAYS = (
    "It raised the token that the model says more than it lowered the other",
    "It lowered the other token more than it raised the one that the model says",
    "It raised both, the one that the model says more",
    "It lowered both, the other one more",
)


def way_of(raised: float, lowered: float) -> int:
    """Which of `WAYS` a head took that brought more to one token than to the other: what it brought
    to the one, and to the other, which is less.
    """
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
    return Pick(
        words="A head can set two tokens apart in several ways. What did the head do that brought "
        "most of this difference?",
        choices=WAYS,
        judge=lambda guess: Verdict(guess == [way], f"{'Right. ' * (guess == [way])}{told}"),
        truth=lambda: told,
        teaches="The textbook’s head copies the name that was said once. Another model may get to "
        "the same word by holding the wrong one down.",
        in_full=True,
    )


def _both(found: Seen, head: Part, asked: int, against: int) -> tuple[float, float]:
    """What a head brought to each of the two tokens alone."""
    alone, other = (found.brought(token, None) for token in (asked, against))
    return alone.of_head(head.layer, head.head), other.of_head(head.layer, head.head)


def _brought(found: Seen, head: Part, asked: int, against: int) -> Trace:
    """The same as a step, which a guess is held to."""
    trace = Trace()
    trace.step("brought", Given(_both(found, head, asked, against)), axes=("of_two",))
    return trace


def _of_the_first(
    values: Values, found: Seen, best: Part, yes: tuple[int, str], no: tuple[int, str]
) -> str:
    """What the head does that brought most."""
    row, pieces = _row(found, best), encoded_of(values).pieces
    key = int(row.argmax())

    alone, other = (found.brought(token, None) for token in (yes[0], no[0]))
    raised, lowered = _both(found, best, yes[0], no[0])
    does = what_it_does(raised, lowered, yes[1], no[1])
    most = alone.heads[0]
    if (most.layer, most.head) == (best.layer, best.head):
        beside = f"To “{yes[1]}” alone, too, no head brought more."
    else:
        both = other.of_head(most.layer, most.head)
        beside = (
            f"To “{yes[1]}” alone {most.layer}.{most.head} brought more, {signed(most.amount)}; "
            f"but with {signed(both)} to “{no[1]}”, it brought only {signed(most.amount - both)} "
            "to the difference."
        )
    return (
        f"2. Of {found.run.weights[:, :, 0, 0].numel()} heads, {best.layer}.{best.head} brought "
        f"most: {signed(best.amount)}. From the last token it looks at “{said_piece(pieces[key])}” "
        f"(token {key}, {percent(float(row[key]))}). To “{yes[1]}” it brought {signed(raised)}, to "
        f"“{no[1]}” {signed(lowered)}: {does}. {beside}"
    )


def what_it_does(raised: float, lowered: float, yes: str, no: str) -> str:
    """What a head does that brought more to one token than to the other: how much it `raised` the
    one, and what it brought to the other, which is less.
    """
    return (
        f"it raises “{yes}” more than it lowers “{no}”",
        f"it lowers “{no}” more than it raises “{yes}”",
        f"it raises both, “{yes}” more",
        f"it lowers both, “{no}” more",
    )[way_of(raised, lowered)]


def _copier(values: Values, found: Seen, heads: list[Part], asked: int) -> Part | None:
    """The head that brought most of those that look most at the token that is said."""
    ids = encoded_of(values).ids
    if asked not in ids:
        return None
    place = ids.index(asked)
    looking = [each for each in heads if int(_row(found, each).argmax()) == place]
    return looking[0] if looking and looking[0].amount > 0 else None


def _arcs(values: Values, found: Seen, head: Part, name: str) -> None:
    """Where a head looks, as arcs."""
    pieces = encoded_of(values).pieces
    trace = Trace(query=pieces, key=pieces)
    weights = Given.of(found.run.weights[head.layer, head.head])
    step = trace.step("weights", weights, axes=("query", "key"))
    picture(name, sentence(trace, Matrix(step), found.last), is_aside=True)


@st.fragment
@in_words
def _of_the_rest(
    values: Values,
    found: Seen,
    best: Part,
    yes: tuple[int, str],
    against: int,
    heads: list[Part],
) -> None:
    """Steps 4 and 5: on whom it stands, and what is without it; both take a run for each head."""
    going = long_run(
        "story_of_model",
        whole(values),
        lambda: without_each(found),
        quick=values.model == TINY or found.without_each is not None,
        cost=f"{len(heads)} runs, one without each head",
        verb="Go on with the story",
    )
    if isinstance(going.found, Tensor):
        run, streams = found.run, going.found
        gaps = logit_of(run, streams, yes[0]) - logit_of(run, streams, against)
        gap = found.brought(yes[0], against).logit
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
            f"{each.layer}.{each.head} (−{number(fall, 2)}, though it brought "
            f"{signed(each.amount)} itself)"
            for fall, each in lost
        ]
        st.text(
            "4. On whom does that stand? Of the heads before it that brought little themselves, "
            f"the difference falls most without {listed(named)}. They write what "
            f"{best.layer}.{best.head} and others read later."
            if named
            else "4. No earlier head is missed that brought little itself."
        )
        left = streams[[best.layer], [best.head]]
        (says,) = likeliest(run.model, left, 1).ids[0].tolist()
        st.text(
            f"5. And without {best.layer}.{best.head} itself? The difference is "
            f"{number(float(gaps[best.layer, best.head]), 2)} in place of {number(gap, 2)}, and "
            f"“{yes[1]}” has {percent(float(chance_of(run, left, yes[0])))}. "
            + (
                f"“{yes[1]}” is still what comes first: this head alone does not carry the answer."
                if says == yes[0]
                else f"Now “{said(run.model, says)}” comes first: the answer hung on this head."
            )
        )
        off = f"{best.layer}.{best.head}"
        label = f"Switch off {off}, above"
        st.button(label, key="story_off", on_click=_switch_off, args=(off,))
    go_on(going)


def _switch_off(head: str) -> None:
    held.change(model_off=head)
    parts.run_what_reads()
