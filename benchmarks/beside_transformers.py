"""A text through SmolLM2 with the weights of all heads, beside `transformers` on the same file."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial

import torch

from .figures import Figure, Part, spread

TEXT = "When Mary and John went to the store, John gave a drink to Mary, and Mary gave it back. "
LENGTHS, TIMES = (14, 64), 9
HOW = (
    "Seconds for the weights of all 270 heads, with one thread each, in turn: ours, which reads "
    "the 4-bit numbers of a layer from the file each time, and `transformers` (eager, "
    "`output_attentions`), which has made 540 MB of all of them at its start. In a process of its "
    "own. Needs `make model` and `pip install accelerate`."
)


def measure(quick: bool) -> list[Part]:
    """In a process of its own, which is small when it starts."""
    command = [sys.executable, "-m", __name__, str(3 if quick else TIMES)]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    figures = []
    for length, ours, theirs in told:
        of_ours, of_theirs = spread(ours), spread(theirs)
        ratio = of_ours["median"] / of_theirs["median"]
        numbers = {**of_ours, "transformers": of_theirs["median"], "ratio": ratio}
        figures.append(Figure(f"{length} tokens", numbers, {"ratio": 2.0}))
    return [Part("A real model, beside transformers", HOW, figures, unit="s")]


def _told(times: int) -> list[tuple[int, list[float], list[float]]]:
    from transformers import AutoModelForCausalLM

    from attention_core.real_model.model import open_model
    from attention_core.real_model.run import run
    from attention_ui.frame.models import MODEL, SMOL, paths

    os.environ.pop(MODEL, None)  # other parts are measured with the tiny language alone

    torch.set_num_threads(1)
    path = paths()[SMOL]
    model = open_model(path)
    other = AutoModelForCausalLM.from_pretrained(
        path.parent, gguf_file=path.name, attn_implementation="eager"
    )
    found = []
    for length in LENGTHS:
        ids = list(model.tokenizer.encode(TEXT * 4).ids)[:length]
        given = torch.tensor([ids])
        ours, theirs = partial(run, model, ids), partial(other, given, output_attentions=True)
        with torch.no_grad():
            each = [(_seconds(ours), _seconds(theirs)) for _ in range(times + 1)][1:]
        found.append((length, *map(list, zip(*each, strict=True))))
    return found


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    print(json.dumps(_told(int(sys.argv[1]))))
