"""`show`: what it draws, and what it says of what it cannot draw."""

import base64
import io
import re
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image

from attention_core import EXAMPLES, Trace, attend, attend_heads, compare, embed, recorded
from attention_core import operations as ops
from attention_explorer import show
from attention_ui.notebook.heads import HeadsPicture
from attention_ui.notebook.returned import NO_WEIGHTS, RECORD_IT
from attention_ui.notebook.show import MOST_TOKENS
from attention_ui.picture.table import MOST_POINTED
from tiny_models import inputs_of, tiny
from traces import lesson_trace

TOKENS = ["The", "cat", "sat", "on", "it"]


def weights(*shape, seed=1):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed)).softmax(dim=-1)


def drawn(picture):
    return [each.step.name for each in picture.layout.matrices]


def test_a_trace_is_drawn_as_what_it_is_about():
    assert drawn(show(lesson_trace("simplified/wild_cat"))) == [
        "scores", "weights", "embeddings", "context_vectors"
    ]  # fmt: skip
    layer = show(attend_heads(embed(EXAMPLES["wild_cat"].inputs), EXAMPLES["wild_cat"].heads))
    assert {"W_query", "head_weights", "output"} <= set(drawn(layer))
    assert layer.layout.sentence is not None


@pytest.mark.parametrize("name", ["scores", "weights", "context_vectors"])
def test_a_step_is_drawn_as_its_equation_with_the_names_of_its_tokens(name):
    trace = lesson_trace("simplified/wild_cat")
    by_name, alone = show(trace, name), show(trace[name])
    assert drawn(by_name) == drawn(alone) == [*(i.name for i in trace[name].inputs), name]
    assert by_name._columns() == alone._columns()
    assert any("cat" in (where or "") for where in alone._columns()["where"])


@pytest.mark.parametrize("front", [(), (3,), (1, 3), (2, 3), (2, 1, 3), (1, 2, 3)])
def test_weights_of_anyone_are_the_numbers_that_are_drawn(front):
    given = weights(*front, 5, 5)
    picture = show(given, TOKENS)
    shown = torch.stack([each.drawn for each in picture.layout.matrices])
    n_heads = front[-1] if front else 1
    assert torch.equal(shown, given.reshape(-1, n_heads, 5, 5)[0])
    n_layers = given.numel() // (25 * n_heads)
    assert (picture.stops is not None) == (n_layers > 1)
    if picture.stops:
        assert picture.stops.most == n_layers - 1
    assert picture.notices == []


def test_the_layers_of_a_model_are_a_slider_and_one_is_chosen_by_its_number():
    layers = tuple(weights(1, 3, 5, 5, seed=seed) for seed in range(4))
    assert show(layers, TOKENS).stops.most == 3
    for layer, head in ((2, 1), (-2, -2), (np.int64(2), torch.tensor(1))):
        (one,) = show(layers, TOKENS, layer=layer, head=head).layout.matrices
        assert torch.equal(one.drawn, layers[2][0, 1])


def test_a_picture_shows_what_was_there_when_it_was_asked_for():
    given = weights(5, 5)
    picture, before = show(given), given.clone()
    given.zero_()
    assert torch.equal(picture.layout.matrices[0].drawn, before)


