"""Which steps of a training are recorded."""

import itertools

import pytest

from attention_core.experiments.training import (
    MAX_RECORDED,
    MAX_RECORDS,
    TrainingSettings,
    recorded_steps,
)


@pytest.mark.parametrize("steps", [1, 2, 98, 99, 100, 101, 150, 2_000, 5_000])
@pytest.mark.parametrize(("n_tokens", "d_in", "n_distinct"), [(3, 2, 3), (64, 64, 50)])
def test_they_begin_close_together_and_end_with_the_last(steps, n_tokens, d_in, n_distinct):
    settings = TrainingSettings(steps=steps, width=32)
    found = recorded_steps(settings, n_tokens, d_in, n_distinct)
    numbers = (3 * d_in + n_distinct) * 32 + n_tokens**2
    most = min(MAX_RECORDS, MAX_RECORDED // numbers)
    assert (found[0], found[-1]) == (0, steps)
    assert len(found) == min(steps + 1, most)
    gaps = [after - before for before, after in itertools.pairwise(found)]
    # A parabola through the first step and the last, which leaves the first at one a step.
    last, rest = len(found) - 1, steps - len(found) + 1
    for at in (last // 3, last // 2, 3 * last // 4):
        assert found[at] == pytest.approx(at + rest * (at / last) ** 2, abs=1)
    assert all(gap > 0 for gap in gaps)
