"""Text in a model's own tokens, from both kinds of files."""

import gc
import io
import json
import random
import time
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import pytest

from attention_core.files.refused import ModelRefused
from attention_core.real_model import cutting, tokenizer
from attention_core.real_model.tokenizer import from_json
from attention_core.real_model.tokenizer_fields import from_fields
from attention_core.text.byte_level import in_their_text
from sampling import each_once, in_twos, marked

tokenizers = pytest.importorskip("tokenizers", reason="real models need requirements-model.txt")

TEXTS = [
    "the lowest tower, then the lower one", "  two  spaces ", "émoji 😀 日本", "12345 67",
    "don't\n\nstop\t!", "<s> </s> <|im_start|>",
]  # fmt: skip
CORPUS = ["the lowest tower then the lower one the the low tower"] * 3 + TEXTS[:2]


def trained(byte_level):
    model = tokenizers.models.BPE(
        unk_token=None if byte_level else "<unk>", byte_fallback=not byte_level, fuse_unk=True
    )
    made = tokenizers.Tokenizer(model)
    if byte_level:
        made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
        special, alphabet = ["<|end|>"], tokenizers.pre_tokenizers.ByteLevel.alphabet()
        made.decoder = tokenizers.decoders.ByteLevel()
    else:
        normalizers = tokenizers.normalizers
        made.normalizer = normalizers.Sequence(
            [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
        )
        special = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
        alphabet = []
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=360, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    made.train_from_iterator(CORPUS, trainer)
    made.encode_special_tokens = True
    return made


def fields_of(made, kind, **others):
    words = sorted(made.get_vocab(), key=made.get_vocab().get)
    types = [3 if word in ("<s>", "</s>", "<unk>", "<|end|>") else 1 for word in words]
    return {
        "tokenizer.ggml.model": kind,
        "tokenizer.ggml.tokens": words,
        "tokenizer.ggml.token_type": types,
    } | {f"tokenizer.ggml.{name}": each for name, each in others.items()}


@pytest.mark.parametrize("text", TEXTS)
def test_a_tokenizer_by_scores_cuts_as_the_one_it_was_written_from(text):
    made = trained(byte_level=False)
    scores = [-float(token) for token in range(made.get_vocab_size())]
    fields = fields_of(made, "llama", scores=scores, bos_token_id=1, unknown_token_id=0)
    ours = from_fields(fields, "some.gguf")
    found = ours.encode(text)
    assert found.ids == (1, *made.encode(text).ids)
    assert ours.decode(found.ids[1:]) == text
    assert 2 not in found.ids  # a typed </s> is text
    assert found.unknown == ()  # a character that is unknown is written as its bytes


@pytest.mark.parametrize("text", TEXTS)
def test_a_tokenizer_by_merges_cuts_as_the_one_it_was_written_from(text):
    made = trained(byte_level=True)
    merges = json.loads(made.to_str())["model"]["merges"]
    written = [" ".join(pair) for pair in merges]
    ours = from_fields(fields_of(made, "gpt2", pre="gpt-2", merges=written), "some.gguf")
    found = ours.encode(text)
    assert list(found.ids) == made.encode(text).ids
    assert ours.decode(found.ids) == text
    assert 0 not in found.ids
    assert from_json(json.loads(made.to_str())).encode(text) == found


@pytest.mark.parametrize("byte_level", [False, True])
def test_the_merges_that_made_a_word_are_those_of_the_library_and_end_in_its_tokens(byte_level):
    said = json.loads(trained(byte_level).to_str())
    merges = [[*map(str, pair)] for pair in said["model"]["merges"]]
    ours = from_json(said)
    for word in ("lowest", " lowest", "the tower's", "好é", "🙂 "):
        first, joined = ours.joins_of(word)
        assert (joined[-1].pieces if joined else first) == ours.encode(word).pieces
        for each in joined:
            left, right = merges[each.number - 1]
            assert each.token.strip() in (left + right).replace("Ġ", " ").replace("▁", " ")
        assert len(first) == len((word if byte_level else f" {word}").encode()) or not byte_level
    # The vocabulary may take a word that it knows as it is, whatever the merges make of it.
    said["model"] |= {"merges": merges[:1], "ignore_merges": True}
    assert from_json(said).joins_of("the") is None
    said |= {
        "added_tokens": [],
        "model": {"type": "WordLevel", "vocab": {"the": 0}, "unk_token": "the"},
    }
    assert from_json(said).joins_of("the") is None


@pytest.mark.parametrize(("pre", "same"), [
    ("deepseek-r1-qwen", "qwen2"), ("megrez", "qwen2"), ("llama3", "llama-bpe"),
    ("llama-v3", "llama-bpe"), ("pixtral", "llama-bpe"), ("refact", "smollm"), ("phi-2", "gpt-2"),
])  # fmt: skip
def test_other_names_of_a_tokenizer_cut_as_it_does(pre, same):
    made = trained(byte_level=True)
    merges = [" ".join(pair) for pair in json.loads(made.to_str())["model"]["merges"]]
    text = "  the tower's 12345 TOWERS\n\n é"
    found, wanted = (
        from_fields(fields_of(made, "gpt2", pre=each, merges=merges, bos_token_id=1), "some.gguf")
        for each in (pre, same)
    )
    assert found.encode(text) == wanted.encode(text)
    assert (found.encode(text).ids[0] == 1) == (same == "llama-bpe")


def test_pieces_show_what_stands_in_the_text():
    ours = from_json(json.loads(trained(byte_level=True).to_str()))
    assert "".join(ours.encode("the tower").pieces) == "the tower"
    assert ours.id_of("the") is not None
    assert ours.id_of("the tower then") is None


def test_of_a_character_of_several_tokens_each_says_which_part_it_is():
    ours = from_json(json.loads(trained(byte_level=True).to_str()))
    found = ours.encode("a 😀好é")
    parts = [f"{of}‹{part}/{n}›" for of, n in [("😀", 4), ("好", 3)] for part in range(1, n + 1)]
    assert found.pieces[-9:] == (*parts, "é‹1/2›", "é‹2/2›")
    first, *_, last = found.ids[-9:-5]  # by itself a token says what can be known of it
    assert (ours.piece(first), ours.piece(last)) == ("‹F0…›", "‹…80›")
    # one token may end a character and begin another
    assert in_their_text([b" \xe5", b"\xa5\xbd\xe5", b"\xa5\xbda"]) == [
        *(" 好‹1/2›", "好‹2/2›好‹1/2›", "好‹2/2›a")
    ]
    assert in_their_text([b"a\xe5\xa5", b"b", b"\xff"]) == ["a‹E5A5…›", "b", "‹FF…›"]
    pieces = from_json(json.loads(trained(byte_level=False).to_str())).encode("好").pieces
    assert pieces == (" ", "好‹1/3›", "好‹2/3›", "好‹3/3›")


def test_a_token_that_the_tokenizer_lacks_is_named():
    ours = from_json(word_pieces())
    assert 3 in ours
    for token in (6, 2**40, -1):
        assert token not in ours
        assert ours.piece(token) == f"token {token}, which the tokenizer lacks"


# --- tokens that somebody added ------------------------------------------------------------------
ADDED = ["the", "low tower", "é", "日本", "\n\n", "  ", "12", "ower", "don't", "t"]
"""Words, parts of words, blanks, signs that a normalizer changes."""


def tried(seed):
    """Texts of what is added, of what stands around it, and of blanks."""
    draw = random.Random(seed)
    others = [*" \na", "  ", "\n\n", "the lowest", "x", "1", "The", "e\u0301", "😀", ".", "\t"]
    return ["".join(draw.choices([*ADDED, *others], k=draw.randint(1, 8))) for _ in range(25)]


EACH_TWO = each_once(
    product([False, True], repeat=6), "0.1 s: three and more at once", parts=in_twos
)


@pytest.mark.parametrize(
    ("single_word", "lstrip", "rstrip", "normalized", "byte_level", "special"), EACH_TWO
)
def test_added_tokens_of_all_kinds_are_those_of_the_library(
    single_word, lstrip, rstrip, normalized, byte_level, special
):
    flags = (single_word, lstrip, rstrip, normalized)
    names = ("single_word", "lstrip", "rstrip", "normalized")
    kind = dict(zip(names, flags, strict=True)) | {"special": special}
    made = trained(byte_level)
    made.normalizer = tokenizers.normalizers.Sequence(
        [tokenizers.normalizers.NFC(), *([] if byte_level else [made.normalizer])]
    )
    made.add_tokens([tokenizers.AddedToken(each, **kind) for each in ADDED])
    ours = from_json(json.loads(made.to_str()))
    for text in tried(str(kind)):
        found = ours.encode(text)
        assert list(found.ids) == made.encode(text).ids, text
        for token, piece in zip(found.ids, found.pieces, strict=True):
            written = made.id_to_token(token)
            assert piece == written or written not in ADDED


@pytest.mark.parametrize("prefix", [True, False])
@pytest.mark.parametrize("added", [ADDED, ["\n\n"], ["the"], ["▁the", "<td>"], ["▁▁", "▁▁▁"]])
def test_added_tokens_of_a_file_by_scores_are_those_of_sentencepiece(added, prefix):
    sentencepiece = pytest.importorskip("sentencepiece", reason="what tokens are compared with")
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS * 9), model_writer=written, model_type="bpe", minloglevel=2,
        vocab_size=340, hard_vocab_limit=False, byte_fallback=True, add_dummy_prefix=prefix,
        normalization_rule_name="identity", remove_extra_whitespaces=False,
        user_defined_symbols=added, control_symbols=["lowest"],
    )  # fmt: skip
    theirs = sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())
    ids = range(theirs.vocab_size())
    own = {theirs.piece_to_id(each.replace(" ", "▁")) for each in added}
    kinds = [(theirs.is_unknown, 2), (theirs.is_control, 3), (own.__contains__, 4)]
    kinds += [(theirs.is_byte, 6), (lambda _: True, 1)]
    fields = {
        "model": "llama",
        "tokens": [theirs.id_to_piece(each) for each in ids],
        "scores": [theirs.get_score(each) for each in ids],
        "token_type": [next(kind for of, kind in kinds if of(each)) for each in ids],
        "add_bos_token": False,
        "add_space_prefix": prefix,
    }
    ours = from_fields({f"tokenizer.ggml.{name}": each for name, each in fields.items()}, "a.gguf")
    for text in [*tried(str(added)), *TEXTS, "a\n\nb", "<td>the</td>"]:
        assert list(ours.encode(text).ids) == theirs.encode(text), text


