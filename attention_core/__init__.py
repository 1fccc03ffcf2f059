"""Attention, step by step, in traces. Quick to import: torch comes with the first name using it."""

from importlib import import_module

__version__ = "0.2.0"

_FROM = {
    "operations.base": "Meaning",
    "trace": "Step Trace",
    "expression": "Expression",
    "text.tokenizers": "TOKENIZERS Tokenizer",
    "text.vocabulary": "Vocabulary",
    "text.inputs": "Inputs",
    "text.embedding": "embed",
    "text.byte_pairs": "learn_merges",
    "examples": "EXAMPLES Example",
    "recipes": "HeadsRecipe MaskRecipe Projections",
    "mechanism.attention": "attention",
    "mechanism.any_tensors": "attend_tensors",
    "mechanism.own_tensors": "trace_of",
    "mechanism.flash": "attend_in_tiles",
    "mechanism.memory": "attend_with_memory",
    "mechanism.latent": "attend_latent",
    "mechanism.indexer": "choose_keys",
    "mechanism.stacked": "attend_in_layers",
    "mechanism.today": "attend_today",
    "mechanism.decoding": "decode_step",
    "mechanism.simplified": "SimplifiedOptions attend expand_query",
    "mechanism.softmax": "compare_row given_row normalise_row store_row",
    "mechanism.trainable": "add_other_ways attend_trainable expand_token",
    "mechanism.masking": "attend_masked change_token",
    "mechanism.multi_head": "add_batched add_big_projection add_head_parts attend_heads "
    "expand_word switch_off",
    "mechanism.block": "add_block decode_block encode_block",
    "mechanism.block_weights": "from_torch_layer",
    "mechanism.residual": "contributions",
    "mechanism.token_axis": "attend_on_tokens decode",
    "real_model.model": "Model open_model",
    "real_model.layer_trace": "layer_trace",
    "experiments.training": "TrainingRecord TrainingSettings next_tokens train",
    "experiments.trained": "attend_trained",
    "experiments.variance": "Trials few_trials measure_variance variance_theory",
    "experiments.saturation": "softmax_effect",
    "gradients": "backward",
    "comparing.compare": "compare",
    "comparing.comparison": "Comparison",
    "recording.call": "NotAsRecorded",
    "recording.recorder": "recorded",
    "recording.recording": "Recording",
    "recording.saved": "load_recording",
    "export.program": "program tensors",
    "export.notebook": "notebook",
    "export.exercise": "exercise exercise_steps",
    "export.check_file": "check_file",
    "export.spreadsheet": "spreadsheet",
}
_HOME = {name: home for home, names in _FROM.items() for name in names.split()}
_MODULES = ("operations", "published")
__all__ = [*_HOME, *_MODULES]


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
