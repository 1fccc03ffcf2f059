"""A tokenizer by what a GGUF file says: words, merges or scores, and how text is cut."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..files.refused import ModelRefused
from ..files.tensor_file import quoted
from .cutting import LIKE_CONTROL, MOST_TOKENS
from .tokenizer import Tokenizer

LONGEST_WORD = 200
"""Characters of a token that is made of two: more would take long to try."""
MOST_CHARACTERS, MOST_MERGES = 4_000_000, 1_000_000
"""Of all tokens made of two, and ways to make them: Gemma has 1.7 and half a million."""
ENDINGS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
REST = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA_3 = rf"{ENDINGS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}|{REST}"
CUTS = {
    "gpt-2": None,
    "smollm": "digits",
    "llama-bpe": LLAMA_3,
    "smaug-bpe": LLAMA_3,
    "qwen2": rf"{ENDINGS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}|{REST}",
}
"""How text is cut before merging, by a file's name for it (llama.cpp, llama-vocab.cpp)."""
_ALSO = {
    "gpt-2": "gpt2 phi-2 jina-es jina-de jina-v2-es jina-v2-de gigachat a.x-4.0 mellum modern-bert "
    "exaone4 mpt olmo jais trillion granite-docling",
    "smollm": "starcoder refact command-r codeshell exaone minerva-7b",
    "llama-bpe": "llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano",
    "smaug-bpe": "dbrx",
    "qwen2": "deepseek-r1-qwen kormo f2llmv2 megrez stablelm2 hunyuan grok-2",
}
SAME_CUT = {each: each for each in CUTS} | {
    other: each for each, others in _ALSO.items() for other in others.split()
}
"""The names of tokenizers whose text is cut, and merged, as that of one in `CUTS`."""
ENDS = ("<|im_end|>", "<|endoftext|>", "<|end_of_text|>", "<|eot_id|>", "<|eom_id|>", "<|end|>",
        "<end_of_turn>", "<end_of_utterance>")  # fmt: skip
"""Control tokens that end what a model writes, whatever else a file names. Source: as above."""
NORMAL, CONTROL, OWN = 1, 3, 4
"""Kinds of tokens: of text, those that steer a model, and those its maker has added."""


def from_fields(fields: Mapping[str, Any], place: str) -> Tokenizer:
    """A tokenizer by the fields of a GGUF file. Raises ModelRefused where it cannot be made."""
    about = _Fields(fields, place)
    words = about.texts("tokens", MOST_TOKENS)
    known = {word: token for token, word in enumerate(words)}
    if len(known) < len(words):
        raise ModelRefused(f"tokenizer.ggml.tokens in {place} has a token twice")
    kind = about.text("model")
    if kind not in ("gpt2", "llama"):
        raise ModelRefused(
            f"tokenizer.ggml.model in {place} is “{quoted(kind)}”, but must be gpt2 or llama: "
            "nothing else is read here"
        )
    is_bytes = kind == "gpt2"
    types = about.numbers("token_type", len(words))
    said = _byte_level(about, known) if is_bytes else _sentencepiece(about, known, types)
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip"), False)
    # Where SentencePiece looks for a token that was added, each blank is a ▁ already.
    said["added_tokens"] = [
        {"id": token, "content": word, **flags, "normalized": type_ == OWN and not is_bytes}
        | {"special": type_ == CONTROL}
        for (word, token), type_ in zip(known.items(), types, strict=True)
        if type_ in (CONTROL, OWN)
    ]
    begins = not is_bytes or SAME_CUT[about.text("pre")] == "llama-bpe"
    beginning = about.control("bos", len(words), default=begins)
    end = about.control("eos", len(words), default=False)
    prefix = "" if is_bytes or not about.puts_a_blank else " "
    wrong = f"the tokenizer in {place} cannot be made"
    return Tokenizer(json.dumps(said).encode(), wrong, beginning, end, prefix)


def ends_in(fields: Mapping[str, Any]) -> frozenset[int]:
    """The tokens with which a model of a GGUF file ends what it writes."""
    named = (fields.get(f"tokenizer.ggml.{each}_token_id") for each in ("eos", "eot", "eom"))
    words, types = (fields.get(f"tokenizer.ggml.{each}") for each in ("tokens", "token_type"))
    each = enumerate(zip(words or (), types or (), strict=False))
    usual = (at for at, (word, kind) in each if kind == CONTROL and word in ENDS)
    return frozenset(token for token in (*named, *usual) if type(token) is int)