WRONG = {
    "a number": (lambda: show(torch.tensor(1.0)), "a single number"),
    "one axis": (lambda: show(weights(5)), "5, but should be (query, key)"),
    "a batch of 2": (lambda: show(weights(2, 2, 3, 5, 5)), "a batch of 1"),
    "nothing": (lambda: show(torch.zeros(0, 5)), "0 × 5"),
    "words": (lambda: show("weights"), "no weights"),
    "nan": (lambda: show(torch.tensor([[0.5, torch.nan]])), "nan at [0, 1]"),
    "inf": (lambda: show(torch.tensor([[torch.inf, 0.5]])), "inf at [0, 0]"),
    "long": (lambda: show(weights(257, 257)), f"257 keys: a picture has room for {MOST_TOKENS}"),
    "a batch, one layer": (lambda: show((weights(2, 3, 5, 5),)), "[each[:1] for each in weights]"),
    "beams": (lambda: show([[weights(2, 3, 5, 5)]]), "[[each[:1] for each in step] for step in"),
    "beams alone": (lambda: show([[weights(2, 3, 5, 5)]]), "show all that generate returned"),
    "token ids": (lambda: show(torch.arange(25).view(5, 5)), "such as ids (torch.int64)"),
    "ids by name": (lambda: show({"input_ids": torch.arange(7)[None]}), "no rows of input_ids sum"),
    "ids in layers": (lambda: show((torch.ones(1, 3, 5, 5).long(),)), "whole numbers"),
    "a list of ids": (lambda: show([[464, 3797], [3332, 319]]), "give them as floats"),
    "a mask": (lambda: show(torch.ones(5, 5).bool()), "true and false (torch.bool)"),
    "logits by name": (lambda: show({"scores": weights(5, 5) * 3}), "show(weights['scores'])"),
    "a layer less": (lambda: show([weights(3, 5, 5), None]), "layer 1 has no weights (None)"),
    "uneven layers": (lambda: show([weights(3, 5, 5), weights(2, 5, 5)]), "layer 1 is 2 × 5 × 5"),
    "a model": (lambda: show(torch.nn.Linear(2, 2)), "this is a model: show what it returns"),
    "meta": (lambda: show(weights(5, 5).to("meta")), "on the meta device, without numbers"),
    "complex": (lambda: show(weights(5, 5).to(torch.complex64)), "complex"),
    "nested": (lambda: show(torch.nested.nested_tensor([weights(5, 5)])), "nested"),
    "one token": (lambda: show(weights(5, 5), 5), "a list of strings"),
    "True": (lambda: show(weights(2, 3, 5, 5), layer=True), "no layer True"),
    "a layer before": (lambda: show(weights(2, 3, 5, 5), layer=-3), "no layer -3"),
    "names of a trace": (lambda: show(lesson_trace("simplified/wild_cat"), query_tokens=TOKENS),
        "leave it out"),
    "names of a step": (lambda: show(lesson_trace("simplified/wild_cat")["weights"], TOKENS),
        "its own names"),
    "tokens": (lambda: show(weights(5, 5), TOKENS[:4]), "4 tokens but 5 keys"),
    "queries": (lambda: show(weights(4, 5), TOKENS, query_tokens=TOKENS), "5 query_tokens but 4"),
    "one string": (lambda: show(weights(3, 3), "cat"), "a list of strings"),
    "ids": (lambda: show(weights(2, 2), [1, 2]), "a list of strings"),
    "a layer": (lambda: show(weights(2, 3, 5, 5), layer=2), "no layer 2: choose one from 0 to 1"),
    "a head": (lambda: show(weights(3, 5, 5), head="1"), "no head '1': choose one from 0 to 2"),
    "a step": (lambda: show(attend(embed(EXAMPLES["wild_cat"].inputs)), "wieghts"), "'wieghts'"),
    "no steps": (lambda: show(Trace()), "no steps yet"),
}  # fmt: skip

NOTHING = [
    *(None, (), (None, None), ((None,),), {}, {"attentions": None}, {"logits": 1}),
    {"text_model_output": {"attentions": (None, None)}, "attentions": None},
    {"logits": weights(5, 5), "attentions": None},
]


@pytest.mark.parametrize("given", NOTHING, ids=str)
def test_where_a_model_returned_no_weights_it_is_said_how_to_get_them(given):
    with pytest.raises(ValueError, match=re.escape(NO_WEIGHTS)):
        show(given, TOKENS)


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_drawn_is_said(name):
    show_it, words = WRONG[name]
    with pytest.raises(ValueError, match=re.escape(words)):
        show_it()


def test_a_step_that_is_too_large_says_its_size():
    trace = Trace()
    trace.step("scores", ops.Draw("normal", (300, 2), seed=1), axes=("query", "key"))
    with pytest.raises(ValueError, match="scores is query 300 × key 2"):
        show(trace)
    assert "No picture: scores" in trace._repr_mimebundle_()["text/plain"]


