"""Models of every family with random weights, as `transformers` writes their folders."""

import json

import torch
import transformers

N_VOCABULARY = 53
LLAMA = {
    "vocab_size": N_VOCABULARY,
    "hidden_size": 30,
    "intermediate_size": 29,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "head_dim": 14,
    "max_position_embeddings": 64,
}
"""Sizes without a common factor where that can be, so that no axis can pass for another."""
GPT2 = {
    "vocab_size": N_VOCABULARY,
    "n_embd": 35,
    "n_layer": 3,
    "n_head": 5,
    "n_inner": 29,
    "n_positions": 31,
}
BERT = {
    "vocab_size": N_VOCABULARY,
    "hidden_size": 35,
    "intermediate_size": 29,
    "num_hidden_layers": 3,
    "num_attention_heads": 5,
    "max_position_embeddings": 31,
    "type_vocab_size": 2,
}
SLOWED = {
    "rope_type": "llama3",
    "rope_theta": 10000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
}
LAYERS = ["full_attention", "sliding_attention", "full_attention"]


def tokenizer(n: int = N_VOCABULARY) -> dict:
    """A tokenizer.json of the words t0, t1, …"""
    model = {"type": "WordLevel", "vocab": {f"t{i}": i for i in range(n)}, "unk_token": ""}
    return {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": None,
        "decoder": None,
        "model": model,
    }


FAMILIES = {
    "llama": ("LlamaForCausalLM", LLAMA),
    "llama biases": ("LlamaForCausalLM", LLAMA | {"attention_bias": True, "mlp_bias": True}),
    "llama tied": ("LlamaForCausalLM", LLAMA | {"tie_word_embeddings": True}),
    "llama slowed": ("LlamaForCausalLM", LLAMA | {"rope_parameters": SLOWED}),
    "llama linear": (
        "LlamaForCausalLM",
        LLAMA | {"rope_parameters": {"rope_type": "linear", "rope_theta": 500.0, "factor": 4.0}},
    ),
    "llama one key head": ("LlamaForCausalLM", LLAMA | {"num_key_value_heads": 1}),
    "llama relu": ("LlamaForCausalLM", LLAMA | {"hidden_act": "relu", "rms_norm_eps": 0.1}),
    "llama bare": ("LlamaModel", LLAMA | {"tie_word_embeddings": True}),
    "mistral": ("MistralForCausalLM", LLAMA | {"sliding_window": 3}),
    "mistral no window": ("MistralForCausalLM", LLAMA | {"sliding_window": None}),
    "qwen2": ("Qwen2ForCausalLM", LLAMA),
    "qwen2 window": (
        "Qwen2ForCausalLM",
        LLAMA | {"use_sliding_window": True, "sliding_window": 3, "max_window_layers": 1},
    ),
    "qwen2 layers": (
        "Qwen2ForCausalLM",
        LLAMA | {"use_sliding_window": True, "sliding_window": 3, "layer_types": LAYERS},
    ),
    "qwen3": ("Qwen3ForCausalLM", LLAMA),
    "qwen3 biases": ("Qwen3ForCausalLM", LLAMA | {"attention_bias": True}),
    "qwen3 window": (
        "Qwen3ForCausalLM",
        LLAMA | {"use_sliding_window": True, "sliding_window": 2, "max_window_layers": 2},
    ),
    "gemma2": ("Gemma2ForCausalLM", LLAMA | {"sliding_window": 3}),
    "gemma2 tight caps": (
        "Gemma2ForCausalLM",
        LLAMA
        | {
            "sliding_window": 3,
            "attn_logit_softcapping": 0.7,
            "final_logit_softcapping": 0.9,
            "query_pre_attn_scalar": 7,
        },
    ),
    "gemma2 no caps": (
        "Gemma2ForCausalLM",
        LLAMA
        | {
            "sliding_window": 3,
            "attn_logit_softcapping": None,
            "final_logit_softcapping": None,
            "attention_bias": True,
        },
    ),
    "gemma3": (
        "Gemma3ForCausalLM",
        LLAMA | {"sliding_window": 3, "layer_types": LAYERS, "query_pre_attn_scalar": 14},
    ),
    "gemma3 linear": (
        "Gemma3ForCausalLM",
        LLAMA
        | {
            "sliding_window": 3,
            "layer_types": LAYERS,
            "rope_parameters": {
                "full_attention": {"rope_type": "linear", "rope_theta": 1e6, "factor": 8.0},
                "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
            },
        },
    ),
    "gpt2": ("GPT2LMHeadModel", GPT2),
    "gpt2 untied": ("GPT2LMHeadModel", GPT2 | {"tie_word_embeddings": False}),
    "gpt2 bare": ("GPT2Model", GPT2),
    "gpt2 gelu": ("GPT2LMHeadModel", GPT2 | {"activation_function": "gelu", "n_inner": None}),
    "bert": ("BertModel", BERT),
    "bert tanh": ("BertModel", BERT | {"hidden_act": "gelu_new", "layer_norm_eps": 0.01}),
    "bert masked": ("BertForMaskedLM", BERT),
}
"""The class that computes each, and its settings."""


def make(folder, name: str):
    """Write a family's folder, and return the model of `transformers` that it is from."""
    kind, sizes = FAMILIES[name]
    cls = getattr(transformers, kind)
    config = cls.config_class(**sizes)
    config._attn_implementation = "eager"
    torch.manual_seed(sum(map(ord, name)))
    model = cls(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            # gains around 1 and biases away from 0, so that none can be left out unnoticed
            middle = 1.0 if parameter.ndim == 1 and parameter.mean() == 1 else 0.0
            parameter.normal_(middle, 0.4)
    model.save_pretrained(folder)
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer()))
    return model
