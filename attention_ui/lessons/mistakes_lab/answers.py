"""What the mistakes lab leaves its reader able to answer."""

from attention_core.mistakes.rounds import red
from attention_core.rounding import largest

from ...page.closing import Answer
from ...page.view import View
from ...words import listed, number
from .lab import LIGHTS, chosen, found_in, names


def answers(view: View) -> list[Answer]:
    """On how far this mistake reaches, what finds it, and what no sum of rows can find."""
    return [
        Answer("How far off are the numbers?", how_far(view), "made"),
        Answer("What would find this mistake?", what_finds(view), "lights", (LIGHTS,)),
        Answer("Is it enough to check that rows sum to 1?", enough(view), "lights", (LIGHTS,)),
    ]


def how_far(view: View) -> str:
    """With the largest difference between wrong and right."""
    right, wrong = names(view.settings)
    trace = view.trace
    gap = trace["difference"].value
    if not gap.isfinite().all():
        n_lost = int((~gap.isfinite()).sum())
        return f"In {wrong}, {n_lost} of {gap.numel()} numbers are no numbers any more (nan)."
    n_other = int((gap != 0).sum())
    return (
        f"Of the {gap.numel()} numbers of {right}, {n_other} are different; the largest difference "
        f"is {number(largest(gap))}, where the largest number done right is "
        f"{number(largest(trace[right].value))}."
    )


def what_finds(view: View) -> str:
    """The lights that turn red, or why none does."""
    settings = view.settings
    mistake = chosen(settings)
    found = red(found_in(settings))
    if not found:
        why = mistake.named.unseen or "This text is too short for it to make a difference."
        return f"No check here does. {why}"
    said = listed([f"“{each.title}”" for each in found])
    return f"Checking {said}. {found[0].evidence}"


def enough(view: View) -> str:
    """With what that check says of this mistake."""
    settings = view.settings
    found = found_in(settings)
    sums = next(each for each in found if each.name == "rows_sum_to_1")
    if sums.holds is False:
        return f"Here it is: {sums.evidence} Most other mistakes leave these sums as they are."
    return (
        f"No. With this mistake the check still passes: {sums.evidence} Look also whether hidden "
        "keys get exactly 0, and whether a later token changes an earlier output."
    )
