"""What the lab and the game say of their numbers, what they ask, and what they leave to answer."""

import random

from torch import Tensor

from attention_core.lights.light import TITLES, Light
from attention_core.mistakes.named import NAMED
from attention_core.mistakes.rounds import lights_with, red, ruled_out_by, suspects
from attention_core.rounding import largest, to_within
from attention_core.trace import Trace

from ...cards.questions import Pick, Verdict
from ...controls.shared import example_of
from ...frame.ends import closes
from ...reactive.control import Values
from ...words import listed, number
from .game import MISTAKE, hidden
from .lesson import chosen, found_in, layer_of, why_not

LIGHTS = "lights"
"""What the lights show, for the question that covers them."""
TOO_SHORT = (
    "Nothing is wrong here: on this text no mistake of this kind can be seen. Type a longer one, "
    "or choose another number of red lights."
)
EQUAL = {
    "queries_as_keys": ("head_queries", "head_keys"),
    "keys_as_values": ("head_keys", "head_values"),
}
"""By a mistake that no light sees, the two steps that it makes equal."""


def right_verdict(values: Values) -> tuple[bool, str]:
    """Whether the layer done right turns every light green, in words."""
    off = red(lights_with(*layer_of(values)))
    if off:
        return False, f"Done right, the same layer breaks “{off[0].title}”: {off[0].evidence}"
    return True, "Done right, this layer turns every light green."


def instead_words(values: Values) -> str:
    """Says so where another mistake is shown than the one that was chosen; else ""."""
    why = why_not(values)
    return f"{why} So you see “{chosen(values).named.title}” instead." if why else ""


# --- the lab --------------------------------------------------------------------------------------


def which_lights(values: Values) -> Pick | None:
    """Which properties does this mistake break? Nothing to ask where no light sees it."""
    asked = [each for each in found_in(values) if each.holds is not None]
    broken = [at for at, each in enumerate(asked) if each.holds is False]
    if not broken:
        return None
    said = listed([f"“{asked[at].title}”" for at in broken])
    truth = f"What breaks is {said}."

    def judge(guess: list[int]) -> Verdict:
        if guess == broken:
            return Verdict(True, f"Right: {said}.")
        n_right = len({*guess} & {*broken})
        n_missing, n_wrong = len(broken) - n_right, len({*guess} - {*broken})
        counted = f"Your choices: {n_right} right, {n_wrong} wrong, {n_missing} missing."
        return Verdict(False, f"{counted} {truth}")

    return Pick(
        words="Which of these does the mistake break? Choose one or several: each is true of the "
        "layer done right.",
        choices=[each.title for each in asked],
        judge=judge,
        truth=lambda: truth,
        many=True,
        teaches="Each of these can be a test in your own code.",
    )


@closes("What would find this mistake?", "lights", LIGHTS)
def what_finds(values: Values) -> str:
    """The lights that turn red, or why none does."""
    found = red(found_in(values))
    if not found:
        why = chosen(values).named.unseen or "This text is too short for it to make a difference."
        return f"No check here does. {why}"
    said = listed([f"“{each.title}”" for each in found])
    return f"Checking {said}. {found[0].evidence}"


@closes("Is it enough to check that rows sum to 1?", "lights", LIGHTS)
def enough(values: Values) -> str:
    """With what that check says of this mistake."""
    sums = next(each for each in found_in(values) if each.name == "rows_sum_to_1")
    if sums.holds is False:
        return f"Here it is: {sums.evidence} Most other mistakes leave these sums as they are."
    return (
        f"No. With this mistake the check still passes: {sums.evidence} Look also whether hidden "
        "keys get exactly 0, and whether a later token changes an earlier output."
    )


# --- the game -------------------------------------------------------------------------------------


def which_mistake(values: Values) -> Pick | None:
    """The question of the game; None where nothing could be switched on."""
    truth = hidden(values)
    if not truth:
        return None
    each = suspects(*layer_of(values))

    def judge(guess: list[int]) -> Verdict:
        guessed = each[guess[0]]
        if guessed == truth:
            return Verdict(True, f"Right: it is “{NAMED[truth].title}”.")
        return Verdict(False, rules_out(values, guessed))

    return Pick(
        words="Which mistake was switched on? Look at the lights, then at the tensors.",
        choices=[NAMED[name].title for name in each],
        judge=judge,
        truth=lambda: f"It is “{NAMED[truth].title}”.",
        until_right=True,
    )


def why(trace: Trace, values: Values) -> Pick | None:
    """What proves it: one of three numbers of this layer; None where nothing can be asked."""
    truth = hidden(values)
    if not truth:
        return None
    found = _lights_of(values)
    each = _reasons(values, found) if red(found) else _alike(trace, truth)
    if len(each) < 2:
        return None
    random.Random(f"{values.level} {values.round_seed} why").shuffle(each)
    right = next(words for words, verdict in each if verdict.right)
    return Pick(
        words=f"And why? What proves that it is “{NAMED[truth].title}”?",
        choices=[words for words, _ in each],
        judge=lambda guess: each[guess[0]][1],
        truth=lambda: f"This does: {right}",
        in_full=True,
    )


