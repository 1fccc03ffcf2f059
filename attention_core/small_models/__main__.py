"""`python -m attention_core.small_models`: trains the tiny language anew, and measures it.

It writes the weights, the figures and the recording of its training over those of this folder.
`--seed 3` begins elsewhere, `--dry` writes nothing.
"""

import argparse
import time

import torch

from ..head_name import head_name
from .figures import Figures
from .measuring import measure
from .recording import RECORDING, record, store
from .shipped import WEIGHTS, write
from .tiny_language import HELD_OUT, TrainingPlan, told, untrained


def main() -> None:
    """Train, print the losses and the heads, and write the files."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seed", type=int, default=TrainingPlan.seed)
    options.add_argument("--dry", action="store_true", help="write nothing")
    asked = options.parse_args()
    torch.set_num_threads(1)  # matrices are small: more threads wait for each other
    began = time.perf_counter()
    plan = TrainingPlan(seed=asked.seed)
    texts, held_out = told(plan.n_texts, seed=0), told(1_000, HELD_OUT)
    print(f"{plan.n_texts:,} texts after {time.perf_counter() - began:.0f} s")
    run = []
    for moment, network in record(plan, texts, held_out):
        run.append((moment, network))
        if len(run) % 5 == 1:
            so_far = f"{time.perf_counter() - began:.0f} s"
            print(f"step {moment.step:5,}: held-out loss {moment.loss:.4f}, {so_far}")
    moments, (*_, network) = zip(*run, strict=True)
    figures = measure(network, untrained(plan.seed), held_out, texts)
    say(figures)
    if asked.dry:
        return
    store(moments)
    write(network)
    figures.write()
    for path in (RECORDING, WEIGHTS):
        print(f"written: {path.name}, {path.stat().st_size / 1000:.0f} kB")


def say(figures: Figures) -> None:
    """Print figures."""
    above = figures.loss / figures.entropy - 1
    print(f"loss    {figures.loss:.4f}, {above:.1%} above the grammar's entropy")
    print(f"entropy {figures.entropy:.4f}")
    print(f"bigram  {figures.bigram:.4f}")
    for head in figures.heads:
        scores, names = figures.scores_of(head), figures.names(head)
        said = ", ".join(f"{name} {scores[name]:.2f}" for name in names)
        highest = max(scores, key=scores.__getitem__)
        none = f"no name fits (nearest: {highest} {scores[highest]:.2f})"
        print(f"{head_name(head[1], head[0])}: {said or none}")


if __name__ == "__main__":
    main()
