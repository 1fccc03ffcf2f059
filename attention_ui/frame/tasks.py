"""A teacher's tasks, in order, on every page, and the answers to them as a file to hand in."""

from dataclasses import dataclass, field
from html import escape
from uuid import uuid4

import streamlit as st

from ..controls import session
from ..controls.lesson_session import this_session
from ..reactive import settings
from ..reactive.widget import put_in, sent
from ..streamlit_workarounds.saved import give_file
from .address import address_of
from .contents import LESSONS, Lesson

NAME = "task_name"
"""The widget for it."""
LONGEST = 4_000
NOBODY = "No name given"


@dataclass
class TaskAnswers:
    """Answers so far with their links, the open task, the press that handed in last."""

    name: str = ""
    answers: dict[int, tuple[str, str]] = field(default_factory=dict)
    open: int = 0
    press: str | None = None


def show_tasks() -> None:
    """The task that is open, with room for an answer; nothing where the link has no tasks."""
    if settings.values().tasks:
        _show_tasks()


@st.fragment
def _show_tasks() -> None:
    tasks = settings.values().tasks
    handed = this_session().own(TaskAnswers)
    at = min(max(handed.open, 0), len(tasks) - 1)
    lesson, words = parted(tasks[at])
    with st.container(border=True, gap="small", key="tasks"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f":material/assignment: **Task {at + 1} of {len(tasks)}**", width="content")
            if lesson is not None:
                query = settings.link_query("tasks")
                st.page_link(lesson.page, label=lesson.title, query_params=query, width="content")
            st.text(words, width="stretch")
        key = f"task_{at}_of_{len(tasks)}"
        # Each time: on another page a field begins anew, although the session has its text.
        put_in(key, handed.answers.get(at, ("", ""))[0])
        st.text_area(
            "Your answer",
            placeholder="Your answer",
            label_visibility="collapsed",
            key=key,
            max_chars=LONGEST,
            height=68,
            on_change=_answered,
            args=(at, key),
        )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            back, on = at > 0, at + 1 < len(tasks)
            st.button("Back", key="task_back", disabled=not back, on_click=_go, args=(at - 1,))
            st.button("Next task", key="task_on", disabled=not on, on_click=_go, args=(at + 1,))
            st.space("stretch")
            put_in(NAME, handed.name)
            st.text_input(
                "Your name",
                placeholder="Your name",
                label_visibility="collapsed",
                key=NAME,
                max_chars=80,
                width=200,
                on_change=_named,
            )
            st.button(
                "Hand in: all answers as a file",
                icon=":material/download:",
                key="task_file",
                on_click=_hand_in,
            )
        if handed.press is not None:
            give_file(handed.press, "answers.html", answer_page(tasks, handed))


def parted(task: str) -> tuple[Lesson | None, str]:
    """The lesson that a task names before a colon, if it does, and the words of the task."""
    before, colon, rest = task.partition(":")
    called = before.strip().lower().removeprefix("the ")
    for lesson in LESSONS if colon else ():
        if called in (lesson.name, lesson.title.lower().removeprefix("the ")):
            return lesson, rest.strip()
    return None, task


def answer_page(tasks: tuple[str, ...], handed: TaskAnswers) -> str:
    """Tasks and answers as a page, with a link to what each was about; typed text is plain."""
    parts = []
    for at, task in enumerate(tasks):
        answer, link = handed.answers.get(at, ("", ""))
        seen = f'<p><a href="{escape(link)}">What was on the screen</a></p>' if link else ""
        said = f"<pre>{escape(answer)}</pre>" if answer else "<p><em>No answer.</em></p>"
        parts.append(f"<h2>Task {at + 1}</h2><p>{escape(parted(task)[1])}</p>{said}{seen}")
    who = escape(handed.name.strip() or NOBODY)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Answers</title><style>'
        "body{font:1rem/1.5 sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem}"
        "pre{font:inherit;white-space:pre-wrap;border-left:3px solid #999;padding-left:1rem}"
        f"</style><h1>Answers</h1><p>{who}</p>{''.join(parts)}</html>"
    )


def _answered(at: int, key: str) -> None:
    seen = {name: text for name, text in session.shared().items() if name != "tasks"}
    this_session().own(TaskAnswers).answers[at] = (sent(key), address_of(seen))


def _named() -> None:
    this_session().own(TaskAnswers).name = sent(NAME)


def _hand_in() -> None:
    this_session().own(TaskAnswers).press = uuid4().hex


def _go(at: int) -> None:
    this_session().own(TaskAnswers).open = at