def _reasons(values: Values, lights: tuple[Light, ...]) -> list[tuple[str, Verdict]]:
    """What a red light measured, what a green one did, and what another mistake would show."""
    first = red(lights)[0]
    breaks = f"What breaks is “{first.title}”: {first.evidence}"
    each = [(first.evidence, Verdict(True, f"Right. {breaks}"))]
    for light in lights:
        if light.holds:
            words = (
                "That is true, and it proves nothing: the layer done right keeps to it as well. "
                f"{breaks}"
            )
            each.append((light.evidence, Verdict(False, words)))
            break
    for name in _nearest(values, lights):
        for here, there in ruled_out_by(lights, _lights_of(values, name)):
            if there.holds is False:
                words = (
                    f"So it would be with “{NAMED[name].title}”. Here “{here.title}” is not red: "
                    f"{here.evidence} {breaks}"
                )
                return [*each, (there.evidence, Verdict(False, words))]
    return each


def _nearest(values: Values, lights: tuple[Light, ...]) -> list[str]:
    """The other suspects, those first whose lights are most like these."""
    others = [name for name in suspects(*layer_of(values)) if name != hidden(values)]
    apart = {name: len(ruled_out_by(lights, _lights_of(values, name))) for name in others}
    return sorted(others, key=apart.__getitem__)


def _alike(trace: Trace, truth: str) -> list[tuple[str, Verdict]]:
    """What no light sees: which two tensors are equal, as far as they can be compared."""
    heads = trace["head_weights"].value
    each = {
        name: (f"{one} and {other} are equal.", trace[one].value, trace[other].value)
        for name, (one, other) in EQUAL.items()
        if trace[one].value.shape == trace[other].value.shape
    }
    if len(heads) > 1:
        same = "All heads have the same weights."
        each["one_head_repeated"] = same, heads, heads[:1].expand_as(heads)
    return [
        (words, _by_gap(name == truth, one - other)) for name, (words, one, other) in each.items()
    ]


def _by_gap(is_right: bool, gap: Tensor) -> Verdict:
    off = largest(gap)
    if is_right:
        return Verdict(True, f"Right: they are the same numbers, {to_within(off)}.")
    return Verdict(False, f"Here they differ by up to {number(off)}.")


def _lights_of(values: Values, name: str = "") -> tuple[Light, ...]:
    return lights_with(*layer_of(values), name or hidden(values))


@closes("What gave the mistake away?", "name_it", MISTAKE)
def gave_it_away(values: Values) -> str:
    """Which mistake it was, and the evidence for it."""
    name = hidden(values)
    return f"{f'It was “{NAMED[name].title}”: ' if name else ''}{gives_away(values)}"


def gives_away(values: Values) -> str:
    """The evidence for the mistake, in words."""
    if not hidden(values):
        return TOO_SHORT
    found = red(_lights_of(values))
    if not found:
        return f"no light is red, only the tensors show it. {NAMED[hidden(values)].unseen}"
    first = found[0]
    others = listed([f"“{each.title}”" for each in found[1:]])
    also = f" Red too: {others}." if others else ""
    return f"the red light “{first.title}” gives it away. {first.evidence}{also}"


def rules_out(values: Values, guessed: str) -> str:
    """What would have ruled out a guess."""
    here, there = _lights_of(values), _lights_of(values, guessed)
    apart = ruled_out_by(here, there)
    if not apart:
        others = {each.name: each for each in there}  # of another mistake, fewer may be asked
        said = next(
            (
                f"Here: {mine.evidence} With that one: {others[mine.name].evidence}"
                for mine in here
                if mine.name in others
                and mine.holds is False
                and mine.evidence != others[mine.name].evidence
            ),
            "No light tells the two apart: only the tensors do.",
        )
        return f"With “{NAMED[guessed].title}”, every light would have the same colour. {said}"
    light, other = apart[0]
    colour = {True: "green", False: "red", None: "grey"}
    return (
        f"With “{NAMED[guessed].title}”, the light “{light.title}” would be {colour[other.holds]}. "
        f"Here it is {colour[light.holds]}: {light.evidence}"
    )


@closes("Which check finds most mistakes?", "lights")
def finds_most(values: Values) -> str:
    """Counted over all mistakes that the example can show, once for everybody."""
    example = example_of(values)
    names_there = suspects(example.inputs, example.heads)
    found = dict.fromkeys(TITLES, 0)
    for name in names_there:
        for light in red(lights_with(example.inputs, example.heads, name)):
            found[light.name] += 1
    best = max(found, key=found.__getitem__)
    return (
        f"On the example, “{TITLES[best]}” turns red for {found[best]} of {len(names_there)} "
        f"mistakes, “{TITLES['rows_sum_to_1']}” for {found['rows_sum_to_1']}. In your own code: "
        "change the last token, and see whether anything before it moves."
    )


@closes("What can no check find?", "lights")
def finds_none(values: Values) -> str:
    """The mistakes that leave every property as it is."""
    unseen = [NAMED[name].title for name in suspects(*layer_of(values)) if NAMED[name].unseen]
    if not unseen:
        return "This text is too short to tell."
    said = listed([f"“{title}”" for title in unseen])
    return (
        f"{said}. They are attention too, only not the one that was meant. For these, read the "
        "code, or compare with numbers that are known to be right."
    )