@pytest.fixture(scope="module")
def returned():
    """What a decoder, and an encoder with a decoder, return: with and without weights."""
    models = pytest.importorskip("transformers", reason="models to show the weights of")
    torch.manual_seed(1)
    small = {"vocab_size": 50, "pad_token_id": 0, "eos_token_id": 1}
    decoder = models.GPT2Config(**small, n_positions=64, n_embd=24, n_layer=3, n_head=4)
    window = models.MistralConfig(
        **small, hidden_size=24, intermediate_size=5, num_hidden_layers=3,
        num_attention_heads=4, num_key_value_heads=2, sliding_window=4,
    )  # fmt: skip
    both = models.T5Config(
        **small, d_model=16, d_kv=4, d_ff=5, num_layers=2, num_heads=3, decoder_start_token_id=0
    )

    def made(kind, config, attention="eager"):
        return kind._from_config(deepcopy(config), attn_implementation=attention).eval()

    ids, other = torch.arange(2, 9)[None], torch.arange(2, 7)[None]
    asked = {"output_attentions": True}
    wrote = {**asked, "return_dict_in_generate": True, "do_sample": False, "max_new_tokens": 4}
    wrote["min_new_tokens"] = 4
    found = {}
    with torch.no_grad():
        for name, kind, config in (
            ("decoder", models.GPT2LMHeadModel, decoder),
            ("window", models.MistralForCausalLM, window),
        ):
            model = made(kind, config)
            found[name] = model(ids, **asked)
            found[f"{name}, a tuple"] = model(ids, **asked, return_dict=False)
            found[f"{name} without"] = model(ids)
            found[f"{name} sdpa"] = made(kind, config, "sdpa")(ids, **asked)
            found[f"{name} wrote"] = written = model.generate(ids, **wrote)
            found[f"{name} read"] = model(written.sequences[:, :-1], **asked)
            found[f"{name} anew"] = model.generate(ids, **wrote, use_cache=False)
            known = model(ids[:, :5], use_cache=True).past_key_values
            found[f"{name} past"] = model(ids[:, 5:], past_key_values=known, **asked)
        model = made(models.GPT2LMHeadModel, decoder)
        kept = {"cache_implementation": "static", "cache_config": {"max_cache_len": 32}}
        found["static"] = model.generate(ids, **wrote, **kept)
        found["static read"] = model(found["static"].sequences[:, :-1], **asked)
        model = made(models.T5ForConditionalGeneration, both)
        found["both"] = model(input_ids=ids, decoder_input_ids=other, **asked)
        found["both wrote"] = model.generate(ids, **wrote)
        found["both read"] = model(ids, decoder_input_ids=found["both wrote"].sequences[:, :-1],
                                   **asked)  # fmt: skip
        found["both without"] = model(input_ids=ids, decoder_input_ids=other)
    return found


def names(count, of="token"):
    return [f"{of} {at}" for at in range(count)]


def asking(picture):
    return picture.layout.sentence.askers


@pytest.mark.parametrize("name", ["decoder without", "decoder sdpa", "window sdpa", "both without"])
def test_a_model_s_output_without_weights_says_how_to_load_it(returned, name):
    for given in (returned[name], getattr(returned[name], "attentions", None)):
        with pytest.raises(ValueError, match=re.escape(RECORD_IT)):
            show(given, names(7))


@pytest.mark.parametrize("name", ["decoder", "decoder, a tuple", "window"])
def test_a_whole_output_is_taken(returned, name):
    own = returned[name.removesuffix(", a tuple")].attentions
    picture = show(returned[name], names(7))
    assert picture.stops.most == len(own) - 1
    assert torch.equal(torch.stack([each.drawn for each in picture.layout.matrices]), own[0][0])
    assert asking(picture) == ()


@pytest.mark.parametrize("name", ["decoder", "window", "static"])
def test_what_generate_returns_is_what_one_run_over_all_of_it_gives(returned, name):
    written = returned["static" if name == "static" else f"{name} wrote"]
    for given in (written, written.attentions, returned.get(f"{name} anew", written)):
        for at, read in enumerate(returned[f"{name} read"].attentions):
            picture = show(given, names(11), layer=at)  # the last token was not read
            shown = torch.stack([each.drawn for each in picture.layout.matrices])
            assert torch.allclose(shown, read[0], atol=1e-6)
            assert (picture.notices, asking(picture)) == ([], ())


