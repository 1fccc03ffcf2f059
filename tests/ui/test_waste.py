"""What a page works out: only what it draws, and once what many parts ask for."""

from dataclasses import replace

import pytest
import torch

from attention_core import EXAMPLES, embed
from attention_core.operations import Given
from attention_core.trace import Trace
from attention_ui.charts import matrix as matrices
from attention_ui.charts.fit import size_for
from attention_ui.charts.heatmap import heatmap
from attention_ui.charts.matrix import Matrix
from attention_ui.settings import session
from largest import LARGEST
from sampling import few
from visiting import LESSONS, stands, visit

RANDOM_IDS = replace(EXAMPLES["wild_cat"].inputs, vocabulary="random", d_in=8)


def test_of_a_large_table_only_the_rows_that_are_drawn_are_named(monkeypatch):
    asked = []
    monkeypatch.setattr(matrices, "visible", lambda name: asked.append(name) or name)
    trace = embed(RANDOM_IDS)
    rows = (19_999, 3, 7)
    picked = Matrix(trace["embedding_table"], rows=rows)
    chart = heatmap(trace, picked, size_for(trace, [picked]))
    (names,) = [each["value"] for each in chart.spec["params"] if each["name"] == "row_names"]
    assert names == ["19999", "3", "7"]
    assert len(asked) < 100


def test_the_labels_of_a_large_table_are_one_tuple_for_all_sessions():
    assert embed(RANDOM_IDS).labels("vocabulary") is embed(RANDOM_IDS).labels("vocabulary")


def test_a_number_in_a_row_that_is_not_drawn_makes_no_cell_wider():
    numbers = torch.full((9, 32), 0.5)
    sizes = []
    for far in (0.5, -99_999.0):
        numbers[8, 0] = far
        trace = Trace()
        given = tuple(map(tuple, numbers.tolist()))
        step = trace.step("table", Given(given), axes=("vocabulary", "d_in"))
        sizes.append(size_for(trace, [Matrix(step, rows=(0, 1, 2))]))
    assert sizes[0] == sizes[1]


@pytest.mark.slow("10 s: every page at its largest")
@pytest.mark.parametrize("page", few(LESSONS, 1, first="simplified_attention"))
def test_a_run_of_a_page_writes_its_link_once(page, monkeypatch):
    written = []

    def write(settings):
        written.append(settings)
        return {"d_in": "3"}

    monkeypatch.setattr(session, "to_query", write)
    stands(visit(page, **LARGEST))
    most = 2 + (8 if page == "notebooks_numbers" else 0)  # links into so many states of lessons
    assert len(written) == len({id(each) for each in written}) <= most


def test_other_settings_are_another_link():
    at = visit("app.py")
    at.slider(key="control_d_in").set_value(7).run()
    assert [*at.query_params["d_in"]] == ["7"]
    at.slider(key="control_d_in").set_value(8).run()
    assert [*at.query_params["d_in"]] == ["8"]
