"""What people first try at the door of the library: an answer, or words on what does not fit."""

import inspect
import tempfile
import traceback
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

import attention_core as core
from attention_core import EXAMPLES, Inputs, TrainingSettings, Trials
from attention_core import operations as ops
from attention_core.experiments.training import Matrices
from attention_core.mechanism.block import BlockOptions
from attention_core.mechanism.block_weights import draw_weights
from attention_core.mechanism.options import Options
from attention_core.mechanism.stacked import Layer
from attention_core.mechanism.today import Today
from attention_core.utils.validation import NotThere, shown

ROOT = Path(core.__file__).parent
TINY = ROOT / "real_model" / "tiny_language"
ROWS, SQUARE = torch.ones(3, 4), torch.eye(4)


@cache
def made(name):
    trace = core.embed(Inputs("the cat sat", d_in=4))
    if name == "today":
        return core.attend_today(core.attend_heads(trace), Today(2))
    return trace if name == "embed" else getattr(core, name)(trace)


def of(name):
    return lambda: {"trace": made(name).branch()}


@cache
def saved_recording():
    """A file with what one small module has attended to."""
    path = Path(tempfile.mkdtemp()) / "seen.safetensors"
    module = torch.nn.MultiheadAttention(4, 2)
    with core.recorded(module) as seen:
        module(ROWS, ROWS, ROWS)
    seen.save(path)
    return path


def of_tensors(**others):
    def given():
        trace = core.attend_tensors(ROWS, ROWS, ROWS)
        return {"trace": trace, **{name: trace[name] for name in ("queries", "keys", "values")},
                **others}  # fmt: skip

    return given


def of_block_steps():
    trace = made("embed").branch()
    weights = draw_weights(trace, None, 1, None, 1, "d_in")
    return {"trace": trace, "stream": trace["embeddings"], "weights": weights,
            "shape": BlockOptions(), "options": Options()}  # fmt: skip


def of_steps(sizes, **others):
    """A trace with some drawn steps, by the lengths of their axes, those of `matrices` apart."""

    def given():
        trace = core.Trace()
        made = {
            name: trace.step(name, ops.Draw("normal", (*axes.values(),), seed=1), axes=(*axes,))
            for name, axes in sizes.items()
        }
        matrices = {name: made.pop(name) for name in sizes if name.startswith("W_")}
        return {"trace": trace, **made, **({"matrices": matrices} if matrices else {}), **others}

    return given


IN, LATENT, TURNED = {"d_in": 4}, {"d_latent": 3}, {"d_rotary": 2}
OF_LATENT = {
    "vectors": {"token": 3, **IN}, "W_latent": IN | LATENT, "W_rotary_key": IN | TURNED,
    "W_query": {"head": 2, **IN, "d_head": 5}, "W_rotary_query": {"head": 2, **IN, **TURNED},
    "W_up_key": {"head": 2, **LATENT, "d_head": 5}, "W_up_value": {"head": 2, **LATENT, "d_v": 7},
}  # fmt: skip
OF_INDEXER = {
    "queries": {"index_head": 2, "query": 3, "d_index": 5}, "keys": {"key": 3, "d_index": 5},
    "shares": {"index_head": 2, "query": 3, "row": 1},
}  # fmt: skip


def of_layers():
    given = of_steps({"vectors": {"token": 3, **IN}, "W_any": {**IN, "d_out": 4}})()
    same = dict.fromkeys(("query", "key", "value", "output"), given.pop("matrices")["W_any"])
    return {**given, "layers": [Layer(2)], "matrices": [same]}


def of_row(**others):
    return lambda: {"trace": core.given_row([1.0, 2.0]), **others}


@cache
def of_model():
    return core.open_model(TINY)


