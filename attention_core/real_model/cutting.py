"""Cuts texts into a model's tokens, as a program of its own that `tokenizer.py` starts and may end:
rules of a `tokenizer.json` can come to no end, or make a text a billion times as long, and then
take this program along, with its bounds of memory and time. It reads what the file says, then
answers a line with a line, all in JSON.
"""

import json
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any

HTML = "table|caption|thead|tbody|tfoot|tr|th|td|h[1-6]|blockquote|strong|em|b|i|u|sub|sup|code"
LIKE_CONTROL = re.compile(rf"<(?!/?(?:{HTML})>)[^\s<>]+>|\[[^\s\[\]]+\]")
"""What a control token looks like: `<think>`, which Qwen3 does not mark as one, `<|im_end|>`,
`[MASK]`. The marks of HTML, which Gemma has as words, steer nothing."""
SECONDS_TO_OPEN, SECONDS = 15, 5
"""So long a processor may work to make a tokenizer, and to cut a text. One of 260,000 words and as
many merges takes 2 seconds."""
PATIENCE = 4
"""So many times as long is waited for that, on a machine that has other work too."""
MOST_BYTES = 2**30
"""Memory. A tokenizer of 260,000 words takes two fifths of it."""
MOST_VALUES, MOST_TOKENS, MOST_CHARACTERS = 5_000_000, 2**19, 2**24
"""Values in the file, tokens, and their characters: 260,000 words have 2 and 1.7 million. The
largest vocabulary of a model that is known has 501,153 words, LaBSE's."""
MOST_AROUND = 32
"""Tokens that may stand around a text: the next largest puts 3 there."""
MOST_CUT = 2**19
"""Tokens of one text, of which each character is at most four bytes."""
GROWN, ADDED = 20, 1_000
"""A text may grow so many times, and by so many, before it is cut: NFKD makes 18 of one."""


PARTS = {
    "added_tokens": "the tokens that were added",
    "normalizer": "what is made of a text first",
    "pre_tokenizer": "how a text is cut first",
    "post_processor": "what stands around a text",
    "decoder": "how tokens become a text",
    "model": "its words and how they are found",
}
"""What each part of a `tokenizer.json` says."""


class NotTaken(ValueError):
    """A tokenizer that is wrong or takes too much, in words."""


