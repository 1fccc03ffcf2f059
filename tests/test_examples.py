"""The notebooks in examples: each runs in Jupyter's own kernel, and its pictures are there."""

import nbformat
import pytest
from nbclient import NotebookClient

from serving import HANG, ROOT

PICTURES = {
    "a_model_as_loaded": 3,
    "a_wrong_rotary_embedding": 1,
    "your_own_attention": 1,
    "a_head_of_a_model": 2,
    "step_by_step": 3,
}


def test_every_example_is_tried():
    assert {file.stem for file in (ROOT / "examples").glob("*.ipynb")} == set(PICTURES)


@pytest.mark.slow("20 s: a kernel of its own each")
@pytest.mark.parametrize("name", PICTURES)
def test_an_example_runs_and_shows_its_pictures(name):
    made = nbformat.read(ROOT / "examples" / f"{name}.ipynb", as_version=4)
    nbformat.validate(made)
    NotebookClient(made, timeout=HANG, resources={"metadata": {"path": str(ROOT)}}).execute()
    outputs = [output for cell in made.cells for output in cell.get("outputs", [])]
    drawn = [each for each in outputs if "text/html" in each.get("data", {})]
    assert len(drawn) == PICTURES[name]
    assert all("image/png" in each["data"] for each in drawn)


@pytest.mark.slow("5 s: runs the app's cells")
def test_the_marimo_app_ends_with_a_picture():
    marimo = pytest.importorskip("marimo", reason="marimo is not installed")
    outputs, _ = __import__("runpy").run_path(str(ROOT / "examples/marimo_app.py"))["app"].run()
    assert marimo is not None
    assert "iframe" in outputs[-1]._mime_()[1]
