"""Byte-pair encoding against the package `tokenizers`; and its trace against what it learned."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from attention_core.text.byte_level import bytes_of_characters
from attention_core.text.byte_pairs import learn_merges, pre_tokens
from checks import run_anew

letters = st.sampled_from(
    ["ab", "ab ", "aab b", "lowernst ", "aé🙂 ", "a'sA 12.\n\t好", "é\u00a0\u2003x "]
)
some = letters.flatmap(lambda known: st.text(known, min_size=1, max_size=60))
texts = some | st.text(
    st.characters(exclude_categories=["Cs", "Cn", "Co"]), min_size=1, max_size=40
)


def trained(text, n_merges):
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    size = len({*text.encode()}) + n_merges
    made.train_from_iterator([text], trainers.BpeTrainer(vocab_size=size, show_progress=False))
    return made, json.loads(made.to_str())["model"]["merges"]


def in_bytes(written):
    return bytes(bytes_of_characters()[character] for character in written)


@settings(max_examples=200, deadline=None)
@given(texts, texts, st.integers(0, 40))
def test_a_text_gives_the_merges_and_the_cuts_of_the_package(text, other, n_merges):
    oracle, merges = trained(text, n_merges)
    # A token that two merges make is one of the vocabulary, whose size the package is told.
    learned = learn_merges(text, len(merges))
    assert [*learned.pairs] == [tuple(map(in_bytes, pair)) for pair in merges]
    assert {*learned.tokens} == {*map(in_bytes, oracle.get_vocab())}
    known = {*text.encode()}
    unseen = "".join(each for each in other if {*each.encode()} <= known)
    for each in (text, unseen):
        assert learned.cut(each) == [*map(in_bytes, oracle.encode(each).tokens)]
    cut = [part for part, _ in pre_tokenizers.ByteLevel(False).pre_tokenize_str(other)]
    assert [each.encode() for each in pre_tokens(other)] == [*map(in_bytes, cut)]


@given(texts.map(lambda text: text[:24]))
def test_the_trace_counts_and_joins_as_was_learned(text):
    learned = learn_merges(text, 9)
    run_anew(learned.trace)
    for at in range(len(learned.merges)):
        counts = learned.trace[f"pair_counts_{at + 1}"].value.numpy()
        assert int(counts.sum()) == sum(n for n, *_ in learned.counts[at])
        assert all(counts[*pair] == n for n, *pair in learned.counts[at])
        rows = learned.trace[f"pieces_{at + 1}"].value.tolist()
        for (word, _), row in zip(learned.words, rows, strict=True):
            known = [learned.tokens[token] for token in row if token >= 0]
            assert known == learned.cut(word, at + 1)


def test_no_text_is_refused_and_a_text_that_is_learned_whole_has_no_pair_left():
    with pytest.raises(ValueError, match="no text to learn from"):
        learn_merges("", 3)
    assert learn_merges("aa aa", 50).counts[-1] == ()