def _byte_level(about: "_Fields", known: Mapping[str, int]) -> dict[str, Any]:
    named = about.text("pre")
    pre = SAME_CUT.get(named)
    if pre is None:
        raise ModelRefused(
            f"tokenizer.ggml.pre in {about.place} is “{quoted(named)}”: a text is cut in this way "
            f"by none of those that are known here, {', '.join(CUTS)}"
        )
    merges = [each.split(" ") for each in about.texts("merges", MOST_MERGES)]
    if not all(len(pair) == 2 for pair in merges):
        raise ModelRefused(f"a merge in {about.place} is no pair of tokens")
    cut = CUTS[pre]
    by_bytes = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    steps: list[dict[str, Any]] = [by_bytes | {"use_regex": cut in (None, "digits")}]
    if cut == "digits":
        steps.insert(0, {"type": "Digits", "individual_digits": True})
    elif cut is not None:
        split = {"type": "Split", "pattern": {"Regex": cut}, "behavior": "Isolated"}
        steps.insert(0, split | {"invert": False})
    return {
        "normalizer": {"type": "NFC"} if pre == "qwen2" else None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": steps},
        "decoder": by_bytes | {"use_regex": True},
        "model": {"type": "BPE", "vocab": known, "merges": merges}
        | {"ignore_merges": pre == "llama-bpe"},
    }


def _sentencepiece(
    about: "_Fields", known: Mapping[str, int], types: Sequence[float]
) -> dict[str, Any]:
    """Characters merged by their tokens' scores, highest first, as SentencePiece for Llama 2."""
    if "tokenizer.ggml.scores" not in about.fields:
        raise ModelRefused(f"{about.place} has no tokenizer.ggml.scores for its tokens")
    scores, words = about.numbers("scores", len(known)), [*known]
    says_types = "tokenizer.ggml.token_type" in about.fields
    made_of_two = [
        (word, token)
        for word, token in known.items()
        if (types[token] == NORMAL and (says_types or not LIKE_CONTROL.fullmatch(word)))
    ]
    n_characters = sum(min(len(word), LONGEST_WORD) for word, _ in made_of_two)
    if n_characters > MOST_CHARACTERS:
        raise ModelRefused(
            f"the tokens in {about.place} have {n_characters:,} characters together, but at most "
            f"{MOST_CHARACTERS:,} are read"
        )
    merges = []
    for word, token in made_of_two:
        merges += [
            (-scores[token], left, right)
            for at in range(1, min(len(word), LONGEST_WORD))
            if (left := known.get(word[:at])) is not None
            and (right := known.get(word[at:])) is not None
        ]
        if len(merges) > MOST_MERGES:
            raise ModelRefused(
                f"the tokens in {about.place} can be made of each other in more than "
                f"{MOST_MERGES:,} ways"
            )
    unknown = about.fields.get("tokenizer.ggml.unknown_token_id", 0)
    if not isinstance(unknown, int) or not 0 <= unknown < len(words):
        raise ModelRefused(f"{about.place} has no token for what is unknown")
    back = [
        {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
    ]
    if about.puts_a_blank:
        back.append({"type": "Strip", "content": " ", "start": 1, "stop": 0})
    return {
        "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
        "decoder": {"type": "Sequence", "decoders": back},
        "model": {
            "type": "BPE",
            "vocab": known,
            "merges": [(words[left], words[right]) for _, left, right in sorted(merges)],
            "unk_token": words[unknown],
            "fuse_unk": True,
            "byte_fallback": True,
        },
    }


@dataclass(frozen=True)
class _Fields:
    """What a GGUF file says of its tokenizer."""

    fields: Mapping[str, Any]
    place: str

    @property
    def puts_a_blank(self) -> bool:
        """Whether a blank stands before every text."""
        return bool(self.fields.get("tokenizer.ggml.add_space_prefix", True))

    def text(self, name: str) -> str:
        found = self.fields.get(f"tokenizer.ggml.{name}")
        if not isinstance(found, str):
            raise ModelRefused(f"{self.place} does not say tokenizer.ggml.{name}")
        return found

    def texts(self, name: str, most: int) -> list[str]:
        found = self.fields.get(f"tokenizer.ggml.{name}")
        if isinstance(found, list) and len(found) > most:
            raise ModelRefused(
                f"tokenizer.ggml.{name} in {self.place} has {len(found):,} words, but at most "
                f"{most:,} are taken"
            )
        if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
            raise ModelRefused(f"{self.place} has no list of words tokenizer.ggml.{name}")
        return found

    def numbers(self, name: str, count: int) -> list[float]:
        """One number for each token; 1, an ordinary one, where nothing is said."""
        found = self.fields.get(f"tokenizer.ggml.{name}")
        if found is None:
            return [1] * count
        if (
            not isinstance(found, list)
            or len(found) != count
            or not all(isinstance(each, int | float) for each in found)
        ):
            raise ModelRefused(
                f"tokenizer.ggml.{name} in {self.place} is no list of {count:,} numbers"
            )
        return found

    def control(self, name: str, count: int, default: bool) -> list[int]:
        """The token that stands before or after every text, where there is one."""
        if not self.fields.get(f"tokenizer.ggml.add_{name}_token", default):
            return []
        found = self.fields.get(f"tokenizer.ggml.{name}_token_id")
        if not isinstance(found, int) or not 0 <= found < count:
            raise ModelRefused(
                f"{self.place} puts a token before or after every text, but does not say which"
            )
        return [found]
