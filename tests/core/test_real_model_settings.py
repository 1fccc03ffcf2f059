"""Every setting of every family means what it does to `transformers`, in all its spellings."""

import dataclasses
import inspect
import json
import re
import typing
from fnmatch import fnmatchcase, translate
from functools import cache

import pytest
import torch
import transformers

from attention_core.files.refused import ModelRefused
from attention_core.real_model import by_config, model
from attention_core.real_model.run import BENDS, logits, run
from attention_core.real_model.tokenizer import from_json
from model_folders import FAMILIES, make, tokenizer

IDS = (3, 17, 5, 5, 41, 29, 52, 0, 8, 11, 5)
KINDS = {"gemma3_text": "gemma3"} | {kind: kind for kind in by_config.FAMILIES if kind[-1] != "t"}
KINDS |= {"gpt2": "gpt2", "bert": "bert"}
LINEAR = {"rope_type": "linear", "factor": 4.0, "rope_theta": 77.0}
SLOWED = {"type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
OLDER = {"rope_parameters": ...}
TURNING = [
    {"rope_theta": 500.0},
    OLDER | {"rope_theta": 500.0},
    OLDER | {"rope_theta": 500, "rope_scaling": {"type": "linear", "factor": 4}},
    OLDER | {"rope_scaling": SLOWED},
    OLDER | {"rope_scaling": SLOWED, "original_max_position_embeddings": 16},
    OLDER | {"rope_scaling": SLOWED | {"original_max_position_embeddings": 16}},
    OLDER | {"rope_scaling": LINEAR | {"original_max_position_embeddings": 16, "beta_fast": 7}},
    OLDER | {"rope_scaling": {}},
    {"rope_parameters": {"rope_theta": 50.0}, "rope_scaling": {"type": "linear", "factor": 4.0}},
    {"partial_rotary_factor": 1},
    {"partial_rotary_factor": None},
]
BOTH = {"full_attention": LINEAR, "sliding_attention": {"rope_theta": 5.0}}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}
INSIDE = OLDER | {"rope_theta": 500.0, "rope_scaling": YARN | {"truncate": False}}
"""Of what layers of one kind say, `transformers` looks for this word outside alone."""
OTHERS = {
    "olmo3": [INSIDE],
    "llama": [{"rope_parameters": LINEAR}],
    "qwen2": [{"use_sliding_window": True, "max_window_layers": 1, "sliding_window": 2}],
    "gemma3_text": [{"attn_logit_softcapping": 0.5}, {"layer_types": ...,
        "sliding_window_pattern": 2}, {"layer_types": ..., "_sliding_window_pattern": 2},
        {"rope_parameters": BOTH, "rope_theta": 7.0, "rope_local_base_freq": 9.0},
        {"rope_parameters": {"full_attention": {"rope_type": "default"}}, "rope_theta": 7.0},
        {"rope_parameters": BOTH, "rope_scaling": {"factor": 9.0}},
        OLDER | {"rope_local_base_freq": 9.0}, INSIDE],
    "gpt2": [{"num_attention_heads": 7}, {"hidden_size": 35, "n_embd": 34}, {"n_ctx": 16}],
    "bert": [{"tie_word_embeddings": False}, {"classifier_dropout": None}],
}  # fmt: skip
NOT_COMPUTED = re.compile(
    "scores are divided|all layers divide|sees no later key|one sentence|the other way|is left out|"
    "no window is set|must be a number above 0|must be a whole number from"
)
"""Why a model may be refused that `transformers` computes."""


def fields(kind):
    """The settings of a family's class: the default, and whether there may be none."""
    cls = getattr(transformers, FAMILIES[KINDS[kind]][0]).config_class
    found = {}
    for field in dataclasses.fields(cls):
        optional = type(None) in typing.get_args(field.type) or "| None" in str(field.type)
        found[field.name] = field.default, optional
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_every_setting_of_a_class_is_known_with_its_default_or_harmless(kind):
    of_class, ours = fields(kind), by_config.DEFAULTS[kind]
    known = {name.removesuffix("?"): (value, name[-1] == "?") for name, value in ours.items()}
    assert known == {name: each for name, each in of_class.items() if name in known}
    harmless = {*by_config.HARMLESS.split(), *by_config.HARMLESS_FOR.get(kind, ["is_decoder"])}
    generation = transformers.GenerationConfig._get_default_generation_params()
    words = re.compile("|".join(map(translate, harmless)))
    left = {word for word in {*of_class, *generation} - {*known} if not words.match(word)}
    assert left <= {"is_encoder_decoder"}, "words of a class that are neither read nor harmless"
    assert not [*filter(words.match, known)]


@pytest.mark.parametrize("name", by_config.ACTIVATIONS)
def test_a_bend_is_what_its_name_means_to_transformers(name):
    numbers = torch.linspace(-4, 4, 99)
    wanted = transformers.activations.ACT2FN[name](numbers)
    torch.testing.assert_close(BENDS[by_config.ACTIVATIONS[name]](numbers), wanted)