BEAMS = {
    "beams": ("decoder", {}),
    "beams anew": ("decoder", {"use_cache": False}),
    "beams at random": ("decoder", {"do_sample": True}),
    "two texts": ("decoder", {"num_return_sequences": 2}),
    "two prompts": ("decoder", {"prompts": 2}),
    "both": ("both", {}),
}
"""The model, and how it writes."""


def wrote_with_beams(kind, seed, prompts=1, **how):
    """A model that any three beams change places in, what it read, and what it wrote."""
    models = pytest.importorskip("transformers", reason="models that write with beams")
    small = {"vocab_size": 50, "pad_token_id": 0, "eos_token_id": 1}
    torch.manual_seed(seed)
    if kind == "decoder":
        config = models.GPT2Config(**small, n_embd=24, n_layer=3, n_head=4, bos_token_id=1)
        model = models.GPT2LMHeadModel._from_config(config, attn_implementation="eager").eval()
    else:
        config = models.T5Config(
            **small, d_model=16, d_kv=4, d_ff=5, num_layers=2, num_heads=3, decoder_start_token_id=0
        )
        model = models.T5ForConditionalGeneration._from_config(
            config, attn_implementation="eager"
        ).eval()
    ids = torch.stack([torch.arange(2 + at, 9 + at) for at in range(prompts)])
    with torch.no_grad():
        for each in model.parameters():
            torch.nn.init.normal_(each, std=0.4)
        written = model.generate(
            ids, num_beams=3, max_new_tokens=6, min_new_tokens=2, output_attentions=True,
            attention_mask=torch.ones_like(ids), return_dict_in_generate=True, **how,
        )  # fmt: skip
    return model, ids, written


@pytest.mark.parametrize("case", BEAMS)
def test_with_beams_the_rows_are_those_of_the_text_that_was_written(case):
    kind, how = BEAMS[case]
    n_other = 0
    for seed in range(4):
        model, ids, written = wrote_with_beams(kind, seed, **how)
        # What was written behind an end belongs to no text.
        n_written = int((written.beam_indices[0] >= 0).sum())
        n_before = 1 if kind == "both" else ids.shape[-1]
        text = written.sequences[:1, : n_before + n_written]
        with torch.no_grad():
            if kind == "both":
                read = model(ids, decoder_input_ids=text[:, :-1], output_attentions=True)
                wanted = {
                    "cross_attentions": read.cross_attentions,
                    "decoder_attentions": read.decoder_attentions,
                }
            else:
                wanted = {"attentions": model(text[:, :-1], output_attentions=True).attentions}
        for name, layers in wanted.items():
            alone = {name: written[name], "beam_indices": written.beam_indices}
            for given in (
                alone,
                *([written] if name in ("attentions", "cross_attentions") else []),
            ):
                for at, layer in enumerate(layers):
                    picture = show(given, layer=at)
                    shown = torch.stack([each.drawn for each in picture.layout.matrices])
                    assert torch.allclose(shown, layer[0], atol=1e-5)
            several = len(written.sequences) > 1
            told = [each for each in picture.notices if "texts that were written" in each]
            assert len(told) == several
        if kind == "decoder":
            show(written, names(text.shape[-1]))  # the token that was written last was not read
        n_other += bool((written.beam_indices[0] > 0).any())
    assert n_other > 1, "the first beam alone would do"


def test_weights_are_found_under_other_names():
    models = pytest.importorskip("transformers", reason="a model with two texts in one output")
    wide = {"hidden_size": 16, "intermediate_size": 5, "num_attention_heads": 2}
    text = wide | {"vocab_size": 50, "num_hidden_layers": 3, "eos_token_id": 1, "bos_token_id": 2}
    image = wide | {"num_hidden_layers": 2, "image_size": 16, "patch_size": 8}
    config = models.CLIPConfig(text_config=text, vision_config=image, projection_dim=8)
    model = models.CLIPModel._from_config(config, attn_implementation="eager").eval()
    asked = {"input_ids": torch.arange(2, 9)[None], "pixel_values": torch.ones(1, 3, 16, 16)}
    with torch.no_grad():
        output, without = model(**asked, output_attentions=True), model(**asked)
    for found, own, n_tokens in (
        (show(output, names(7)), output.text_model_output, 7),
        (show(output.vision_model_output, names(5)), output.vision_model_output, 5),
    ):
        shown = torch.stack([each.drawn for each in found.layout.matrices])
        assert torch.equal(shown, own.attentions[0][0])
        assert found.stops.most == len(own.attentions) - 1
        assert shown.shape[-1] == n_tokens
    assert show(output).notices == [
        "These are the text_model_output.attentions. There are others: "
        "show(output.vision_model_output.attentions)."
    ]
    with pytest.raises(ValueError, match=re.escape(NO_WEIGHTS)):
        show(without)