def test_what_was_added_to_a_file_matches_the_text_as_it_is_typed():
    made = trained(byte_level=False)
    fields = fields_of(made, "llama", bos_token_id=1)
    fields["tokenizer.ggml.tokens"] += ["\n\n", "the", "<td>", "<turn>"]
    fields["tokenizer.ggml.token_type"] += [4, 4, 4, 4]
    n = made.get_vocab_size()
    fields["tokenizer.ggml.scores"] = [-float(token) for token in range(n + 4)]
    ours = from_fields(fields, "some.gguf")
    assert ours.encode("a\n\nb").pieces[-2:] == ("\n\n", "b")
    assert ours.encode("a the").pieces[-2:] == (" ", "the"), "the blank before it stays"
    assert n + 2 in ours.encode("a<td>").ids
    assert n + 3 not in ours.encode("a<turn>").ids, "it would steer the model"
    assert ours.control_words("a<td><turn>") == ("<turn>",)


# --- what costs much -----------------------------------------------------------------------------
def replaced(content):
    return {"type": "Replace", "pattern": {"String": "t"}, "content": content}


def in_a_row(step, times):
    return {"type": "Sequence", "normalizers": [step] * times}


def around(times, others=0, of_each=1):
    text = [{"Sequence": {"id": "A", "type_id": 0}}] * times
    text += [{"SpecialToken": {"id": "[SEP]", "type_id": 0}}] * others
    sep = {"id": "[SEP]", "ids": [2] * of_each, "tokens": ["[SEP]"] * of_each}
    known = {"special_tokens": {"[SEP]": sep}}
    return {"type": "TemplateProcessing", "single": text, "pair": text, **known}