# Arguments that are right, by the function; the trace is made anew, since steps are added to it.
RIGHT = {
    "compare": lambda: {"mine": {"a": torch.ones(2, 3)}, "theirs": {"a": torch.ones(2, 3)}},
    "learn_merges": lambda: {"text": "low lower", "n_merges": 2},
    "embed": lambda: {"inputs": "the cat sat", "with_product": True},
    "attention": of_tensors(prefix="own_"),
    "trace_of": lambda: {"vectors": ROWS},
    "attend_tensors": lambda: dict.fromkeys(("queries", "keys", "values"), ROWS),
    "attend_in_tiles": lambda: {**of_tensors(tile_queries=2, tile_keys=2)()},
    "attend_with_memory": of_tensors(delta=True),
    "attend_latent": of_steps(OF_LATENT),
    "attend_in_layers": of_layers,
    "choose_keys": of_steps(OF_INDEXER, top_k=2),
    "attend_today": lambda: {**of("attend_heads")(), "today": Today(2)},
    "decode_step": lambda: {"whole": made("today"), "today": Today(2), "place": 1},
    "expand_query": lambda: {**of("attend")(), "query": 1},
    "compare_row": lambda: {**of("embed")(), "query": 1, "options": core.SimplifiedOptions()},
    "given_row": lambda: {"scores": [1.0, 2.0]},
    "normalise_row": of_row(shift=1.0),
    "store_row": of_row(shift=1.0, precision="float16"),
    "add_other_ways": of("attend_trainable"),
    "expand_token": lambda: {**of("attend_trainable")(), "token": 1},
    "change_token": lambda: {**of("attend_masked")(), "token": 1, "amount": 1.0},
    "add_batched": of("attend_heads"),
    "add_big_projection": of("attend_heads"),
    "add_head_parts": of("attend_heads"),
    "expand_word": lambda: {**of("attend_heads")(), "token": 1},
    "switch_off": lambda: {**of("attend_heads")(), "head": 1},
    "add_block": of_block_steps,
    "decode_block": lambda: {"vectors": ROWS, "memory": ROWS},
    "encode_block": lambda: {"vectors": ROWS},
    "from_torch_layer": lambda: {"layer": torch.nn.TransformerEncoderLayer(4, 2)},
    "contributions": lambda: {"trace": core.encode_block(ROWS), "token": 1},
    "open_model": lambda: {"path": TINY},
    "layer_trace": lambda: {"model": of_model(), "stream_in": torch.ones(3, 48), "layer": 0},
    "next_tokens": lambda: {"tokens": ["a", "b"]},
    "train": lambda: {"embeddings": ROWS, "targets": torch.tensor([1, 2]),
        "settings": TrainingSettings(steps=1)},
    "attend_trained": lambda: {**of("embed")(), "matrices": Matrices(*[SQUARE] * 3,
        SQUARE[:, :3])},
    "few_trials": lambda: {"seed": 1},
    "measure_variance": lambda: {"settings": Trials(trials=9)},
    "variance_theory": lambda: {"settings": Trials(trials=9)},
    "softmax_effect": lambda: {"settings": Trials(trials=9)},
    "backward": lambda: {"trace": core.normalise_row(core.given_row([1.0, 2.0])),
        "loss": "score_sum", "of": ["score_row"]},
    "spreadsheet": lambda: {**of("attend")(), "title": "A title"},
    "check_file": dict,
    "recorded": lambda: {"model": torch.nn.Linear(2, 2)},
    "load_recording": lambda: {"path": saved_recording()},
}  # fmt: skip
BEGIN = ("attend", "attend_trainable", "attend_masked", "attend_heads", "attend_on_tokens",
         "decode")  # fmt: skip
WRITE = ("program", "tensors", "notebook", "exercise", "exercise_steps")
RIGHT |= dict.fromkeys(BEGIN, of("embed")) | dict.fromkeys(WRITE, of("attend"))
FUNCTIONS = [name for name in core.__all__ if inspect.isfunction(getattr(core, name))]
CLASSES = {
    "Inputs": {"sentence": "a cat"}, "Projections": {}, "HeadsRecipe": {}, "MaskRecipe": {},
    "SimplifiedOptions": {}, "TrainingSettings": {}, "Trials": {},
}  # fmt: skip
FIRST_TRIES = {
    "a text": "nope",
    "a number": 7,
    "below 0": -1,
    "a fraction": 0.3,
    "nan": float("nan"),
    "None": None,
    "a tensor": torch.randn(3, 4, generator=torch.Generator().manual_seed(1)),
    "four axes": torch.ones(2, 1, 3, 4),
    "whole numbers": torch.arange(6).reshape(2, 3),
    "an array": np.ones((3, 4)),
    "an array of words": np.array([["a", 1]], dtype=object),
    "a table": pd.DataFrame(np.ones((4, 4))),
    "nothing": [],
    "a list": [1, 2],
    "texts": ["the", "cat"],
    "a dictionary": {"a": 1},
    "an operation": ops.Softmax(),
    "a class": ops.Softmax,
    "an empty trace": core.Trace(),
    "another trace": made("attend"),
    "a step": made("attend")["weights"],
}
OURS = (ValueError, NotThere)


