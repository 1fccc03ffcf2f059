"""What a class has answered, without names: as tables to keep, and as a page to print."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date
from html import escape
from io import BytesIO
from typing import Any
from urllib.parse import urlencode

import pandas as pd

from ..classroom.classroom import OPEN, Classroom, Guess, Round
from ..frame.contents import HOME, lesson
from . import class_bars
from .row_question import Row

VOTES = (
    "Asked at",
    "Lesson",
    "Settings",
    "Card",
    "Question",
    "Vote",
    "Answer",
    "How many",
    "Share",
    "Right",
)
ALONE = (
    "Lesson",
    "Question",
    "Answered",
    "Right the first time",
    "Shown the answer",
    "Wrong answers",
)
AS_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a cell begins that a spreadsheet might run."""
STYLE = (
    "body{font:1rem/1.5 sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color:#000;"
    "background:#fff}section{break-inside:avoid}table{border-collapse:collapse;width:100%}"
    "td,th{text-align:left;padding:.15rem .6rem .15rem 0;vertical-align:top}"
    "td.n{text-align:right;width:3rem}td.b{width:14rem}"
    ".b div{height:.8rem;background:#3472ad;print-color-adjust:exact}"
)


def votes(room: Classroom) -> pd.DataFrame:
    """A line for each answer of each vote: how often it was given. Where a row of weights was
    shared out, a line for each key, with the mean of its shares, and how many rows were right.
    """
    lines = [line for one, turns in room.rounds() for line in _lines(one, turns)]
    return pd.DataFrame(lines, columns=[*VOTES])


def alone(room: Classroom) -> pd.DataFrame:
    """A line for each question that people have answered by themselves."""
    lines = []
    for key in room.answered_alone():
        page, _, name = key.partition(".")
        found = room.alone(key)
        wrong = "; ".join(f"{answer} ({n})" for answer, _, n in found.wrong)
        counts = (found.answered, found.right, found.shown)
        lines.append((_title(page), name.replace("_", " "), *counts, wrong))
    return pd.DataFrame(lines, columns=[*ALONE])


def as_csv(room: Classroom) -> bytes:
    """The votes, for any spreadsheet; no cell of it is a formula."""
    frame = votes(room).map(_harmless)
    return b"\xef\xbb\xbf" + frame.to_csv(index=False).encode("utf-8", "replace")


def as_xlsx(room: Classroom) -> bytes:
    """Two sheets: the votes, and what was answered alone."""
    file = BytesIO()
    plain = {"options": {"strings_to_formulas": False, "strings_to_urls": False}}
    with pd.ExcelWriter(file, engine="xlsxwriter", engine_kwargs=plain) as book:
        for name, frame in (("Votes", votes(room)), ("Alone", alone(room))):
            frame.to_excel(book, sheet_name=name, index=False)
            book.sheets[name].set_column(0, len(frame.columns) - 1, 18)
    return file.getvalue()


def as_page(room: Classroom) -> bytes:
    """A page to print: each question with its bars, and what is right where the class saw it."""
    parts = []
    for one, turns in room.rounds():
        asked, is_open = one.asked, one.stage == OPEN
        question: Any = asked.question
        lines = [*_lines(one, turns)]
        rows = []
        for *_, vote, answer, n, share, right in lines:
            mark = " ✓" if right == "yes" and is_open else ""
            bar = f'<div style="width:{100 * share:.0f}%"></div>'
            cells = f"<td>{vote}</td><td>{escape(answer)}{mark}</td>"
            rows.append(f"<tr>{cells}<td class=n>{n}</td><td class=b>{bar}</td></tr>")
        told = f"<p>{_plain(question.answer())}</p>" if is_open else ""
        if is_open:
            right = class_bars.how_many_right(question, [[*turn.items()] for turn in turns])
            told += f"<p>{_plain(right)}</p>"
        head = "<tr><th>Vote</th><th>Answer</th><th>How many</th><th>Share</th></tr>"
        parts.append(
            f"<section><h2>{_plain(asked.title)}</h2><p>{_plain(question.words)}"
            f"<br>{escape(question.asked)}</p><table>{head}{''.join(rows)}</table>{told}</section>"
        )
    by_themselves = alone(room)
    table = (
        by_themselves.map(lambda one: escape(str(one))).to_html(
            index=False, border=0, justify="left", escape=False
        )
        if len(by_themselves)
        else "<p>Nobody has answered a question alone.</p>"
    )
    lessons = dict.fromkeys(_title(one.asked.page) for one, _ in room.rounds())
    day = f"{date.today():%d %B %Y}".lstrip("0")
    when = ", ".join([*lessons, day])
    body = "".join(parts) or "<p>The class was not asked a question.</p>"
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>What a class answered</title>'
        f"<style>{STYLE}</style><h1>What a class answered</h1><p>{_plain(when)}</p>{body}"
        f"<section><h2>By themselves</h2>{table}</section></html>"
    ).encode("utf-8", "replace")


def _lines(one: Round, turns: Sequence[Counter[Guess]]) -> Iterator[tuple]:
    asked = one.asked
    question: Any = asked.question
    for number, turn in enumerate(turns, 1):
        words = f"{_unmarked(question.words)} {question.asked}".strip()
        begins = one.at, _title(asked.page), urlencode(asked.link), asked.title, words, number
        total = sum(turn.values())
        if isinstance(question, Row):
            n_right = sum(n for guess, n in turn.items() if class_bars.is_right(question, guess))
            for place, name in enumerate(question.names if total else ()):
                mean = sum(guess[place] * n for guess, n in turn.items()) / total
                yield *begins, name, total, round(mean, 4), f"{n_right} of {total}"
            continue
        for guess, n in turn.most_common():
            right = "yes" if class_bars.is_right(question, guess) else "no"
            yield *begins, class_bars.in_words(question, guess), n, round(n / total, 4), right


def _title(page: str) -> str:
    return page if page == HOME.name else lesson(page).title


def _harmless(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(AS_FORMULA) else cell


def _unmarked(words: str) -> str:
    """Words of ours without the signs of Markdown."""
    return re.sub(r"(\*\*?)(?=\S)(.+?)(?<=\S)\1", r"\2", words).replace("`", "")


def _plain(words: str) -> str:
    """Words of ours without the signs of Markdown, and never as HTML."""
    return escape(_unmarked(words))
