"""Pin what is on the screen, change something, and see what changed, step by step."""

from collections.abc import Callable, Sequence
from urllib.parse import parse_qsl

import pandas as pd
import streamlit as st

from attention_core.changes import Change, changes, difference, first_changed
from attention_core.trace import Trace

from ..frame.data_frame import put_frame
from ..picture.equation_parts import equation_of
from ..picture.layout import equation
from ..picture.matrix import Matrix
from ..reactive import settings
from ..reactive.control import Control, Values, understood
from ..reactive.fields import Choice
from .elements import picture

DRAWABLE, LONGEST = 64, 60
"""Steps with a longer axis get no picture of their differences; longer values are cut."""


def since_the_pin(
    trace: Callable[[], Trace], trace_of: Callable[[Values], Trace], controls: Sequence[Control]
) -> None:
    """What changed since the pin, if there is one: in words, in figures, and as a picture."""
    values = settings.values()
    # Always there: else the browser would build all that is below it anew.
    with st.container():
        if values.pin and not values.card:
            _since(values, trace(), trace_of, controls)


def _since(
    values: Values, trace: Trace, trace_of: Callable[[Values], Trace], controls: Sequence[Control]
) -> None:
    pinned = dict(parse_qsl(values.pin))
    before, wrong = understood(pinned, controls)
    if wrong or not pinned.keys() & {each.name for each in controls}:
        why = [f"its {name} cannot be used: {error}" for name, error in wrong.items()]
        settings.forget("pin")
        settings.say(
            f"The link’s pin is “{_cut(values.pin)}”, but "
            f"{(why or ['nothing in it is a setting of this lesson'])[0]}. It was left out."
        )
        st.rerun()
    changed = _what_changed(before, values, controls)
    with st.container(border=True, key="pinned", gap="small"):
        if not changed:
            st.markdown(
                ":material/keep: **Pinned.** Change something, and you will see here what changed."
            )
            return
        found = changes(trace_of(before), trace)
        first = first_changed(found)
        st.markdown(f":material/keep: **Since the pin** {_first(first)} Settings that changed:")
        st.text("\n".join(changed))
        fold = st.expander(
            "Every step", key="fold_pinned", icon=":material/difference:", on_change="rerun"
        )
        if fold.open:
            with fold:
                _every_step(trace_of(before), trace, found, first)


def _what_changed(before: Values, now: Values, controls: Sequence[Control]) -> list[str]:
    """The controls with another value now, a line each. May quote the person."""
    lines = []
    for each in controls:
        old, new = (_shown(each, values[each.name]) for values in (before, now))
        if each.label and old != new:
            lines.append(f"{each.label}: {old} → {new}")
    return lines


def _shown(control: Control, value: object) -> str:
    """A value in the words of its control; of an optional number that is not given: none."""
    kind = control.field
    text = kind.options[value] if isinstance(kind, Choice) else kind.write(value)
    return _cut(text) or "none"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"


def _first(first: Change | None) -> str:
    if first is None:
        return "no step of this lesson has changed."
    by = f"by up to {first.largest:.4g}" if first.largest is not None else "with another shape"
    return f"the first step that changed is `{first.name}`, {by}."


def _every_step(before: Trace, now: Trace, changes: list[Change], first: Change | None) -> None:
    put_frame(
        pd.DataFrame(
            {
                "step": [each.name for each in changes],
                "largest difference": [each.largest for each in changes],
                "cells that changed": [f"{one.n_changed:,} of {one.n_cells:,}" for one in changes],
                "shape before": [each.was for each in changes],
            }
        )
    )
    names = [
        each.name
        for each in changes
        if each.largest is not None
        and now[each.name].value.ndim in (1, 2)
        and max(now[each.name].value.shape) <= DRAWABLE
    ]
    if not names:
        return
    start = names.index(first.name) if first and first.name in names else 0
    name = st.selectbox("Step", names, index=start, key=f"difference_of_{len(names)}", width=300)
    trace = difference(before[name], now[name], now)
    lying = trace["now"].value.ndim == 1
    drawn = [Matrix(step, transposed=lying) for step in trace.values()]
    picture(equation(trace, *equation_of(trace["difference"], drawn=drawn)), "difference").draw()
