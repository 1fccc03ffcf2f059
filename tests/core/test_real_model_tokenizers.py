"""Text in a model's own tokens, from both kinds of files."""

import json

import pytest

from attention_core.files.refused import ModelRefused
from attention_core.real_model.tokenizer import from_json
from attention_core.real_model.tokenizer_fields import from_fields

tokenizers = pytest.importorskip("tokenizers", reason="real models need requirements-model.txt")

TEXTS = [
    "the lowest tower, then the lower one",
    "  two  spaces ",
    "émoji 😀 日本",
    "12345 67",
    "don't\n\nstop\t!",
    "<s> </s> <|im_start|>",
]
CORPUS = ["the lowest tower then the lower one the the low tower"] * 3 + TEXTS[:2]


def trained(byte_level):
    """A tokenizer trained here: its merges in order are what SentencePiece calls scores."""
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
    read = from_json(json.loads(made.to_str()))
    assert read.encode(text) == found


@pytest.mark.parametrize(
    ("pre", "same"),
    [
        ("deepseek-r1-qwen", "qwen2"),
        ("megrez", "qwen2"),
        ("llama3", "llama-bpe"),
        ("llama-v3", "llama-bpe"),
        ("pixtral", "llama-bpe"),
        ("refact", "smollm"),
        ("phi-2", "gpt-2"),
    ],
)
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
    made = trained(byte_level=True)
    ours = from_json(json.loads(made.to_str()))
    assert "".join(ours.encode("the tower").pieces) == "the tower"
    assert "\\xf0" in "".join(ours.encode("😀").pieces)
    assert ours.id_of("the") is not None
    assert ours.id_of("the tower then") is None
    with pytest.raises(ValueError, match="no token 9999"):
        ours.piece(9999)


def word_pieces(**others):
    vocabulary = ["[UNK]", "[CLS]", "[SEP]", "cat", "##s", "the"]
    return {
        "version": "1.0",
        "truncation": {
            "direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0
        },
        "padding": {
            "strategy": {"Fixed": 9},
            "direction": "Right",
            "pad_to_multiple_of": None,
            "pad_id": 0,
            "pad_type_id": 0,
            "pad_token": "[UNK]",
        },
        "added_tokens": [
            {
                "id": at, "content": vocabulary[at], "single_word": False, "lstrip": False,
                "rstrip": False, "normalized": False, "special": True,
            }
            for at in (0, 1, 2)
        ],
        "normalizer": {
            "type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
            "strip_accents": None, "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "BertProcessing", "sep": ["[SEP]", 2], "cls": ["[CLS]", 1]
        },
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {
            "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {word: at for at, word in enumerate(vocabulary)},
        },
    } | others  # fmt: skip


def test_an_encoder_puts_its_tokens_around_a_text_and_says_what_it_does_not_know():
    ours = from_json(word_pieces())
    found = ours.encode("The cats, the zebra, the cats")
    assert found.pieces[:4] == ("[CLS]", "the", "cat", "##s")
    assert found.pieces[-1] == "[SEP]"
    assert len(found.ids) == 12  # neither cut after 4 nor filled up to 9
    assert found.unknown == (",", "zebra", ",")


def test_a_control_token_that_is_typed_is_text():
    assert 2 not in from_json(word_pieces()).encode("[SEP] the").ids[1:-1]


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"model": 3},
        word_pieces(model={"type": "WordPiece", "vocab": {"a": -1}}),
        word_pieces(model={"type": "Own", "code": "import os"}),
        word_pieces(pre_tokenizer={"type": "Split", "pattern": {"Regex": "("}}),
        word_pieces(added_tokens=[{"id": "x"}]),
        word_pieces(added_tokens=7),
    ],
)
def test_a_tokenizer_that_cannot_be_is_refused_in_words(said):
    with pytest.raises(ModelRefused, match=r"tokenizer\.json cannot be read") as refused:
        from_json(said)
    assert len(str(refused.value)) < 200


GOOD = {
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.pre": "gpt-2",
    "tokenizer.ggml.tokens": ["a", "b", "ab"],
    "tokenizer.ggml.merges": ["a b"],
}


@pytest.mark.parametrize(
    ("changed", "words"),
    [
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
    ],
)
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