def answered(call):
    """Nothing where there is an answer or an error of ours; else what stands for it."""
    try:
        found = call()
        if inspect.isgenerator(found):
            next(found, None)
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        ours = isinstance(error, OURS) and ROOT in Path(frame.filename).parents
        if not (ours and "raise" in frame.line):
            return f"{type(error).__name__} of {frame.filename}:{frame.lineno}: {error}"
    return ""


def parameters(asked):
    kinds = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    return [name for name, each in inspect.signature(asked).parameters.items()
            if each.kind not in kinds and name != "self"]  # fmt: skip


@pytest.mark.parametrize("name", [*FUNCTIONS, *CLASSES])
def test_whatever_is_tried_first_is_answered_in_words(name):
    asked = getattr(core, name)
    right = RIGHT[name] if name in RIGHT else lambda: dict(CLASSES[name])
    assert asked(**right()) is not None
    wrong = {}
    for parameter in parameters(asked):
        for what, value in FIRST_TRIES.items():
            if isinstance(value, core.Trace):
                value = value.branch()
            given = {**right(), parameter: value}
            if said := answered(lambda given=given: asked(**given)):
                wrong[parameter, what] = said
    for what, value in FIRST_TRIES.items():
        if said := answered(lambda value=value: asked(value)):
            wrong["alone", what] = said
    assert wrong == {}


@pytest.mark.parametrize("name", [*FUNCTIONS, *CLASSES])
def test_a_misspelt_or_missing_argument_is_named(name):
    asked = getattr(core, name)
    for parameter in parameters(asked):
        misspelt = f"{parameter[:-1]}{parameter[-1] * 2}"
        takes_others = any(each.kind is each.VAR_KEYWORD
                           for each in inspect.signature(asked).parameters.values())  # fmt: skip
        with pytest.raises(ValueError, match="needs|is" if takes_others else parameter):
            asked(**{misspelt: 1})


CALLS = {
    "this trace has no step 'wights': did you mean 'weights'?": lambda: made("attend")["wights"],
    "weights has no cell 3: its shape is": lambda: made("attend")["weights"].arithmetic(3),
    "weights has no cell [-1, 0]": lambda: made("attend")["weights"].arithmetic((-1, 0)),
    "weights has no cell [0, 0, 0]": lambda: made("attend")["weights"].arithmetic((0, 0, 0)),
    "weights has no cell []": lambda: made("attend")["weights"].arithmetic(()),
    "weights has no cell [3, 0]": lambda: made("attend")["weights"].number((3, 0)),
    "weights has no cell 'ab'": lambda: [*made("attend")["weights"].arithmetics(["ab"])],
    "no step of this trace has an axis 'qery': did you mean": lambda: made("attend").size("qery"),
    "there is no example 'wild_cta': did you mean 'wild_cat'?": lambda: EXAMPLES["wild_cta"],
    "there is no tokenizer 5.": lambda: core.TOKENIZERS[5],
    "'b' is made by <class": lambda: made("attend").branch().step("b", ops.Softmax, axes=("q",)),
    "'b' is made from 3": lambda: made("attend").branch().step("b", ops.Softmax(), 3, axes=("q",)),
    "'abc' cannot be given": lambda: core.Trace().step("b", ops.Given("abc"), axes=("q",)),
    "token is 'abc', but must be a list": lambda: core.Trace(token="abc"),
}


@pytest.mark.parametrize("words", CALLS)
def test_a_name_or_place_that_is_not_there_is_told_in_words(words):
    with pytest.raises((ValueError, KeyError, IndexError)) as told:
        CALLS[words]()
    assert str(told.value).startswith(words)


def test_what_fits_is_taken():
    weights = made("attend")["weights"]
    assert weights.arithmetic([1, 0]) == weights.arithmetic((np.int64(1), torch.tensor(0)))
    assert core.given_row([1.0, 2.0])["score_row"].arithmetic(1).value == 2
    assert torch.equal(core.attend(ROWS.tolist())["embeddings"].value, ROWS)
    one, other = (core.embed(each) for each in ("the cat sat", Inputs("the cat sat")))
    assert torch.equal(one["embeddings"].value, other["embeddings"].value)
    assert hash(core.Projections(seeds=[1, 2, 3])) == hash(core.Projections(seeds=(1, 2, 3)))
    assert replace(core.Projections(), d_query=np.int64(3)).d_query == 3
    assert shown(torch.ones(2, 3)) == "a tensor of 2 × 3"
