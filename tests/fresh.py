"""Programs and notebooks run in interpreters of their own, in which this project is not."""

import json
import os
import subprocess
import sys

import torch

from serving import HANG

RUN_ALL = """
import contextlib, io, json, runpy, sys, traceback
from pathlib import Path
import torch

torch.set_num_threads(1)  # as in the tests: torch may add in another order with more
sys.modules["matplotlib"] = None  # as where it is not installed
ran = {}
for path in sorted(Path(sys.argv[1]).iterdir()):
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            if path.suffix == ".py":
                names = runpy.run_path(str(path))
            else:
                names = {"__name__": "__main__"}
                for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
                    if cell["cell_type"] == "code":
                        exec(compile(cell["source"], cell["id"], "exec"), names)
        kept = {n: v for n, v in names.items() if isinstance(v, torch.Tensor) or n == "tokens"}
        ran[path.name] = kept | {"said": said.getvalue()}
    except BaseException:
        ran[path.name] = traceback.format_exc()
if "attention_core" in sys.modules:
    sys.exit("a program imported attention_core")
torch.save(ran, sys.argv[2])
"""
# Nothing of this project is in its reach.
BARE = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def start(folder, *command):
    return subprocess.Popen(
        [sys.executable, *command],
        cwd=folder,
        env=BARE | {"OMP_NUM_THREADS": "1", "PYTHONIOENCODING": "ascii"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def end(process):
    output, errors = process.communicate(timeout=HANG)
    assert process.returncode == 0, errors
    return output


def start_all(folder, files):
    """One interpreter for all files, by name: programs as text, notebooks as dicts."""
    (folder / "all").mkdir()
    for name, content in files.items():
        source = content if isinstance(content, str) else json.dumps(content)
        (folder / "all" / name).write_text(source, encoding="utf-8", newline="\n")
    (folder / "run_all.py").write_text(RUN_ALL, encoding="utf-8")
    return start(folder, "run_all.py", "all", "ran.pt")


def all_of(folder, process):
    """By file: its tensors by name, and what it `said`; the traceback of one that stopped."""
    end(process)
    return torch.load(folder / "ran.pt", weights_only=True)


def solved(trace, notebook):
    """An exercise with the trace's own lines in the place of the dots."""
    cells = []
    for cell in notebook["cells"]:
        source = cell["source"]
        for step in trace.values():
            dots = f"\n    {step.name} = ...  #"
            if dots in source:  # the code of a trained matrix is long to write
                source = source.replace(dots, f"\n    {step.code}  #")
        cells.append({**cell, "source": source})
    return {**notebook, "cells": cells}


def close(yours, wanted):
    largest = max(1.0, wanted.double().abs().nan_to_num(0.0, 0.0).max().item())
    return yours.shape == wanted.shape and torch.allclose(
        yours.double(), wanted.double(), rtol=0, atol=1e-6 * largest, equal_nan=True
    )
