"""What the files of each family call the tensors that have one name here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Where:
    """A tensor of a file: its name, with {} for the layer, and what has to be done to it."""

    name: str
    transposed: bool = False
    """Whether it stands (in, out) there, and not (out, in)."""
    beside: tuple[str, ...] = ()
    """Our names of all that stand in it, the one behind the other, where they are several."""
    at: int = 0
    """Which of them it is."""
    by_head: bool = False
    """Whether they stand so for each head, and the heads behind one another."""


@dataclass(frozen=True)
class Names:
    """Where each tensor stands, by our name for it."""

    once: Mapping[str, Where]
    of_layer: Mapping[str, Where]
    ignored: tuple[str, ...] = ()
    """Patterns, without the family's prefix, of tensors that change nothing here."""

    @property
    def beginning(self) -> str:
        """What all names of a family begin with, which some files leave out."""
        first, dot, _ = self.once["token_table"].name.partition(".")
        return first + dot


ROLES = ("query", "key", "value", "output")


def _plain(names: Mapping[str, str]) -> dict[str, Where]:
    return {ours: Where(theirs) for ours, theirs in names.items()}


def _with_biases(matrices: Mapping[str, str]) -> dict[str, Where]:
    """Matrices W_… and their biases b_…, as torch's linear layers name both."""
    found = {}
    for ours, theirs in matrices.items():
        found[f"W_{ours}"] = Where(f"{theirs}.weight")
        found[f"b_{ours}"] = Where(f"{theirs}.bias")
    return found


def _norms(norms: Mapping[str, str]) -> dict[str, Where]:
    found = {}
    for ours, theirs in norms.items():
        found[f"{ours}_gain"] = Where(f"{theirs}.weight")
        found[f"{ours}_bias"] = Where(f"{theirs}.bias")
    return found


def _in_one(
    name: str, parts: Sequence[str] = ROLES[:3], transposed: bool = False, by_head: bool = False
) -> dict[str, Where]:
    """Matrices that stand side by side in one, such as queries, keys and values, and biases."""
    found = {}
    for kind, stored in (("W", "weight"), ("b", "bias")):
        beside = tuple(f"{kind}_{part}" for part in parts)
        for at, ours in enumerate(beside):
            turned = transposed and kind == "W"
            found[ours] = Where(f"{name}.{stored}", turned, beside, at, by_head)
    return found


def _of_llama(norms: Mapping[str, str]) -> Names:
    layer, attention, ffn = "model.layers.{}", "self_attn", "mlp"
    of_layer = _with_biases(
        {
            "query": f"{layer}.{attention}.q_proj",
            "key": f"{layer}.{attention}.k_proj",
            "value": f"{layer}.{attention}.v_proj",
            "output": f"{layer}.{attention}.o_proj",
            "gate": f"{layer}.{ffn}.gate_proj",
            "up": f"{layer}.{ffn}.up_proj",
            "down": f"{layer}.{ffn}.down_proj",
        }
    )
    inside = {f"{role}_norm": f"{layer}.{attention}.{role[0]}_norm" for role in ROLES[:2]}
    of_layer |= _norms({ours: f"{layer}.{theirs}" for ours, theirs in norms.items()} | inside)
    return Names(
        _plain({"token_table": "model.embed_tokens.weight", "W_unembed": "lm_head.weight"})
        | _norms({"final_norm": "model.norm"}),
        of_layer,
        ignored=(r"(layers\.\d+\.self_attn\.)?rotary_emb\.inv_freq",),
    )