def changed_model(vocabulary):
    return {"model": word_pieces()["model"] | {"vocab": vocabulary}}


COSTLY = {
    "a million times as long": (lambda: {"normalizer": in_a_row(replaced("t" * 40), 4)}, "at most"),
    "for ever": (lambda: {"normalizer": in_a_row(replaced("t" * 40), 9)}, "was stopped"),
    "a long beginning": (
        lambda: {"normalizer": {"type": "Prepend", "prepend": "t" * 10**6}}, "1,000,081"
    ),
    "a text many times": (lambda: {"post_processor": around(40_000)}, "makes tokens"),
    "many values": (lambda: {"comment": [0] * 5_000_001}, "5,000,0"),
    "many tokens": (lambda: changed_model({str(at): at for at in range(2**19 + 1)}), "524,289"),
    "many tokens around": (lambda: {"post_processor": around(1, 1_000)}, "it puts 1,000, but"),
    "a token of many": (lambda: {"post_processor": around(1, 1, 33)}, "it puts 33, but at most 32"),
    "a text eight times": (lambda: {"post_processor": around(8)}, "tokens of a text it puts"),
    "long tokens": (lambda: changed_model({"[UNK]": 0, "a" * 2**26: 1}), "characters"),
}  # fmt: skip


QUICK = COSTLY.keys() - {"for ever", "many tokens"}


