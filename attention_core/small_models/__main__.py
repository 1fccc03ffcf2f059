"""`python -m attention_core.small_models`: trains the tiny language anew, and measures it.

It writes the weights, the figures and the recording of its training over those of this folder.
"""

import time

import torch

from ..utils.head_name import head_name
from .measuring import measure
from .recording import record, store
from .shipped import write
from .tiny_language import HELD_OUT, TrainingPlan, told, untrained


def main() -> None:
    """Train, print the losses and the heads, and write the files."""
    torch.set_num_threads(1)  # matrices are small: more threads wait for each other
    began, plan, moments = time.perf_counter(), TrainingPlan(), []
    texts, held_out = told(plan.n_texts, seed=0), told(1_000, HELD_OUT)
    for moment, trained in record(plan, texts, held_out):
        network = trained
        moments.append(moment)
        so_far = f"{time.perf_counter() - began:.0f} s"
        print(f"step {moment.step:5,}: held-out loss {moment.loss:.4f}, {so_far}")
    figures = measure(network, untrained(plan.seed), held_out, texts)
    print(f"loss {figures.loss:.4f}, entropy {figures.entropy:.4f}, bigram {figures.bigram:.4f}")
    for layer, head in figures.heads:
        names = ", ".join(figures.names((layer, head))) or "no name fits"
        print(f"{head_name(head, layer)}: {names}")
    store(moments)
    write(network)
    figures.write()


if __name__ == "__main__":
    main()
