"""Attention as people write it, right and wrong: `shapes_of_code.toml` and `ways_of_code.toml`, and
what is said of it.
"""

import math
import re
import tomllib

import torch
import torch.nn.functional as F
from torch import nn

from attention_core.lights.own_code.checking import looked_at
from serving import ROOT

SHAPES = tomllib.loads((ROOT / "tests" / "shapes_of_code.toml").read_text(encoding="utf-8"))
PIECES = {name: (each.get("causal", False), each["code"]) for name, each in SHAPES["right"].items()}


def wrong_pieces():
    """The right one's name, the code, the first red light, and the mistake's name."""
    for base, rows in SHAPES["wrong"].items():
        for old, new, *told in rows:
            assert old in PIECES[base][1], f"{base} has no {old!r}"
            yield base, PIECES[base][1].replace(old, new), *told


WAYS = tomllib.loads((ROOT / "tests" / "ways_of_code.toml").read_text(encoding="utf-8"))


def wrong_ways():
    """The right one's name, whether later tokens are hidden, the code, and the first red light, or
    "-" for any.
    """
    for base, rows in WAYS["wrong"].items():
        right = WAYS["right"][base]
        for old, new, light in rows:
            assert old in right["code"], f"{base} has no {old!r}"
            yield base, right.get("causal", False), right["code"].replace(old, new), light
    for name, each in WAYS["wrong_alone"].items():
        yield name, each.get("causal", False), each["code"], "-"


def made(code):
    names = {"torch": torch, "nn": nn, "F": F, "math": math}
    torch.manual_seed(0)
    exec(code, names)
    return names["it"]


# --- what is said ---------------------------------------------------------------------------------
NUMBER = re.compile(r"[−-]?\d[\d,]*\.?\d*(?:e[−-]?\d+)?")


def every_piece():
    """By a name: whether later tokens are hidden, and the code."""
    yield from PIECES.items()
    for name, each in (WAYS["right"] | WAYS["wrong_alone"]).items():
        yield name, (each.get("causal", False), each["code"])
    for of, right in ((SHAPES, PIECES), (WAYS, dict(ways_right()))):
        for base, rows in of["wrong"].items():
            causal, code = right[base]
            for old, new, *_ in rows:
                yield f"{base}: {new}", (causal, code.replace(old, new))


def ways_right():
    for name, each in WAYS["right"].items():
        yield name, (each.get("causal", False), each["code"])


def said_of(causal, code):
    """The signs of its lights, and each line of what is said: evidence, and the verdict."""
    report = looked_at(made(code), causal)
    signs, lines = "", []
    for line in report.text().partition("\n\n")[0].splitlines():
        signs += line[0]
        lines.append(re.split(r" {2,}", line[2:], maxsplit=1)[-1])
    return signs, [*lines, *report.verdict()]


def apart(line):
    """The words of a line, and its numbers."""
    # What came to exactly the same here is rounded otherwise on another processor.
    line = line.replace("out, exactly.", "out, to within 0.0, the rounding of 32-bit numbers.")
    numbers = [each.replace(",", "").replace("−", "-") for each in NUMBER.findall(line)]
    return NUMBER.sub("#", line), [float(each.rstrip(".")) for each in numbers]