@pytest.mark.parametrize("name", marked(COSTLY, QUICK, pytest.mark.slow("5 s: up to the bound")))
def test_a_small_file_that_would_cost_much_is_refused_in_words(name):
    changes, words = COSTLY[name]
    started = time.process_time()
    with pytest.raises(ModelRefused, match=words) as refused:
        from_json(word_pieces() | changes())
    assert len(str(refused.value)) < 250
    assert time.process_time() - started < 10


def byte_pairs(merges, **others):
    words = {each: at for at, each in enumerate(["a", "b", "##b", "ab"])}
    return {"model": {"type": "BPE", "vocab": words, "merges": merges, **others}}


@pytest.mark.parametrize(("said", "words"), [
    (byte_pairs(["a b", "b a"]), "merge 2, of “b” and “a”, needs “ba”, which is none of its words"),
    (byte_pairs([["a", "c"]]), "needs “c”"),
    (byte_pairs(["a  b"]), "merge 1 of its words is no pair of tokens"),
    (byte_pairs([["a", "b"], ["a", 3]]), "merge 2 of its words is no pair of tokens"),
    (byte_pairs([{"a": "b"}]), "merge 1 of its words is no pair of tokens"),
])  # fmt: skip
def test_merges_that_do_not_fit_are_refused_before_the_library_reads_them(monkeypatch, said, words):
    asked = []
    monkeypatch.setattr(tokenizers, "Tokenizer", SimpleNamespace(from_str=asked.append))
    with pytest.raises(cutting.NotTaken) as refused:
        cutting.Cutter(json.dumps(word_pieces(**said)).encode())
    assert words in str(refused.value)
    assert asked == []


@pytest.mark.parametrize("merges", [["a b"], [["a", "b"]], ["#version: 0.2", "a b"]])
@pytest.mark.parametrize("others", [{}, {"continuing_subword_prefix": "##"}])
def test_merges_that_fit_are_taken(merges, others):
    said = byte_pairs(merges, **others)["model"]
    if others:
        said["merges"] = [
            each if "version" in each else json.loads(json.dumps(each).replace("b", "##b"))
            for each in merges
        ]
    theirs = word_pieces(model=said, post_processor=None, added_tokens=[])
    tokenizers.Tokenizer.from_str(json.dumps(theirs))  # the library takes them too
    assert from_json(theirs).encode("ab").pieces == ("ab",)


def test_more_words_than_any_model_has_are_refused_before_the_library_reads_them(monkeypatch):
    asked = []
    monkeypatch.setattr(tokenizers, "Tokenizer", SimpleNamespace(from_str=asked.append))
    monkeypatch.setattr(cutting, "MOST_TOKENS", 20)
    many = word_pieces(**changed_model({str(at): at for at in range(21)}))
    with pytest.raises(cutting.NotTaken, match="it has 21 tokens, but at most 20"):
        cutting.Cutter(json.dumps(many).encode())
    assert asked == []
    fields = GOOD | {"tokenizer.ggml.tokens": [str(at) for at in range(2**19 + 1)]}
    with pytest.raises(ModelRefused, match="524,289 words, but at most 524,288"):
        from_fields(fields, "some.gguf")


def test_a_text_that_takes_too_long_is_refused_and_the_next_is_cut(monkeypatch):
    def ended_at_once(_, kill):
        return SimpleNamespace(start=kill, cancel=lambda: None)

    ours, worn = from_json(word_pieces()), from_json(word_pieces())
    with monkeypatch.context() as patched:
        patched.setattr(tokenizer, "Timer", ended_at_once)
        for each in (ours, *[worn] * (tokenizer.MOST_STARTS + 1)):
            with pytest.raises(ValueError, match="was stopped"):
                each.encode("the cat")
    assert ours.encode("the cat").ids == (1, 5, 3, 2)
    with pytest.raises(ValueError, match="was stopped"):  # it was tried often enough
        worn.encode("the cat")
    assert worn.piece(3) == "cat", "no matter what cuts"


def test_what_cuts_ends_with_what_asks():
    ours = from_json(word_pieces())
    running = ours._cutter._running
    del ours
    gc.collect()
    assert running.poll() is not None


