"""How closely two ways agree, in words: nobody has to read 2e-07."""

import math

import pytest

from attention_core.rounding import SHARE, to_within

SMALL = "to within 0.0000002, the rounding of 32-bit numbers"


@pytest.mark.parametrize(("gap", "words"), [
    (0.0, "exactly"),
    (2e-7, SMALL),
    (1.4e-7, SMALL),
    (SHARE, "to within 0.00001, the rounding of 32-bit numbers"),
    (1.2e-5, "but for differences of up to 0.00002"),
    (0.034, "but for differences of up to 0.04"),
    (1e-12, "to within 0.000000000001, the rounding of 32-bit numbers"),
    (1e4, "but for differences of up to 10000"),
    (31.0, "but for differences of up to 40"),
    (math.inf, "but for differences of up to Infinity"),
    (math.nan, "but for what is nan (not a number)"),
])  # fmt: skip
def test_a_gap_is_written_out_and_said_for_what_it_is(gap, words):
    assert to_within(gap) == words
