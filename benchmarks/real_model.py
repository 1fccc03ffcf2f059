"""A text through SmolLM2 with the weights of all heads, beside `transformers` on the same file; and
its page in a browser: all heads drawn again, and one head down to its numbers, after a click on it.
"""

import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from urllib.parse import urlencode

from attention_ui.frame.models import ALONE, MODEL, SMOL, paths

from .figures import Figure, Part, spread, tried
from .lessons import LONG, SLIDERS, called
from .watching import Stage, new_page, stage

GIVEN = "When Mary and John went to the store, John gave a drink to Mary, and Mary gave it back. "
WORDS = "the man and the dog sat in the house when they came to see what the other had "
"""Each word is a token."""
WINDOW = {"viewport": {"width": 1280, "height": 2_400}}
SQUARES = """() => [...document.querySelectorAll('.st-key-card_heads .vega-embed svg path')]
  .map((one) => one.getBoundingClientRect())
  .filter(({ width, height }) => width > 15 && Math.abs(width - height) < 1)
  .map(({ x, y, width }) => [x + width / 2, y + width / 2])"""


def measure(quick: bool) -> list[Part]:
    """Both tables."""
    return [_beside_transformers(3 if quick else 9), _page(2 if quick else 7)]


def _beside_transformers(times: int) -> Part:
    """In a process of its own, which is small when it starts."""
    command = [sys.executable, "-m", __name__, str(times)]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    figures = []
    for length, ours, theirs, *of_lens in told:
        of_ours, of_theirs = spread(ours), statistics.median(theirs)
        numbers = {**of_ours, "transformers": of_theirs, "ratio": of_ours["median"] / of_theirs}
        if of_lens:
            numbers["TransformerLens"] = statistics.median(*of_lens)
        figures.append(Figure(f"{length} tokens", numbers, {"ratio": 2.0}))
    how = (
        "Seconds for the weights of all 270 heads, with one thread each, in turn: ours, which "
        "reads the 4-bit numbers of a layer from the file each time, and `transformers` (eager, "
        "`output_attentions`), which has made 540 MB of all of them at its start. In a process of "
        "its own. Needs `make model` and `pip install accelerate`. Where TransformerLens is "
        "installed, it takes its turn too, with the model that `transformers` has read."
    )
    return Part("A real model, beside transformers", how, figures, unit="s")


def _told(times: int) -> list[tuple[int, *tuple[list[float], ...]]]:
    """For each length the seconds of ours, of `transformers`, and of TransformerLens if it is
    there.
    """
    import torch
    from transformers import AutoModelForCausalLM

    from attention_core.real_model.model import open_model
    from attention_core.real_model.run import run

    os.environ.pop(MODEL, None)  # other parts are measured with the tiny language alone
    torch.set_num_threads(1)
    path = paths()[SMOL]
    model = open_model(path)
    other = AutoModelForCausalLM.from_pretrained(
        path.parent, gguf_file=path.name, attn_implementation="eager"
    )
    lens = _in_lens(other) if importlib.util.find_spec("transformer_lens") else None
    found = []
    for length in (14, 64):
        ids = list(model.tokenizer.encode(GIVEN * 4).ids)[:length]
        given = torch.tensor([ids])
        works = [partial(run, model, ids), partial(other, given, output_attentions=True)]
        works += [partial(lens, given)] if lens else []
        with torch.no_grad():
            each = [tuple(map(_seconds, works)) for _ in range(times + 1)][1:]
        found.append((length, *map(list, zip(*each, strict=True))))
    return found


def _in_lens(read) -> Callable[[object], object]:
    """What runs a model that `transformers` has read in TransformerLens, and keeps all weights."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformer_lens import TransformerBridge
    from transformers import PreTrainedTokenizerFast

    letters = Tokenizer(models.WordLevel({"?": 0, "!": 1}, unk_token="?"))
    letters.pre_tokenizer = pre_tokenizers.Whitespace()
    # One that knows any text, which TransformerLens asks for: it is given ids here.
    asked = PreTrainedTokenizerFast(tokenizer_object=letters, bos_token="!", eos_token="!")
    with tempfile.TemporaryDirectory() as folder:
        read.config.save_pretrained(folder)
        asked.save_pretrained(folder)
        bridge = TransformerBridge.boot_transformers(folder, hf_model=deepcopy(read))
    return partial(bridge.run_with_cache, names_filter=lambda name: name.endswith("hook_pattern"))


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _page(times: int) -> Part:
    """With a server of its own, since others have the tiny language alone."""
    settings = {name: each for name, each in os.environ.items() if name != MODEL} | {ALONE: "1"}
    figures = []
    with stage(env=settings) as on:
        for what in ("14 tokens", "64 tokens", "256 tokens"):
            with tried(what) as rows:
                rows.append(_clicks(on, what, times))
            figures += rows
    how = (
        "A click on one of the 270 heads, from the click to the last change of the picture of all "
        "heads (*median*), and to that of the card *Down to its numbers*, in a window in which "
        "both are in sight. *empty*: the slider of an empty page; *layer*: `d_model` of *The whole "
        "layer*, moved by a key, with as many tokens, at most 64; both in the same run. Needs "
        "`make model`."
    )
    return Part("A real model’s page", how, figures)


def _clicks(on: Stage, what: str, times: int) -> Figure:
    length = int(what.partition(" ")[0])
    empty, watched = on.empty.now(), new_page(on.browser, **WINDOW)
    words = " ".join((WORDS * 20).split()[:length])
    link = urlencode({"predict": "off", "model": "smollm", "prompt": words})
    watched.open(f"{on.app.url}/real_model?{link}")
    watched.page.locator(".st-key-card_numbers").wait_for(timeout=60_000)
    watched.still()
    heads, numbers = [], []
    for count in range(times + 1):
        squares = watched.page.evaluate(SQUARES)
        watched.page.mouse.click(*squares[(97 * count + 40) % len(squares)])
        watched.page.mouse.move(2, 2)  # else what then stands under it is pointed at
        watched.page.wait_for_timeout(50)
        watched.still()
        heads.append(watched.page.evaluate("bench.seen('.st-key-card_heads')"))
        numbers.append(watched.page.evaluate("bench.seen('.st-key-card_numbers')"))
    watched.close()
    found = {**spread(heads[1:]), "numbers": statistics.median(numbers[1:])}
    found |= {"empty": empty, "× empty": found["median"] / empty}
    layer = _layer(on, length)
    found |= {"layer": layer, "numbers × layer": found["numbers"] / layer}
    return Figure(what, found, {"× empty": 10.0, "numbers × layer": 1.0})


def _layer(on: Stage, length: int) -> float:
    watched = new_page(on.browser, **WINDOW)
    sentence = " ".join(LONG["sentence"].split()[:length])
    link = urlencode({**LONG, "sentence": sentence, "predict": "off"})
    watched.open(f"{on.app.url}/whole_layer?{link}")
    (key,) = (key for key in watched.page.evaluate(SLIDERS) if called(key) == "d_model")
    took = statistics.median(each.seen for each in watched.move(key, 3))
    watched.close()
    return took


if __name__ == "__main__":
    print(json.dumps(_told(int(sys.argv[1]))))
