"""Predict, then reveal: an answer stays covered until the person has guessed, or passes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from .view import View

ANSWERS = "answers"


@dataclass(frozen=True)
class Verdict:
    """What is said of a guess: whether it is right, how far off it is, what it teaches."""

    right: bool
    words: str


def is_open(
    view: View,
    name: str,
    question: str,
    choices: Sequence[str],
    judge: Callable[[list[int]], Verdict],
    covers: Sequence[str],
    asked: str = "",
    many: bool = False,
) -> bool:
    """Ask, unless the answer may be seen already; True where what follows may be drawn.

    `question` is ours and may be Markdown; `asked` and `choices` may hold a person's text and are
    shown as they are. `judge` gets the places that were picked. `covers` are the steps whose cells
    are hidden: a link to one of them opens it, and a guess holds for their numbers alone.
    """
    if not view.settings.predict:
        return True
    answers = st.session_state.setdefault(ANSWERS, {})
    key = f"{view.page}.{name}"
    about = hash(tuple(view.trace[step].value.numpy().tobytes() for step in covers))
    linked = view.settings.cell and view.settings.cell[0][0] in covers
    answer = answers.get(key)
    if answer is None and linked:
        return True
    with st.container(border=True, key=f"predict_{name}"):
        st.markdown(f":material/psychology_alt: **Predict first.** {question}")
        if asked:
            st.text(asked)
        if answer is None:
            _ask(key, choices, about, many)
            return False
        guess, asked_about = answer
        if guess is not None and asked_about == about:
            verdict = judge(guess)
            st.text("Your guess: " + (", ".join(choices[place] for place in guess) or "none"))
            colour = "green" if verdict.right else "orange"
            mark = "check" if verdict.right else "trending_flat"
            st.markdown(f":{colour}[:material/{mark}:] {verdict.words}")
        elif guess is not None:
            st.markdown("You guessed for other numbers than these.")
        st.button(
            "Guess again" if guess is not None else "Make a guess after all",
            key=f"again_{key}",
            type="tertiary",
            on_click=answers.pop,
            args=(key, None),
        )
    return True


def _ask(key: str, choices: Sequence[str], about: object, many: bool) -> None:
    widget_key = f"guess_{key}"
    places = range(len(choices))
    if many:
        st.multiselect(
            "Your guess", places, format_func=choices.__getitem__, key=widget_key, width=520
        )
    else:
        st.selectbox(
            "Your guess",
            places,
            index=None,
            format_func=choices.__getitem__,
            key=widget_key,
            placeholder="Choose one",
            width=320,
        )
    with st.container(horizontal=True):
        st.button(
            "Reveal", key=f"reveal_{key}", type="primary", on_click=_answer, args=(key, about, True)
        )
        st.button("Skip, show me", key=f"skip_{key}", on_click=_answer, args=(key, about, False))
    st.caption(
        "What follows is covered until then. The sidebar has a switch to stop the questions."
    )


def _answer(key: str, about: object, guessed: bool) -> None:
    picked = st.session_state[f"guess_{key}"]
    if guessed and picked is None:
        return
    guess = None if not guessed else sorted(picked) if isinstance(picked, list) else [picked]
    st.session_state[ANSWERS][key] = (guess, about)
