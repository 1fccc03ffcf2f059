"""Every setting of every family means what it does to `transformers`, in all its spellings."""

import json
import re
from fnmatch import fnmatchcase
from functools import cache

import pytest
import torch
import transformers

import words_read
from attention_core.files.refused import ModelRefused
from attention_core.real_model import by_config, model
from attention_core.real_model.run import BENDS, logits, run
from attention_core.real_model.tokenizer import from_json
from model_folders import FAMILIES, make, tokenizer
from sampling import marked

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
    "sees no later key|one sentence|the other way|is left out|"
    "no window is set|must be a number above 0|must be a whole number from"
)
"""Why a model may be refused that `transformers` computes."""


def of_class(kind):
    """The fields of a family's class with their defaults."""
    cls = getattr(transformers, FAMILIES[KINDS[kind]][0])
    return words_read.bare(words_read.fields(cls.config_class))


@pytest.mark.parametrize("name", by_config.ACTIVATIONS)
def test_a_bend_is_what_its_name_means_to_transformers(name):
    numbers = torch.linspace(-4, 4, 99)
    wanted = transformers.activations.ACT2FN[name](numbers)
    torch.testing.assert_close(BENDS[by_config.ACTIVATIONS[name]](numbers), wanted)


@cache
def one_tokenizer():
    return from_json(tokenizer(), "the tokenizer of all")


@pytest.fixture(autouse=True)
def memoized(monkeypatch):
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
        (value,) = change.values() if len(change) == 1 else (None,)
        if theirs is None and type(value) is int:  # a class that wants 2.0 takes no 2
            theirs = self.theirs({name: float(each) for name, each in change.items()})
        if theirs is None:  # what no class reads may be of any kind here
            read = {*words_read.bare(by_config.DEFAULTS[self.kind])}
            return f"{change} is opened, transformers refuses it" if read & {*change} else None
        off = max((a - b).abs().max().item() for a, b in zip(ours, theirs, strict=True))
        return f"{change} is off by {off:.1e}" if off > 1e-4 else None


def moved(value, default):
    """What a setting may say else: a step away; of those that a class sets itself, all kinds."""
    match value if value is not None else default:
        case bool(said):
            return [not said]
        case int(said):
            return [said + 1, said - 1]
        case float(said):
            return [said + 1, said * 1.5]
        case str(said):
            return [name for name in ("gelu", "silu", "relu") if name != said][:1]
        case [*said] if {*said} <= {by_config.FULL, by_config.SLIDING}:
            return [said[::-1], [said[0]] * len(said), [by_config.SLIDING] * len(said)]
        case [*said]:
            return [[1 - each for each in said], said[1:] + said[:1]]
        case dict(said):
            return [said | {name: each} for name, was in said.items() for each in moved(was, was)
                    if name not in ("rope_type", by_config.FULL, by_config.SLIDING)]  # fmt: skip
    return [False, True, 2, 0.5]


def moves(kind, config):
    """Each setting that a family reads, left out and a step away from what a file says."""
    for name, default in words_read.bare(by_config.DEFAULTS[kind]).items():
        if name not in ("eos_token_id", "tie_word_embeddings"):  # an end; what is stored
            yield from ({name: each} for each in (..., *moved(config.get(name), default)))


SIZES = """
    vocab_size hidden_size intermediate_size num_hidden_layers max_position_embeddings
    original_max_position_embeddings n_embd n_inner n_layer n_positions type_vocab_size
"""
"""Moved, they do not fit the tensors: both refuse them, which is looked at where there is time."""


def dealt():
    """Settings dealt out among the families that read them: each setting to one, each family one
    at least. The next setting goes to the one that has fewest so far.
    """
    read = {}
    for kind in KINDS:
        for name in words_read.bare(by_config.DEFAULTS[kind]):
            if name not in ("eos_token_id", "tie_word_embeddings", *SIZES.split()):
                read.setdefault(name, []).append(kind)
    given = {kind: [] for kind in KINDS}
    for name in sorted(read, key=lambda name: (len(read[name]), name)):
        given[min(read[name], key=lambda kind: len(given[kind]))].append(name)
    return given


DEALT = dealt()


def test_each_setting_is_dealt_to_a_family_and_each_family_has_one():
    found = [name for names in DEALT.values() for name in names]
    assert len(found) == len({*found})
    read = {name for kind in KINDS for change in moves(kind, {}) for name in change}
    assert {*found} == read - {*SIZES.split()}
    assert all(DEALT.values())


