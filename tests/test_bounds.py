"""What one visitor can make the server hold, in sizes; docs/hosting.md has the bounds."""

import tomllib
from urllib.parse import urlencode

import pytest
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

from attention_core.experiments.training import (
    MAX_RECORDED,
    MAX_STEPS,
    TrainingSettings,
    next_tokens,
    train,
)
from attention_core.experiments.variance import MAX_D, MAX_TRIALS
from attention_core.text.embedding import embed
from attention_ui.controls.fields import MAX_TOKENS
from attention_ui.controls.shared import MAX_WIDTH, inputs_of
from attention_ui.reactive.control import MAX_LINK, written
from chosen import EVERY, FIELDS, of
from conftest import ROOT
from largest import LARGEST
from sampling import few
from visiting import A_PAGE, EVERYWHERE, LESSONS, charts, lesson_module, stands, visit

LARGEST_TRACE = 16_000_000
"""Bytes of all tensors of a lesson's trace."""
LARGEST_PAGE = 4_000_000
"""Bytes that all charts of a page may take on their way to the browser."""
CONFIG = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
LARGEST_MESSAGE = CONFIG["server"]["maxMessageSize"] * 1024 * 1024
"""Bytes. Streamlit sends an error in place of a larger message."""


def test_the_largest_link_can_be_used_as_it_is():
    assert len(inputs_of(of(**LARGEST)).tokens) == MAX_TOKENS
    assert len(urlencode(written(LARGEST, EVERY))) <= MAX_LINK < 8_000


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_largest_trace_is_small(lesson):
    trace = lesson_module(lesson).trace_of(of(**LARGEST))
    assert sum(step.value.nbytes for step in trace.values()) < LARGEST_TRACE


@pytest.mark.slow("10 s: every page at its largest")
@pytest.mark.parametrize("page", few(EVERYWHERE, 3, first=A_PAGE))
def test_the_largest_page_is_bounded(page, monkeypatch):
    """What would take long waits for a button, so the page opens at once."""
    messages, enqueue = [], ForwardMsgQueue.enqueue
    monkeypatch.setattr(
        ForwardMsgQueue,
        "enqueue",
        lambda queue, message: (messages.append(message.ByteSize()), enqueue(queue, message)),
    )
    drawn = charts(stands(visit(page, **LARGEST)))
    sent = sum(chart.ByteSize() for chart in drawn)
    assert sent < LARGEST_PAGE, f"{len(drawn)} charts, {sent:,} bytes"
    assert messages
    assert sum(messages) < LARGEST_MESSAGE, f"{len(messages)} messages, {sum(messages):,} bytes"


def test_the_largest_choices_are_the_core_s_and_training_keeps_few_records():
    largest = {"trials": MAX_TRIALS, "vector_width": MAX_D, "steps": MAX_STEPS}
    assert {name: max(FIELDS[name].options) for name in largest} == largest
    values = of(**LARGEST)
    embeddings = embed(inputs_of(values))["embeddings"].value
    recipe = TrainingSettings(200, 0.01, 0, MAX_WIDTH, True)
    kept = 0
    for record in train(embeddings, next_tokens(inputs_of(values).tokens), recipe):
        kept += sum(matrix.numel() for matrix in (*record.matrices, record.weights))
    assert kept <= MAX_RECORDED
