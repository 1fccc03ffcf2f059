"""What a download is called."""

import re
import unicodedata

LONGEST = 40
"""Of a person's sentence, so that every system can hold the name and a person can read it."""


def file_name(lesson: str, sentence: str, kind: str) -> str:
    """`causal_mask-the_wild_cat.ipynb`: a lesson, plain letters of a sentence, and `.ipynb`."""
    plain = (
        unicodedata.normalize("NFKD", sentence[: 4 * LONGEST]).encode("ascii", "ignore").decode()
    )
    words = re.sub(r"[^a-z0-9]+", "_", plain.lower()).strip("_")[:LONGEST].strip("_")
    return "-".join(filter(None, (lesson, words))) + kind
