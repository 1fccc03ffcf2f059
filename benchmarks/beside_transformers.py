"""A text through SmolLM2 with the weights of all heads, beside `transformers` on the same file."""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from copy import deepcopy
from functools import partial

import torch

from .figures import Figure, Part, spread

TEXT = "When Mary and John went to the store, John gave a drink to Mary, and Mary gave it back. "
LENGTHS, TIMES = (14, 64), 9
HOW = (
    "Seconds for the weights of all 270 heads, with one thread each, in turn: ours, which reads "
    "the 4-bit numbers of a layer from the file each time, and `transformers` (eager, "
    "`output_attentions`), which has made 540 MB of all of them at its start. In a process of its "
    "own. Needs `make model` and `pip install accelerate`. Where TransformerLens is installed, it "
    "takes its turn too, with the model that `transformers` has read."
)


def measure(quick: bool) -> list[Part]:
    """In a process of its own, which is small when it starts."""
    command = [sys.executable, "-m", __name__, str(3 if quick else TIMES)]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    figures = []
    for length, *each in told:
        of_ours, of_theirs, *of_lens = map(spread, each)
        ratio = of_ours["median"] / of_theirs["median"]
        numbers = {**of_ours, "transformers": of_theirs["median"], "ratio": ratio}
        if of_lens:
            numbers["TransformerLens"] = of_lens[0]["median"]
        figures.append(Figure(f"{length} tokens", numbers, {"ratio": 2.0}))
    return [Part("A real model, beside transformers", HOW, figures, unit="s")]


def _told(times: int) -> list[tuple[int, *tuple[list[float], ...]]]:
    """For each length the seconds of ours, of `transformers`, and of TransformerLens if it is
    there.
    """
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
    lens = _in_lens(other) if importlib.util.find_spec("transformer_lens") else None
    found = []
    for length in LENGTHS:
        ids = list(model.tokenizer.encode(TEXT * 4).ids)[:length]
        given = torch.tensor([ids])
        works = [partial(run, model, ids), partial(other, given, output_attentions=True)]
        works += [partial(lens, given)] if lens else []
        with torch.no_grad():
            each = [tuple(map(_seconds, works)) for _ in range(times + 1)][1:]
        found.append((length, *map(list, zip(*each, strict=True))))
    return found


def _in_lens(read) -> Callable[[torch.Tensor], object]:
    """What runs a model that `transformers` has read in TransformerLens, and keeps all weights."""
    from transformer_lens import TransformerBridge

    with tempfile.TemporaryDirectory() as folder:
        read.config.save_pretrained(folder)
        _tokenizer().save_pretrained(folder)
        bridge = TransformerBridge.boot_transformers(folder, hf_model=deepcopy(read))
    return partial(bridge.run_with_cache, names_filter=lambda name: name.endswith("hook_pattern"))


def _tokenizer():
    """A tokenizer that knows any text, which TransformerLens asks for: it is given ids here."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    letters = Tokenizer(models.WordLevel({"?": 0, "!": 1}, unk_token="?"))
    letters.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=letters, bos_token="!", eos_token="!")


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    print(json.dumps(_told(int(sys.argv[1]))))
