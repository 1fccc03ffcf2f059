"""A tokenizer by what a GGUF file says: words, merges or scores, and how text is cut."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..files.refused import ModelRefused, needed
from ..files.tensor_file import quoted
from .tokenizer import LIKE_CONTROL, Tokenizer

LONGEST_WORD = 200
"""Characters of a token that is made of two: more would take long to try."""
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
"""How text is cut before it is merged to tokens, by the name that a file gives it.

Source: https://github.com/ggml-org/llama.cpp, src/llama-vocab.cpp.
"""
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
CONTROL, OWN = 3, 4
"""Kinds of tokens: those that steer a model, and those that whoever made it has added."""


def from_fields(fields: Mapping[str, object], place: str) -> Tokenizer:
    """A tokenizer by the fields of a GGUF file. Raises ModelRefused where it cannot be made."""
    tokenizers = needed("tokenizers", "cutting text into a model's tokens")
    about = _Fields(fields, place)
    words = about.texts("tokens")
    if len(set(words)) < len(words):
        raise ModelRefused(f"tokenizer.ggml.tokens in {place} has a token twice")
    kind = about.text("model")
    if kind not in ("gpt2", "llama"):
        raise ModelRefused(
            f"tokenizer.ggml.model in {place} is “{quoted(kind)}”, but must be gpt2 or llama: "
            "nothing else is read here"
        )
    is_bytes = kind == "gpt2"
    make = _byte_level if is_bytes else _sentencepiece
    types = about.numbers("token_type", len(words))
    made = make(tokenizers, about, words)
    control = [
        word
        for word, type_ in zip(words, types, strict=True)
        if type_ == CONTROL or (type_ == OWN and LIKE_CONTROL.fullmatch(word))
    ]
    own = [word for word, type_ in zip(words, types, strict=True) if type_ == OWN]
    made.add_special_tokens(control)
    made.add_tokens([word for word in own if not LIKE_CONTROL.fullmatch(word)])
    made.encode_special_tokens = True
    begins = not is_bytes or SAME_CUT[about.text("pre")] == "llama-bpe"
    beginning = about.control("bos", len(words), default=begins)
    end = about.control("eos", len(words), default=False)
    return Tokenizer(made, "bytes" if is_bytes else "sentencepiece", beginning, end)


def _byte_level(tokenizers, about: "_Fields", words: Sequence[str]):
    """Bytes that are merged to tokens, as GPT-2 has it."""
    named = about.text("pre")
    pre = SAME_CUT.get(named)
    if pre is None:
        raise ModelRefused(
            f"tokenizer.ggml.pre in {about.place} is “{quoted(named)}”: a text is cut in this way "
            f"by none of those that are known here, {', '.join(CUTS)}"
        )
    merges = [tuple(each.split(" ")) for each in about.texts("merges")]
    if not all(len(pair) == 2 for pair in merges):
        raise ModelRefused(f"a merge in {about.place} is no pair of tokens")
    cut = CUTS[pre]
    whole = tokenizers.pre_tokenizers
    if cut is None:
        steps = [whole.ByteLevel(add_prefix_space=False)]
    elif cut == "digits":
        steps = [whole.Digits(individual_digits=True), whole.ByteLevel(add_prefix_space=False)]
    else:
        steps = [
            whole.Split(tokenizers.Regex(cut), "isolated"),
            whole.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    vocabulary = {word: token for token, word in enumerate(words)}
    try:
        model = tokenizers.models.BPE(vocabulary, merges, ignore_merges=pre == "llama-bpe")
    except Exception as error:
        raise ModelRefused(
            f"the tokenizer in {about.place} cannot be made: {quoted(str(error))}"
        ) from error
    made = tokenizers.Tokenizer(model)
    if pre == "qwen2":
        made.normalizer = tokenizers.normalizers.NFC()
    made.pre_tokenizer = whole.Sequence(steps)
    made.decoder = tokenizers.decoders.ByteLevel()
    return made


def _sentencepiece(tokenizers, about: "_Fields", words: Sequence[str]):
    """Characters that are merged to tokens by their scores, as SentencePiece has it for Llama 2: of
    two neighbours those that make the token of the highest score.
    """
    if "tokenizer.ggml.scores" not in about.fields:
        raise ModelRefused(f"{about.place} has no tokenizer.ggml.scores for its tokens")
    scores = about.numbers("scores", len(words))
    known = {word: token for token, word in enumerate(words)}
    merges = [
        (-scores[token], known[word[:at]], known[word[at:]], word[:at], word[at:])
        for word, token in known.items()
        if not LIKE_CONTROL.fullmatch(word)
        for at in range(1, min(len(word), LONGEST_WORD))
        if word[:at] in known and word[at:] in known
    ]
    pairs = [(left, right) for *_, left, right in sorted(merges)]
    unknown = about.fields.get("tokenizer.ggml.unknown_token_id", 0)
    if not isinstance(unknown, int) or not 0 <= unknown < len(words):
        raise ModelRefused(f"{about.place} has no token for what is unknown")
    steps = [tokenizers.normalizers.Replace(" ", "▁")]
    prefix = about.fields.get("tokenizer.ggml.add_space_prefix", True)
    if prefix:
        steps.insert(0, tokenizers.normalizers.Prepend("▁"))
    try:
        model = tokenizers.models.BPE(
            known, pairs, unk_token=words[unknown], fuse_unk=True, byte_fallback=True
        )
    except Exception as error:
        raise ModelRefused(
            f"the tokenizer in {about.place} cannot be made: {quoted(str(error))}"
        ) from error
    made = tokenizers.Tokenizer(model)
    made.normalizer = tokenizers.normalizers.Sequence(steps)
    back = tokenizers.decoders
    made.decoder = back.Sequence(
        [back.Replace("▁", " "), back.ByteFallback(), back.Fuse()]
        + ([back.Strip(" ", 1, 0)] if prefix else [])
    )
    return made


@dataclass(frozen=True)
class _Fields:
    """What a GGUF file says of its tokenizer."""

    fields: Mapping[str, object]
    place: str

    def text(self, name: str) -> str:
        found = self.fields.get(f"tokenizer.ggml.{name}")
        if not isinstance(found, str):
            raise ModelRefused(f"{self.place} does not say tokenizer.ggml.{name}")
        return found

    def texts(self, name: str) -> list[str]:
        found = self.fields.get(f"tokenizer.ggml.{name}")
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
