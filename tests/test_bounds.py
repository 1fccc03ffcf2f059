"""What one visitor can make the server hold: every control at its largest, all of them together.

Sizes are asserted, not times: a slow machine fails no test. README.md has the table of bounds.
"""

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
from attention_core.experiments.variance import LARGEST_CHUNK, MAX_D, MAX_TRIALS, Trials, draws
from attention_ui.settings.choices import MAX_WIDTH, STEPS, TRIAL_COUNTS, VECTOR_WIDTHS
from attention_ui.settings.link import MAX_LINK, from_query, to_query
from attention_ui.settings.settings import FIELDS, MAX_TOKENS
from builds import BUILDS
from conftest import ROOT
from largest import EDITS, LARGEST
from sampling import few, of_each_kind
from visiting import A_PAGE, EVERYWHERE, charts, stands, visit

LARGEST_TRACE = 16_000_000
"""Bytes of all tensors of a lesson's trace."""
LARGEST_PAGE = 4_000_000
"""Bytes that all charts of a page may take on their way to the browser."""
CONFIG = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
LARGEST_MESSAGE = CONFIG["server"]["maxMessageSize"] * 1024 * 1024
"""Bytes. Streamlit sends an error in place of a larger message."""


def test_the_largest_settings_are_settings():
    settings, notices = from_query(LARGEST)
    assert notices == []
    assert len(settings.inputs.tokens) == MAX_TOKENS
    assert len(urlencode(to_query(settings))) <= MAX_LINK < 8_000


def test_a_link_that_is_longer_than_an_address_may_be_is_refused():
    full = {name: EDITS for name in LARGEST if name.endswith("edits")}
    settings, (notice,) = from_query({**LARGEST, **full})
    assert f"{MAX_LINK:,} fit" in notice
    assert settings.edits == settings.q_edits == ()


@pytest.mark.parametrize("name", of_each_kind(FIELDS, lambda name: type(FIELDS[name])))
def test_no_setting_takes_a_text_without_end(name):
    for sign in ("x", "1", "1,", "0.0:1,", "a.0,", "seed,", "example=wild_cat&"):
        with pytest.raises(ValueError, match=r"\w+ \w+"):
            FIELDS[name].read((sign * 100_000)[:-1] + "2")


@pytest.mark.parametrize("build", BUILDS, ids=lambda build: build.__name__)
def test_the_largest_trace_is_small(build):
    trace = build(from_query(LARGEST)[0])
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


def test_trials_are_drawn_in_chunks_and_training_keeps_few_records():
    assert max(TRIAL_COUNTS) == MAX_TRIALS
    assert max(VECTOR_WIDTHS) == MAX_D
    assert max(STEPS) == MAX_STEPS
    chunk = next(iter(draws(Trials(MAX_D, MAX_TRIALS), rows=2)))
    assert chunk.numel() <= max(LARGEST_CHUNK, 16 * 2 * MAX_D)

    settings = from_query(LARGEST)[0]
    embeddings = BUILDS[0](settings)["embeddings"].value
    recipe = TrainingSettings(200, 0.01, 0, MAX_WIDTH, True)
    kept = 0
    for record in train(embeddings, next_tokens(settings.inputs.tokens), recipe):
        kept += sum(matrix.numel() for matrix in (*record.matrices, record.weights))
    assert kept <= MAX_RECORDED