@cache
def one_tokenizer():
    return from_json(tokenizer(), "the tokenizer of all")


@pytest.fixture(autouse=True)
def made_once(monkeypatch):
    """A tokenizer takes longer to make than all that is looked at here."""
    monkeypatch.setattr(model, "from_json", lambda *_: one_tokenizer())


class Both:
    """A model of a family in a folder, as it is read here and by `transformers`."""

    def __init__(self, folder, kind):
        self.folder, self.kind = folder, kind
        reference = make(folder, KINDS[kind])
        self.cls, self.state = type(reference), reference.state_dict()
        self.config = json.loads((folder / "config.json").read_text())
        self.known, self.made = {}, {}

    def changed(self, change):
        values = self.config | change
        return {name: value for name, value in values.items() if value is not ...}

    def theirs(self, change):
        values = json.loads(json.dumps(self.changed(change)))  # it changes what it is given
        try:
            config = self.cls.config_class.from_dict(values, attn_implementation="eager")
            told = config.to_json_string(use_diff=False)
            if told not in self.made:
                self.made[told] = self.computed(config)
        except Exception:
            return None
        return self.made[told]

    def computed(self, config):
        with torch.device("meta"):
            shapes = {n: each.shape for n, each in self.cls(config).state_dict().items()}
        if shapes != {n: each.shape for n, each in self.state.items()}:
            return None
        reference = self.cls(config).eval()
        reference.load_state_dict(self.state)
        ids, wanted = torch.tensor([IDS]), ("output_attentions", "output_hidden_states")
        with torch.no_grad():
            made = reference(ids, **dict.fromkeys(wanted, True))
        last = made.logits if "logits" in made else made.last_hidden_state
        return torch.cat(made.attentions), last[0]

    def ours(self, change):
        (self.folder / "config.json").write_text(json.dumps(self.changed(change)))
        ours = model.open_model(self.folder)
        if ours.settings not in self.known:
            found = run(ours, IDS)
            last = logits(found) if ours.settings.predicts else found.final
            self.known[ours.settings] = found.weights, last
        return self.known[ours.settings]

    def check(self, change):
        theirs = self.theirs(change)
        try:
            ours = self.ours(change)
        except ModelRefused as error:
            if theirs is None or NOT_COMPUTED.search(str(error)):
                return None
            return f"{change} is refused: {error}"
        if theirs is None:  # what no class reads may be of any kind here
            read = {name.removesuffix("?") for name in by_config.DEFAULTS[self.kind]}
            return f"{change} is opened, transformers refuses it" if read & {*change} else None
        off = max((a - b).abs().max().item() for a, b in zip(ours, theirs, strict=True))
        return f"{change} is off by {off:.1e}" if off > 1e-4 else None


def read_by(kind):
    """The words that the modules of a family look up in its config."""
    from transformers import cache_utils, masking_utils, modeling_layers

    cls = getattr(transformers, FAMILIES[KINDS[kind]][0])
    modules = (inspect.getmodule(cls), cache_utils, masking_utils, modeling_layers)
    return {*re.findall(r'config(?:\.|, ")([a-z]\w+)', "".join(map(inspect.getsource, modules)))}


@pytest.mark.slow("20 s: each setting of each family, as it is read here and by transformers")
@pytest.mark.parametrize("kind", KINDS)
def test_a_setting_means_what_it_means_to_transformers(tmp_path, kind):
    both = Both(tmp_path, kind)
    read = {name.removesuffix("?"): value for name, value in by_config.DEFAULTS[kind].items()}
    changes = [{name: each} for name, value in read.items() for each in (..., None, value)]
    changes += TURNING * ("rope_parameters" in read) + OTHERS.get(kind, [])
    changes += [{name: False} for name in read_by(kind) - {*dir(transformers.PreTrainedConfig)}]
    wrong = [each for each in map(both.check, changes) if each]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("kind", KINDS)
def test_harmless_words_change_nothing_in_transformers(tmp_path, kind):
    both, of_class = Both(tmp_path, kind), fields(kind)
    words = {*by_config.HARMLESS.split(), *by_config.HARMLESS_FOR.get(kind, ["is_decoder"])}
    words = {each.replace("*", "x") for each in words} | {
        word for word in of_class if any(fnmatchcase(word, each) for each in words)
    }
    words -= {"model_type", "architectures", "dtype", "torch_dtype", "return_dict", "num_labels"}
    words -= {"use_return_dict", "id2label", "label2id", "problem_type", "output_attentions"}
    odd = {bool: lambda value: not value, str: lambda _: "first", type(None): lambda _: None}
    odd |= {int: lambda _: 1, float: lambda _: 0.5}
    values = {word: of_class.get(word, (0, True))[0] for word in words}
    change = {word: odd[type(value)](value) for word, value in values.items()}
    assert both.check(change) is None
    for made, plain in zip(both.theirs(change), both.theirs({}), strict=True):
        torch.testing.assert_close(made, plain)
    for empty in (..., None):
        assert both.ours(dict.fromkeys(words, empty)) is both.ours({})