def test_a_dict_of_weights_by_name_is_drawn():
    first, second = weights(5, 5), weights(5, 5, seed=2)
    assert torch.equal(show({"mine": first}, TOKENS).layout.matrices[0].drawn, first)
    assert torch.equal(show({"mine": first.tolist()}, TOKENS).layout.matrices[0].drawn, first)
    for front in ((), (1,), (1, 1)):
        named = {"h.0": first.expand(*front, 5, 5), "h.1": second.expand(*front, 5, 5)}
        picture = show({"logits": weights(1, 5, 50) * 9, **named}, TOKENS)
        assert picture.stops.most == 1
        assert picture.notices == ["Each layer here is one of these, in this order: h.0, h.1."]
        (one,) = show(named, TOKENS, layer=1).layout.matrices
        assert torch.equal(one.drawn, second)
    picture = show({"mine": first, "of a longer text": weights(7, 7)}, TOKENS)
    assert torch.equal(picture.layout.matrices[0].drawn, first)
    assert picture.notices == [
        "These are the weights of mine. There are others: show(weights['of a longer text'])."
    ]
    (*_, said) = show({f"h.{at}": first for at in range(9)}).notices
    assert said.endswith("h.4, h.5 and 3 more.")


def test_two_sentences_stand_where_queries_are_not_the_keys(returned):
    english, german = ["The", "house", "is", "small"], ["Das", "Haus", "ist", "klein", "."]
    cross = show(weights(4, 5), german, query_tokens=english)
    assert (asking(cross), cross.layout.sentence.tokens) == (tuple(english), tuple(german))
    copied = show(weights(5, 5), german, query_tokens=german)
    both = returned["both"]
    for picture, n_queries, n_keys in (
        (copied, 5, 5),
        (show(both.cross_attentions, names(7)), 5, 7),
        (show(returned["both wrote"], names(7)), 4, 7),
        (show({"cross_attentions": [weights(3, 5, 5)]}, TOKENS), 5, 5),
        (show(returned["decoder past"], names(7)), 2, 7),
    ):
        found = picture.layout.sentence
        assert (len(found.askers), len(found.tokens)) == (n_queries, n_keys)
    read = returned["both read"]
    for name in ("cross_attentions", "decoder_attentions"):
        whole = show(getattr(returned["both wrote"], name), layer=1)
        shown = torch.stack([each.drawn for each in whole.layout.matrices])
        assert torch.allclose(shown, getattr(read, name)[1][0], atol=1e-6)
    assert asking(show(both.decoder_attentions)) == asking(show(both.encoder_attentions)) == ()
    assert "show(output.decoder_attentions)" in show(both).notices[0]


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
def test_weights_of_16_bits_raise_no_alarm(kind):
    rounded = weights(40, 7, 7).to(kind)
    for given in (rounded, rounded.float(), rounded.double()):
        picture = show(given)
        assert picture.notices == ["The first 32 of 40 heads are drawn: head= chooses one."]
        assert [word.text for word in picture.layout.wide.words if "loud" in word.look] == []
    rounded[3, 2] *= 2
    assert show(rounded).notices[1].startswith("Row 2 of head 3 sums to 2")


@pytest.mark.parametrize(
    "given", [weights(5, 5).to_sparse(), weights(5, 5).to_sparse_csr(), pd.DataFrame(weights(5, 5)),
              weights(5, 5).tolist(), [*weights(5, 5).numpy()], torch.nn.Parameter(weights(5, 5))]
)  # fmt: skip
def test_weights_of_any_make_are_the_same_numbers(given):
    (one,) = show(given, iter(TOKENS)).layout.matrices
    assert torch.equal(one.drawn, weights(5, 5))