@pytest.mark.parametrize("kind", KINDS)
def test_a_setting_left_out_or_moved_once_does_what_it_does_in_transformers(tmp_path, kind):
    """Each setting in one family: all of them in all families are slow, below."""
    both, once = Both(tmp_path, kind), {}
    for change in moves(kind, both.config):
        ((name, value),) = change.items()
        if name in DEALT[kind]:
            once[name, value is ...] = change
    assert len(once) >= len(DEALT[kind])
    wrong = [each for each in map(both.check, once.values()) if each]
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow("20 s: each setting of each family, to all that it may say")
@pytest.mark.parametrize("kind", KINDS)
def test_a_setting_moved_by_one_does_what_it_does_in_transformers(tmp_path, kind):
    both = Both(tmp_path, kind)
    changes = [*moves(kind, both.config)]
    wrong = [each for each in map(both.check, changes) if each]
    assert not wrong, "\n".join(wrong)
    plain, compared = both.ours({}), 0
    for change in changes:
        if (theirs := both.theirs(change)) is not None:
            compared += any(
                not torch.equal(a, b) for a, b in zip(theirs, both.theirs({}), strict=True)
            )
    assert compared >= 3, "settings that change the numbers and not the shapes"
    assert plain is both.ours({})


@pytest.mark.slow("20 s: each setting of each family, as it is read here and by transformers")
@pytest.mark.parametrize("kind", KINDS)
def test_a_setting_means_what_it_means_to_transformers(tmp_path, kind):
    both = Both(tmp_path, kind)
    read = words_read.bare(by_config.DEFAULTS[kind])
    changes = [{name: each} for name, value in read.items() for each in (None, value)]
    changes += TURNING * ("rope_parameters" in read) + OTHERS.get(kind, [])
    wrong = [each for each in map(both.check, changes) if each]
    assert not wrong, "\n".join(wrong)


SOME = pytest.mark.slow("0.5 s each: the same rule for other families")


@pytest.mark.parametrize("kind", marked(KINDS, [*KINDS][::5], SOME))
def test_words_that_no_class_reads_change_nothing(tmp_path, kind):
    """Those of other families, and made up ones, of whatever kind."""
    both = Both(tmp_path, kind)
    others = {word for each in by_config.DEFAULTS.values() for word in words_read.bare(each)}
    others |= {
        "max_window_layers",
        "full_attn_mod",
        "interpolate_factor",
        "lm_head_bias",
        "x" * 900,
    }
    others |= {"num_local_experts", "kv_lora_rank", "new_in_2030", "rope_interleaved", "\x1b[2J"}
    read = {*by_config._read_by(kind), *by_config.ALSO_CALLED.get(kind, {})}
    unread = others - read - {*by_config.ALSO_CALLED.get(kind, {})}
    change = {word: (7, 0.5, True, "first")[len(word) % 4] for word in sorted(unread)}
    assert len(change) > 8
    assert both.ours(change) is both.ours({})
    for made, plain in zip(both.theirs(change), both.theirs({}), strict=True):
        assert torch.equal(made, plain)


def harmless_words(kind):
    """Those that a class looks up, by the pattern that lets them be."""
    words = [*by_config.HARMLESS.split(), *by_config.HARMLESS_FOR.get(kind, [])]
    read = {*by_config._read_by(kind)}
    return {word: {each for each in read if fnmatchcase(each, word)} for word in words}


def test_no_pattern_of_harmless_words_is_idle():
    for pattern in by_config.HARMLESS.split():
        assert any(harmless_words(kind)[pattern] for kind in KINDS), pattern
    for kind, patterns in by_config.HARMLESS_FOR.items():
        assert all(harmless_words(kind)[pattern] for pattern in patterns)


@pytest.mark.parametrize("kind", marked(KINDS, by_config.HARMLESS_FOR, SOME))
def test_harmless_words_change_nothing_in_transformers(tmp_path, kind):
    both, default = Both(tmp_path, kind), of_class(kind)
    words = set().union(*harmless_words(kind).values())
    words -= {"model_type", "architectures", "dtype", "torch_dtype", "return_dict", "num_labels"}
    words -= {"id2label", "label2id", "problem_type", "output_attentions", "attn_implementation"}
    words -= {"experts_implementation", "num_heads", "embed_dim"}
    words -= {each for each in words if each.startswith("base_model")}
    odd = {bool: lambda value: not value, str: lambda _: "first", type(None): lambda _: 1}
    odd |= {int: lambda _: 1, float: lambda _: 0.5}
    change = {word: odd[type(default.get(word))](default.get(word)) for word in words}
    change |= {word: 0.5 for word in words if word.endswith("capping")}
    assert both.check(change) is None
    for made, plain in zip(both.theirs(change), both.theirs({}), strict=True):
        torch.testing.assert_close(made, plain)
    for empty in (..., None):
        assert both.ours(dict.fromkeys(words, empty)) is both.ours({})
