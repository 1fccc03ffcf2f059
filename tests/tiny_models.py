"""Tiny random models of `transformers`, of any kind that it has, and what they are called with."""

import logging
from contextlib import suppress

import torch
import transformers
from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES
from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

KINDS = [kind for kind in CONFIG_MAPPING_NAMES if kind in MODEL_MAPPING_NAMES]
WIDTHS = ("hidden_size", "d_model", "n_embd", "embed_dim", "dim", "projection_dim",
          "word_embed_proj_dim", "embedding_size")  # fmt: skip
LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "num_decoder_layers",
          "encoder_layers", "decoder_layers")  # fmt: skip
HEADS = ("num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads",
         "decoder_attention_heads")  # fmt: skip
INNER = ("intermediate_size", "ffn_dim", "encoder_ffn_dim", "decoder_ffn_dim", "d_ff")
SMALL = {
    **dict.fromkeys(WIDTHS, 32),
    **dict.fromkeys(LAYERS, 2),
    **dict.fromkeys(HEADS, 4),
    **dict.fromkeys(INNER, 64),
    "num_key_value_heads": 2, "vocab_size": 99, "max_position_embeddings": 64, "n_positions": 64,
    "head_dim": 8, "d_kv": 8, "rotary_dim": 8, "image_size": 32, "patch_size": 8, "num_experts": 2,
    "num_local_experts": 2, "num_experts_per_tok": 1, "moe_intermediate_size": 16,
    "n_routed_experts": 4, "n_group": 2, "topk_group": 1, "q_lora_rank": 16, "kv_lora_rank": 16,
    "qk_rope_head_dim": 8, "qk_nope_head_dim": 8, "v_head_dim": 8, "pad_token_id": 0,
    "bos_token_id": 1, "eos_token_id": 2, "sliding_window": 4,
}  # fmt: skip
"""What makes a configuration small, wherever it has such a whole number."""


OF_BOTH = ("altclip", "clip", "metaclip_2", "siglip", "siglip2")
"""Kinds that compare a text with an image, and need both."""


def shrunk(config):
    """A configuration, and those within it, made small in place."""
    for name, value in SMALL.items():
        if type(getattr(config, name, None)) is int:
            with suppress(AttributeError, NotImplementedError):  # worked out of others there
                setattr(config, name, value)
    if hasattr(config, "kv_lora_rank") and hasattr(config, "num_key_value_heads"):
        config.num_key_value_heads = SMALL["num_attention_heads"]  # one latent serves all heads
    if getattr(config, "layer_types", None):
        config.layer_types = config.layer_types[:2]
    for each in list(vars(config).values()):
        if isinstance(each, transformers.PretrainedConfig):
            shrunk(each)
    return config


def tiny(kind, seed=0, **settings):
    """A model of a kind, such as "llama", with drawn weights, ready to be asked."""
    logging.getLogger("transformers").setLevel(logging.ERROR)
    torch.manual_seed(seed)
    config = shrunk(transformers.AutoConfig.for_model(kind))
    for name, value in settings.items():
        setattr(config, name, value)
    return transformers.AutoModel.from_config(config).eval()


def inputs_of(model, n_tokens=9):
    """What a model is called with: ids, an image, or a sound."""
    ids = torch.randint(3, 99, (1, n_tokens), generator=torch.Generator().manual_seed(5))
    name = model.main_input_name
    image = torch.randn(1, 3, 32, 32, generator=torch.Generator().manual_seed(6))
    sound = torch.randn(1, 800, generator=torch.Generator().manual_seed(7))
    given = {"input_ids": ids} if name == "input_ids" else {name: sound}
    if name == "pixel_values":
        given = {name: image}
    if model.config.is_encoder_decoder and name == "input_ids":
        given["decoder_input_ids"] = ids[:, :4]
    if model.config.model_type in OF_BOTH:
        given["pixel_values"] = image
    return given


def tensors_of(output):
    """All tensors that a model returns, in their order."""
    if isinstance(output, torch.Tensor):
        return [output]
    parts = output.values() if isinstance(output, dict) else output
    if not isinstance(parts, (list, tuple)) and not hasattr(parts, "__iter__"):
        return []
    return [one for part in parts if not isinstance(part, str) for one in tensors_of(part)]