class Cutter:
    """A tokenizer by what a `tokenizer.json` says. Raises what the library raises."""

    def __init__(self, content: bytes) -> None:
        import tokenizers

        _check(sum(map(content.count, (b",", b"[", b"{"))), MOST_VALUES, "it holds {} values")
        try:
            said = json.loads(content)
        except RecursionError as error:
            raise NotTaken("it is nested too deeply") from error
        except ValueError as error:
            raise NotTaken(f"it is cut off, or no JSON ({error})") from error
        if not isinstance(said, dict):
            raise NotTaken("it holds no settings by name")
        added = said.get("added_tokens")
        if isinstance(added, list) and all(isinstance(each, dict) for each in added):
            for each in added:
                each["special"] = each.get("special") or bool(
                    LIKE_CONTROL.fullmatch(str(each.get("content")))
                )
        model = said.get("model")
        words = model.get("vocab") if isinstance(model, dict) else ()
        for each in (words, added):
            if isinstance(each, dict | list):
                _check(len(each), MOST_TOKENS, "it has {} tokens")
                _check(len(json.dumps(each)) // 2, MOST_CHARACTERS, "its tokens have {} characters")
        _check_merges(model)
        try:
            self.made = tokenizers.Tokenizer.from_str(json.dumps(said))
        except BaseException as error:
            raise NotTaken(_what_is_wrong(said, error)) from error
        _check_ids(said, self.made.get_vocab(with_added_tokens=True))
        self.made.no_padding()
        self.made.no_truncation()
        self.made.encode_special_tokens = True
        self.model = said["model"]
        self.kind = _kind(said)

    def about(self) -> dict[str, Any]:
        """All that is asked of it but texts."""
        tokens = self.made.get_vocab(with_added_tokens=True)
        unknown = self.model.get("unk_token")
        added = self.made.get_added_tokens_decoder().items()
        return {
            "kind": self.kind,
            "tokens": tokens,
            "added": [(token, each.content, each.special) for token, each in added],
            "unknown": self.model.get("unk_id")  # of a Unigram
            if not isinstance(unknown, str)
            else self.made.token_to_id(unknown),
        }

    def encode(self, text: str, in_full: bool = True) -> dict[str, Any]:
        """The tokens of a text and their places, `in_full` with those around; or its bad word."""
        if self.made.normalizer is not None:
            n_made = len(self.made.normalizer.normalize_str(text))
            _check(n_made, GROWN * len(text) + ADDED, f"of {len(text):,} characters it makes {{}}")
        try:
            found = self.made.encode(text, add_special_tokens=in_full)
        except BaseException:
            if self.kind != "words":
                raise
            known = self.made.get_vocab()
            parts = self.made.pre_tokenizer.pre_tokenize_str(text)
            return {"strange": next(part for part, _ in parts if part not in known)}
        _check(len(found), MOST_CUT, f"of {len(text):,} characters it makes tokens, {{}}")
        return {"ids": found.ids, "offsets": found.offsets}

    def around(self, text: str) -> dict[str, Any]:
        """Whether few tokens stand around a text; around a word where it cannot be cut."""
        if "strange" in self.encode(text):
            text = next(iter(self.made.get_vocab()), "")
        n_whole, puts = len(self.encode(text)["ids"]), self.made.post_processor
        self.made.post_processor = None  # it may also repeat the text, whatever is asked for
        n_own = len(self.encode(text, in_full=False)["ids"])
        self.made.post_processor = puts
        n_around = n_whole - n_own
        _check(n_around, MOST_AROUND, f"around {n_own} tokens of a text it puts {{}}")
        return {}

    def merges(self, text: str) -> dict[str, Any]:
        """The parts a text's tokens are made in, and merges that can have made one in them."""
        known, words = self.model.get("merges"), self.model["vocab"]
        if not known:
            return {}
        if self.made.normalizer is not None:
            text = self.made.normalizer.normalize_str(text)
        cut = self.made.pre_tokenizer
        parts = [part for part, _ in cut.pre_tokenize_str(text)] if cut else [text]
        found = []
        for number, each in enumerate(known, 1):
            left, right = each.split(" ") if isinstance(each, str) else each
            if any(left + right in part for part in parts):
                found.append((number, left, right))

        def characters(part: str) -> list[str]:
            each = (
                [one] if one in words else [f"<0x{b:02X}>" for b in one.encode()] for one in part
            )
            return [one for ones in each for one in ones]

        falls_back = self.model.get("byte_fallback")
        return {"parts": [*map(characters if falls_back else list, parts)], "merges": found}

    def decode(self, ids: list[int]) -> dict[str, Any]:
        """The text of tokens."""
        return {"text": self.made.decode(ids, skip_special_tokens=False)}


def _kind(said: Mapping[str, dict]) -> str:
    written = json.dumps([said.get(each) for each in ("decoder", "pre_tokenizer", "normalizer")])
    model = said["model"]
    if '"ByteLevel"' in written:
        return "bytes"
    if "\\u2581" in written or '"Metaspace"' in written or model.get("byte_fallback"):
        return "sentencepiece"
    return "wordpiece" if model.get("type") == "WordPiece" else "words"


def _what_is_wrong(said: Mapping[str, Any], error: BaseException) -> str:
    """In which part, in our words, and what the library says; its place is of no file there is."""
    import tokenizers

    told = re.sub(r" at line \d+ column \d+$", "", str(error))
    for name, meant in PARTS.items():
        alone = {"version": "1.0", "model": {"type": "WordLevel", "vocab": {}, "unk_token": ""}}
        alone.pop(name, None)
        try:
            tokenizers.Tokenizer.from_str(
                json.dumps(alone | {each: what for each, what in said.items() if each == name})
            )
        except BaseException:
            return (
                f"what it says of {meant} ({name}) is incomplete or of an unknown kind ({told:.70})"
            )
    return f"a setting of it is incomplete or not known ({told:.70})"


def _check_merges(model: Any) -> None:
    """The library says the first that does not fit after it has read all, again and again."""
    if not isinstance(model, dict) or model.get("type", "BPE") != "BPE":
        return
    words, merges = model.get("vocab"), model.get("merges")
    if not isinstance(words, dict) or not isinstance(merges, list):
        return  # said by the library
    n_before = len(str(model.get("continuing_subword_prefix") or ""))
    for number, each in enumerate(merges, 1):
        if isinstance(each, str) and each.startswith("#version"):
            continue
        pair = each.split(" ") if isinstance(each, str) else each
        is_pair = isinstance(pair, list) and len(pair) == 2
        if not (is_pair and all(isinstance(one, str) for one in pair)):
            raise NotTaken(f"merge {number:,} of its words is no pair of tokens")
        left, right = pair
        for one in (left, right, left + right[n_before:]):
            if one not in words:
                raise NotTaken(
                    f"merge {number:,}, of “{left:.40}” and “{right:.40}”, needs “{one:.40}”, "
                    "which is none of its words"
                )


def _check_ids(said: Mapping[str, Any], made: Mapping[str, int]) -> None:
    """The library takes the last of two words with one id, and gives added ones ids of its own."""
    words = said["model"]["vocab"]
    each = (
        words.items()
        if isinstance(words, dict)
        else ((one, at) for at, (one, _) in enumerate(words))
    )
    added = ((one["content"], one["id"]) for one in said.get("added_tokens") or ())
    found: dict[int, str] = {}
    for word, token in (*each, *added):
        if (other := found.setdefault(token, word)) != word:
            raise NotTaken(f"“{other:.40}” and “{word:.40}” are both its token {token}")
        if made[word] != token:
            raise NotTaken(f"“{word:.40}” is its token {token}, but would be read as {made[word]}")


def _check(count: int, most: int, words: str) -> None:
    if count > most:
        raise NotTaken(f"{words.format(f'{count:,}')}, but at most {most:,} are taken")


def _bounded(seconds: int) -> None:
    """So much memory, and so many seconds of work from now on, where the system holds one to it."""
    try:
        import resource

        used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
        for kind, most in (
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_AS, MOST_BYTES),
            (resource.RLIMIT_CPU, int(used) + 1 + seconds),
        ):
            resource.setrlimit(kind, (most, resource.getrlimit(kind)[1]))
    except (ImportError, ValueError, OSError):
        return


def _answer(call: Callable[[], dict[str, Any]], seconds: int) -> None:
    _bounded(seconds)
    try:
        found = call()
    except NotTaken as error:
        found = {"not taken": str(error)}
    except BaseException as error:  # the library's panics are no Exception
        found = {"error": str(error) or type(error).__name__}
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Answers until nobody asks."""
    lines, cutter = sys.stdin.buffer, []

    def opened() -> dict[str, Any]:
        cutter.append(Cutter(lines.read(int(lines.readline()))))
        return cutter[0].about()

    _answer(opened, SECONDS_TO_OPEN)
    for line in lines:
        name, *given = json.loads(line)
        _answer(lambda: getattr(cutter[0], name)(*given), SECONDS)  # noqa: B023


if __name__ == "__main__":
    main()