def word_pieces(**others):
    return json.loads(Path(__file__).with_name("word_pieces.json").read_text()) | others


def test_an_encoder_puts_its_tokens_around_a_text_and_says_what_it_does_not_know():
    found = from_json(word_pieces()).encode("The cats, the zebra, the cats")
    assert found.pieces[:4] == ("[CLS]", "the", "cat", "##s")
    assert found.pieces[-1] == "[SEP]"
    assert len(found.ids) == 12  # neither cut after 4 nor filled up to 9
    assert found.unknown == (",", "zebra", ",")


def test_a_control_token_that_is_typed_is_text():
    assert 2 not in from_json(word_pieces()).encode("[SEP] the").ids[1:-1]


def added(token):
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
    return [{"id": token, "content": "new", **flags}]


MODEL = "its words and how they are found (model) is incomplete or of an unknown kind ("


@pytest.mark.parametrize(("said", "words"), [
    ({}, MODEL),
    ({"model": 3}, MODEL),
    (word_pieces(model={"type": "WordPiece", "vocab": {"a": -1}}), MODEL),
    (word_pieces(model={"type": "Own", "code": "import os"}), MODEL),
    (word_pieces(pre_tokenizer={"type": "Split", "pattern": {"Regex": "("}}), "(pre_tokenizer)"),
    (word_pieces(added_tokens=[{"id": "x"}]), "the tokens that were added (added_tokens)"),
    (word_pieces(added_tokens=7), "the tokens that were added (added_tokens)"),
    (word_pieces(version="9"), "a setting of it is incomplete or not known (Unknown"),
    (word_pieces(added_tokens=added(2)), "“[SEP]” and “new” are both its token 2"),
    (word_pieces(added_tokens=added(99)), "“new” is its token 99, but would be read as"),
    (b'{"model"', "it is cut off, or no JSON"),
])  # fmt: skip
def test_a_tokenizer_that_cannot_be_is_refused_in_words(said, words):
    with pytest.raises(ModelRefused, match=r"tokenizer\.json cannot be read: ") as refused:
        from_json(said)
    assert len(str(refused.value)) < 200
    assert words in str(refused.value)
    assert " column " not in str(refused.value).partition("JSON")[0], "of what we have written"


GOOD = {
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.pre": "gpt-2",
    "tokenizer.ggml.tokens": ["a", "b", "ab"],
    "tokenizer.ggml.merges": ["a b"],
}


@pytest.mark.parametrize(("changed", "words"), [
    ({"model": "rwkv"}, "“rwkv”, but must be gpt2 or llama"),
    ({"model": None}, "does not say tokenizer.ggml.model"),
    ({"pre": "of-tomorrow"}, "“of-tomorrow”: a text is cut in this way by none"),
    ({"pre": None}, "does not say tokenizer.ggml.pre"),
    ({"tokens": None}, "no list of words tokenizer.ggml.tokens"),
    ({"tokens": [1, 2]}, "no list of words tokenizer.ggml.tokens"),
    ({"tokens": ["a", "a", "b"]}, "has a token twice"),
    ({"merges": ["ab"]}, "no pair of tokens"),
    ({"merges": ["a c"]}, "cannot be made"),
    ({"token_type": [1]}, "no list of 3 numbers"),
    ({"token_type": ["x", "y", "z"]}, "no list of 3 numbers"),
    ({"add_bos_token": True}, "does not say which"),
    ({"add_bos_token": True, "bos_token_id": 3}, "does not say which"),
    ({"model": "llama"}, "scores"),
    ({"model": "llama", "scores": [0.0] * 3, "unknown_token_id": 9}, "no token for what is"),
])  # fmt: skip
def test_fields_of_a_tokenizer_that_cannot_be_are_refused(changed, words):
    fields = GOOD | {f"tokenizer.ggml.{name}": each for name, each in changed.items()}
    with pytest.raises(ModelRefused, match=words):
        from_fields(fields, "some.gguf")


def test_the_fields_of_a_tokenizer_that_can_be_are_taken():
    assert from_fields(GOOD, "some.gguf").encode("abba").ids == (2, 1, 0)


def test_a_text_that_is_too_long_or_no_text_is_said():
    ours = from_fields(GOOD, "some.gguf")
    with pytest.raises(ValueError, match="no text"):
        ours.encode("")
    with pytest.raises(ValueError, match="100,001 characters"):
        ours.encode("a" * 100_001)
    ours.encode("\ud800")  # half of a pair, as a browser may send it: no error