SIZES = {
    # shape: the slider's last layer, and heads that are drawn at a time
    (12, 12, 40, 40): (11, 12),
    (12, 12, 20, 80): (11, 12),
    (30, 32, 24, 24): (29, 32),
}

SLOW = pytest.mark.slow("6 s: builds a picture of half a million numbers")


@pytest.mark.parametrize(
    "shape", [pytest.param(each, marks=[SLOW] if np.prod(each) > 300_000 else []) for each in SIZES]
)
def test_ordinary_sizes_are_drawn(shape):
    most, n_heads = SIZES[shape]
    given = weights(*shape)
    picture = show(given, names(shape[-1]))
    assert (picture.stops.label, picture.stops.most) == ("Layer", most)
    assert len(picture.layout.matrices) == n_heads
    only_itself = n_heads * shape[-2] * shape[-1] > MOST_POINTED  # what a number says, then
    assert len(picture.notices) == only_itself
    assert torch.equal(picture.layout.matrices[-1].drawn, given.flatten(0, -3)[n_heads - 1])


LARGE = {
    # shape: layers and heads that are drawn, and what is said
    (12, 200, 200): (1, 12, []),
    (3, 40, 50, 50): (3, 32, ["The first 32 of 40 heads are drawn: head= chooses one."]),
    (16, 256, 256): (1, 16, []),
    (30, 32, 30, 30): (30, 32, []),
    (4, 32, 256, 256): (2, 32, ["The first 2 of 4 layers are drawn: layer= chooses one."]),
}


@pytest.mark.parametrize("shape", LARGE)
def test_heads_of_long_texts_are_images_with_the_same_numbers(shape):
    n_layers, n_heads, said = LARGE[shape]
    given = weights(*shape).reshape(-1, *shape[-3:])
    picture = show(given if len(shape) == 4 else given[0], tokens := names(shape[-1]))
    assert isinstance(picture, HeadsPicture)
    assert picture.notices == said
    assert torch.equal(picture.weights, given[:n_layers, :n_heads])
    assert picture.keys == picture.queries == tuple(tokens)
    one = show(given, layer=-1, head=3)
    shown = one.weights if isinstance(one, HeadsPicture) else one.layout.matrices[0].drawn
    assert torch.equal(shown.reshape(shape[-2:]), given[-1, 3])


def test_heads_as_images_have_words_a_still_one_and_no_markup():
    given = weights(2, 3, 150, 150)
    given[1, 2, 7] *= 2
    picture = show(given, ["<b>x</b>", *names(149)])
    assert picture.notices == ["Row 7 of head 1.2 sums to 2, not 1."]
    bundle = picture._repr_mimebundle_()
    assert "3 heads of 2 layers" in bundle["text/plain"]
    assert "<b>" not in bundle["text/html"]
    still = Image.open(io.BytesIO(base64.b64decode(bundle["image/png"])))
    assert still.size == (300, 300)
    assert len(still.getcolors()) > 9, "an empty sheet"


def test_rows_that_sum_to_something_else_are_drawn_with_a_notice():
    given = weights(5, 5)
    given[2] *= 2
    assert show(given).notices == ["Row 2 of weights sums to 2, not 1."]
    layers = torch.stack([weights(5, 5), given])[:, None]
    for shown in (show(layers), show(layers, layer=1), show(layers, layer=-1, head=0)):
        assert shown.notices == ["Row 2 of weights in layer 1 sums to 2, not 1."]
    assert show(given - 0.3).notices[-1] == "Some weights are below 0, which no share is."


def test_no_text_of_a_person_stands_in_the_html():
    tokens = ["<script>alert(1)</script>", "**bold**", "</script>", "$x$", "'\"&"]
    bundle = show(weights(5, 5), tokens)._repr_mimebundle_()
    for token in tokens[:4]:
        assert token not in re.sub(r'"[A-Za-z0-9+/=]{1000,}"', "", bundle["text/html"])[:-9]
        assert token not in bundle["text/plain"]


