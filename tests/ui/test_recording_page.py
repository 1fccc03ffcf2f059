"""The page of a real model with a recording: what is drawn of it, and files that are none."""

import json
import struct

import pytest
import torch
import transformers
from safetensors import safe_open
from safetensors.torch import save_file

from attention_core import load_recording, recorded
from attention_ui.frame.started import RECORDING
from attention_ui.lessons.real_model import recorded as card
from checks import same
from tiny_models import inputs_of, tiny
from visiting import has_no_exception, noted_layouts, rendered, stands, texts, visit

TOKENS = ["<b>The</b>", "*cat*", "$sat$", "<script>alert(1)</script>", ":red[it]", "is", "[a](b)"]
TOKENS += ["and", "grey"]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A recording of a text that a model wrote on by three tokens."""
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        hidden_size=24, num_hidden_layers=2, num_attention_heads=3, num_key_value_heads=3,
        vocab_size=99, intermediate_size=32, eos_token_id=2, pad_token_id=0, bos_token_id=1,
        initializer_range=0.3,
    )  # fmt: skip
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    with recorded(model, tokens=TOKENS) as seen:
        model.generate(torch.arange(3, 10)[None], max_new_tokens=3, do_sample=False,
                       eos_token_id=None)  # fmt: skip
    path = tmp_path_factory.mktemp("recording") / "seen.safetensors"
    seen.save(path)
    return path


def opened(monkeypatch, path, **link):
    monkeypatch.setenv(RECORDING, str(path))
    with noted_layouts() as layouts:
        at = visit("real_model", card="recording", **link)
    has_no_exception(at)
    return at, layouts


def test_without_a_recording_there_is_no_card(monkeypatch):
    monkeypatch.delenv(RECORDING, raising=False)
    at = stands(visit("real_model"))
    assert "Your recording" not in [each.value for each in at.header]


@pytest.mark.parametrize(("head", "row", "step"), [("1.2", "3", "all"), ("0.1", "last", "2")])
def test_a_head_of_a_recording_is_drawn_down_to_its_numbers(monkeypatch, written, head, row, step):
    at, layouts = opened(
        monkeypatch, written, recorded_head=head, recorded_from=row, step_of_writing=step
    )
    layer, of = map(int, head.split("."))
    call = load_recording(written)[layer].call(None if step == "all" else int(step))
    weights = call.weights()[0, of]
    drawn = {each.step.name: each for layout in layouts for each in layout.matrices}
    same(drawn["weights"].drawn, weights, tolerance=1e-6)
    same(drawn["context_vectors"].drawn, call.output[0, of], tolerance=1e-5)
    assert {"queries", "keys", "values", "scores"} <= drawn.keys()
    one = weights[-1 if row == "last" else int(row)]
    assert f"goes to {TOKENS[int(one.argmax())]}" in texts(at)
    assert ("recorded_heads" in str(at._tree)) == (step == "all"), "all heads, where rows are keys"


def test_names_of_tokens_are_no_markup(monkeypatch, written):
    at, _ = opened(monkeypatch, written, recorded_from="3")
    assert "from <script>alert(1)</script>" in texts(at)
    sent = rendered(at)
    assert not any(each in sent for each in ("<script>", "<b>The", ":red[it]", "[a](b)"))


def test_a_folder_offers_its_recordings_and_one_that_is_written_anew_is_read_anew(
    monkeypatch, written, tmp_path
):
    model = tiny("bert")
    with torch.no_grad(), recorded(model) as seen:
        model(**inputs_of(model))
    (tmp_path / "b.safetensors").write_bytes(written.read_bytes())
    seen.save(tmp_path / "a.safetensors")
    monkeypatch.setenv(RECORDING, str(tmp_path))
    at = visit("real_model", card="recording", recording="1")
    assert "goes to" in texts(at)
    assert "model.layers.0" in texts(at)
    seen.save(tmp_path / "b.safetensors")
    assert "encoder.layer.0" in texts(at.run())
    has_no_exception(at)


def test_each_kind_of_layer_and_each_text_can_be_chosen(monkeypatch, tmp_path):
    model = tiny("bart")
    ids = torch.arange(3, 21).view(2, 9)
    with torch.no_grad(), recorded(model) as seen:
        model(input_ids=ids, decoder_input_ids=ids[:, :4])
    seen.save(tmp_path / "seen.safetensors")
    path = tmp_path / "seen.safetensors"
    _, layouts = opened(monkeypatch, path, recorded_kind="2", recorded_text="1")
    weights = next(m for layout in layouts for m in layout.matrices if m.step.name == "weights")
    same(weights.drawn, seen.of_kind("encoder_attn")[0].weights()[1, 0], tolerance=1e-6)
    assert weights.drawn.shape == (4, 9)


# --- files that are none --------------------------------------------------------------------------
def changed(path, change):
    """The tensors and the words of a recording, changed."""
    with safe_open(path, framework="pt") as file:
        tensors = {name: file.get_tensor(name) for name in [*file.keys()]}
        about = json.loads(file.metadata()["attention_recording"])
    change(tensors, about)
    save_file(tensors, path, {"attention_recording": json.dumps(about)})


def put(name, tensor):
    return lambda tensors, _: tensors.update({name: tensor})


def of_call(**what):
    return lambda _, about: about["calls"][0].update(what)


HOSTILE = {
    "nan": (
        lambda tensors, _: tensors["0.queries"].fill_(torch.nan),
        "queries of this layer have nan at [0, 0, 0, 0]",
    ),
    "inf": (lambda tensors, _: tensors["0.values"].fill_(torch.inf), "do not follow each other"),
    "other values": (lambda tensors, _: tensors["0.values"].add_(0.1), "do not follow each other"),
    "another output": (lambda tensors, _: tensors["0.output"].add_(0.1), "differ by"),
    "no keys": (lambda tensors, _: tensors.pop("0.keys"), "is no recording"),
    "rows elsewhere": (put("0.rows", torch.arange(7) + 90), "its rows are none of 7"),
    "rows below 0": (put("0.rows", torch.arange(7) - 3), "its rows are none of 7"),
    "a million queries": (of_call(n_queries=10**12), "its rows are none of"),
    "another width": (put("0.values", torch.ones(1, 3, 7, 5)), "do not fit"),
    "no numbers": (put("0.queries", torch.ones(1, 3, 7, 0)), "do not fit"),
    "a mask of two axes": (put("0.mask", torch.ones(7, 7)), "mask does not fit"),
    "a mask too narrow": (put("0.mask", torch.ones(1, 1, 7, 3)), "mask does not fit"),
    "a scale of nan": (of_call(scale=float("nan")), "its scale is nan"),
    "a name of markup": (of_call(name="<b>x\n\n# y</b>"), "a layer is called"),
    "a name too long": (of_call(name="x" * 5_000), "a layer is called"),
    "calls of no kind": (lambda _, about: about.update(calls=[3]), "is no recording"),
    "no calls": (lambda _, about: about.update(calls=[]), "without a layer"),
    "tokens of no kind": (lambda _, about: about.update(tokens={"a": 1}), "no list"),
}


def check_refused(monkeypatch, path, words):
    at, layouts = opened(monkeypatch, path, prompt="the old cat", step_of_writing="all")
    told = texts(at)
    assert words in told
    assert "mistake of ours" not in told
    assert not layouts
    assert len(told) < 700
    assert at.session_state["session"].values.prompt == "the old cat", "what was typed stays"


@pytest.mark.parametrize(("change", "words"), HOSTILE.values(), ids=HOSTILE)
def test_a_recording_that_cannot_be_is_refused_in_words(
    monkeypatch, written, tmp_path, change, words
):
    path = tmp_path / "seen.safetensors"
    path.write_bytes(written.read_bytes())
    changed(path, change)
    check_refused(monkeypatch, path, words)


FILES = {
    "empty": (lambda _: b"", "it has 0 bytes"),
    "cut off": (lambda whole: whole[:-100], "is cut off"),
    "a header of 1 GB": (lambda whole: struct.pack("<Q", 2**30) + whole[8:], "is cut off"),
    "a tensor of 1 GB": (
        lambda _: (
            struct.pack("<Q", 71)
            + b'{"0.queries":{"dtype":"F32","shape":[268435456],"data_offsets":[0,1073741824]}}'[
                :71
            ]
        ),
        "cannot be",
    ),
    "no tensors": (lambda _: b"<html><script>alert(1)</script></html>", "no file of tensors"),
}


@pytest.mark.parametrize(("change", "words"), FILES.values(), ids=FILES)
def test_a_file_that_is_none_is_refused_in_words(monkeypatch, written, tmp_path, change, words):
    path = tmp_path / "seen.safetensors"
    path.write_bytes(change(written.read_bytes()))
    check_refused(monkeypatch, path, words)


def test_what_is_gone_or_another_thing_is_said(monkeypatch, tmp_path):
    check_refused(monkeypatch, tmp_path / "gone.safetensors", "gone.safetensors cannot be read")
    save_file({"a": torch.ones(2)}, tmp_path / "x.safetensors")
    check_refused(monkeypatch, tmp_path / "x.safetensors", "but no recording")


def test_a_long_text_is_drawn_around_the_row_that_looks():
    assert card._window(64, 10) is None
    assert card._window(200, 10) == tuple(range(64))
    assert card._window(200, 150) == tuple(range(87, 151))
    assert card._window(200, 199) == tuple(range(136, 200))