LLAMA = _of_llama({"attention_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm"})
GEMMA = _of_llama(
    {
        "attention_norm": "input_layernorm",
        "attention_after_norm": "post_attention_layernorm",
        "ffn_norm": "pre_feedforward_layernorm",
        "ffn_after_norm": "post_feedforward_layernorm",
    }
)
OLMO = _of_llama(
    {
        "attention_after_norm": "post_attention_layernorm",
        "ffn_after_norm": "post_feedforward_layernorm",
    }
)
PHI3 = replace(
    LLAMA,
    of_layer={
        **LLAMA.of_layer,
        **_in_one("model.layers.{}.self_attn.qkv_proj"),
        **_in_one("model.layers.{}.mlp.gate_up_proj", ("gate", "up")),
    },
)
_NEOX = "gpt_neox.layers.{}"
NEOX = Names(
    _plain({"token_table": "gpt_neox.embed_in.weight", "W_unembed": "embed_out.weight"})
    | _norms({"final_norm": "gpt_neox.final_layer_norm"}),
    _in_one(f"{_NEOX}.attention.query_key_value", by_head=True)
    | _with_biases(
        {
            "output": f"{_NEOX}.attention.dense",
            "up": f"{_NEOX}.mlp.dense_h_to_4h",
            "down": f"{_NEOX}.mlp.dense_4h_to_h",
        }
    )
    | _norms(
        {
            "attention_norm": f"{_NEOX}.input_layernorm",
            "ffn_norm": f"{_NEOX}.post_attention_layernorm",
        }
    ),
    ignored=(r"layers\.\d+\.attention\.(bias|masked_bias|rotary_emb\.inv_freq)",),
)

GPT2 = Names(
    _plain({"token_table": "transformer.wte.weight", "position_table": "transformer.wpe.weight"})
    | _norms({"final_norm": "transformer.ln_f"})
    | _plain({"W_unembed": "lm_head.weight"}),
    _in_one("transformer.h.{}.attn.c_attn", transposed=True)
    | {
        f"{kind}_{ours}": Where(f"transformer.h.{{}}.{theirs}.{stored}", transposed=kind == "W")
        for ours, theirs in (("output", "attn.c_proj"), ("up", "mlp.c_fc"), ("down", "mlp.c_proj"))
        for kind, stored in (("W", "weight"), ("b", "bias"))
    }
    | _norms({"attention_norm": "transformer.h.{}.ln_1", "ffn_norm": "transformer.h.{}.ln_2"}),
    ignored=(r"h\.\d+\.attn\.(masked_)?bias",),
)

BERT = Names(
    _plain(
        {
            "token_table": "bert.embeddings.word_embeddings.weight",
            "position_table": "bert.embeddings.position_embeddings.weight",
            "type_table": "bert.embeddings.token_type_embeddings.weight",
        }
    )
    | _norms({"embedding_norm": "bert.embeddings.LayerNorm"}),
    _with_biases(
        {
            "query": "bert.encoder.layer.{}.attention.self.query",
            "key": "bert.encoder.layer.{}.attention.self.key",
            "value": "bert.encoder.layer.{}.attention.self.value",
            "output": "bert.encoder.layer.{}.attention.output.dense",
            "up": "bert.encoder.layer.{}.intermediate.dense",
            "down": "bert.encoder.layer.{}.output.dense",
        }
    )
    | _norms(
        {
            "attention_norm": "bert.encoder.layer.{}.attention.output.LayerNorm",
            "ffn_norm": "bert.encoder.layer.{}.output.LayerNorm",
        }
    ),
    ignored=(r"embeddings\.(position|token_type)_ids", r"(pooler|cls|classifier|qa_outputs)\..*"),
)

GGUF = Names(
    _plain(
        {
            "token_table": "token_embd.weight",
            "position_table": "position_embd.weight",
            "type_table": "token_types.weight",
            "W_unembed": "output.weight",
        }
    )
    | _norms({"final_norm": "output_norm", "embedding_norm": "token_embd_norm"}),
    _with_biases(
        {
            "query": "blk.{}.attn_q",
            "key": "blk.{}.attn_k",
            "value": "blk.{}.attn_v",
            "output": "blk.{}.attn_output",
            "gate": "blk.{}.ffn_gate",
            "up": "blk.{}.ffn_up",
            "down": "blk.{}.ffn_down",
        }
    )
    | _norms(
        {
            "attention_norm": "blk.{}.attn_norm",
            "query_norm": "blk.{}.attn_q_norm",
            "key_norm": "blk.{}.attn_k_norm",
            "ffn_norm": "blk.{}.ffn_norm",
            "attention_after_norm": "blk.{}.post_attention_norm",
            "ffn_after_norm": "blk.{}.post_ffw_norm",
        }
    ),
    ignored=(r"rope_freqs\.weight",),
)
GGUF_JOINED = Names(GGUF.once, {**GGUF.of_layer, **_in_one("blk.{}.attn_qkv")})