def test_a_trace_or_a_step_as_the_last_line_is_the_same_picture():
    trace = lesson_trace("simplified/wild_cat")
    for thing in (trace, trace["weights"]):
        bundle = thing._repr_mimebundle_(include=None, exclude=None)
        assert bundle["text/plain"] == repr(show(thing))
        assert set(bundle) == {"text/plain", "image/png", "text/html"}
        still = Image.open(io.BytesIO(base64.b64decode(bundle["image/png"])))
        assert len(still.getcolors()) > 9, "an empty sheet"
        assert thing._mime_()[0] == "text/html"


# --- a recording --------------------------------------------------------------------------------
def recording(kind, n_tokens=9, **named):
    model = tiny(kind)
    with torch.no_grad(), recorded(model, **named) as seen:
        model(**inputs_of(model, n_tokens))
    return seen


def test_a_recording_is_drawn_as_its_weights_are():
    seen = recording("gpt2", tokens=list("abcdefghi"))
    weights = [each.weights() for each in seen]
    drawn, by_weights = show(seen), show(weights, list("abcdefghi"))
    assert [*map(str, drawn.notices)] == [*map(str, by_weights.notices)] == []
    assert drawn.layout.alt == by_weights.layout.alt
    assert drawn.lists == by_weights.lists
    assert "Layers, from 0: h.1.attn." in show(recording("gpt2", layers=[1])).notices


def test_a_recording_says_which_other_layers_there_are():
    drawn = show(seen := recording("t5"))
    assert any("kind='decoder.block.layer.EncDecAttention'" in each for each in drawn.notices)
    across = show(seen, kind="EncDec", head=1)
    assert across.layout.matrices[0].values.shape == (4, 9)
    with pytest.raises(ValueError, match="no kind"):
        show(seen, kind="vision")


def test_a_batch_asks_which_text():
    model = tiny("bert")
    with torch.no_grad(), recorded(model) as seen:
        model(torch.arange(3, 17).view(2, 7))
    with pytest.raises(ValueError, match="2 texts were recorded: choose one, such as text=0"):
        show(seen)
    assert show(seen, text=1).layout.matrices
    with pytest.raises(ValueError, match="text is for what was recorded"):
        show(torch.eye(3), text=1)


def test_a_step_of_writing_is_chosen_and_what_a_row_lacks_is_explained():
    model = tiny("gpt_oss")
    ids = inputs_of(model)["input_ids"]
    there = torch.ones_like(ids)
    there[0, :2] = 0
    with torch.no_grad(), recorded(model, tokens=[f"t{at}" for at in range(9)]) as seen:
        model(input_ids=ids, attention_mask=there)
    picture = show(seen)
    assert not any("not 1" in each for each in picture.notices), "what made them is known"
    (told,) = (each for each in picture.notices if "attention sink" in each)
    most = max(float((1 - each.weights().sum(-1)).max()) for each in seen)
    assert f"up to {most:.0%} of a row" in told
    with pytest.raises(ValueError, match="there is no step 3"):
        show(seen, step=3)
    with pytest.raises(ValueError, match="step is for what was recorded"):
        show(weights(5, 5), step=0)
    with pytest.warns(UserWarning, match="keeps 9 bytes"), recorded(model, most_bytes=9) as seen:
        model(input_ids=ids)
    with pytest.raises(ValueError, match="nothing was recorded: A recording keeps 9 bytes"):
        show(seen)


def test_a_comparison_draws_ours_theirs_and_their_difference():
    q, k, v = torch.randn(3, 1, 2, 7, 5, generator=torch.Generator().manual_seed(0))

    def mine(q, k, v):
        return (q @ k.mT / 5).softmax(-1) @ v

    found = compare(mine, torch.nn.functional.scaled_dot_product_attention, q, k, v)
    drawn = show(found, head=1)
    assert [each.name for each in drawn.layout.matrices] == ["ours", "theirs", "difference"]
    assert any("divided_by_d" in each for each in drawn.notices)
    assert "text/html" in found._repr_mimebundle_()
    with pytest.raises(ValueError, match="layer is not for a comparison"):
        show(found, layer=0)
    with pytest.raises(ValueError, match="no difference to draw"):
        show(compare({"a": q}, {"a": q}))
