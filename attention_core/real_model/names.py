"""What the files of each family call the tensors that have one name here."""

from collections.abc import Sequence
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

    once: dict[str, Where]
    of_layer: dict[str, Where]
    ignored: tuple[str, ...] = ()
    """Patterns, without the family's prefix, of tensors that change nothing here."""

    @property
    def beginning(self) -> str:
        """What all names of a family begin with, which some files leave out."""
        first, dot, _ = self.once["token_table"].name.partition(".")
        return first + dot


ROLES = ("query", "key", "value", "output")


def _pairs(told: str) -> list[list[str]]:
    """Our name and theirs, as `ours=theirs`."""
    return [each.split("=") for each in told.split()]


def _plain(begins: str, told: str) -> dict[str, Where]:
    return {ours: Where(f"{begins}{theirs}.weight") for ours, theirs in _pairs(told)}


def _linear(begins: str, told: str, transposed: bool = False) -> dict[str, Where]:
    """Matrices W_… and their biases b_…, as torch's linear layers name both."""
    return {
        f"{kind}_{ours}": Where(f"{begins}{theirs}.{stored}", transposed and kind == "W")
        for ours, theirs in _pairs(told)
        for kind, stored in (("W", "weight"), ("b", "bias"))
    }


def _norms(begins: str, told: str) -> dict[str, Where]:
    return {
        f"{ours}_norm_{kind}": Where(f"{begins}{theirs}.{stored}")
        for ours, theirs in _pairs(told)
        for kind, stored in (("gain", "weight"), ("bias", "bias"))
    }


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


def _of_llama(norms: str) -> Names:
    layer = "model.layers.{}."
    return Names(
        _plain("", "token_table=model.embed_tokens W_unembed=lm_head")
        | _norms("model.", "final=norm"),
        _linear(f"{layer}self_attn.", "query=q_proj key=k_proj value=v_proj output=o_proj")
        | _linear(f"{layer}mlp.", "gate=gate_proj up=up_proj down=down_proj")
        | _norms(f"{layer}self_attn.", "query=q_norm key=k_norm")
        | _norms(layer, norms),
        ignored=(r"(layers\.\d+\.self_attn\.)?rotary_emb\.inv_freq",),
    )


LLAMA = _of_llama("attention=input_layernorm ffn=post_attention_layernorm")
_AFTER = "attention_after=post_attention_layernorm ffn_after=post_feedforward_layernorm"
GEMMA = _of_llama(f"attention=input_layernorm ffn=pre_feedforward_layernorm {_AFTER}")
OLMO = _of_llama(_AFTER)
PHI3 = replace(
    LLAMA,
    of_layer=LLAMA.of_layer
    | _in_one("model.layers.{}.self_attn.qkv_proj")
    | _in_one("model.layers.{}.mlp.gate_up_proj", ("gate", "up")),
)
_NEOX = "gpt_neox.layers.{}."
NEOX = Names(
    _plain("", "token_table=gpt_neox.embed_in W_unembed=embed_out")
    | _norms("gpt_neox.", "final=final_layer_norm"),
    _in_one(f"{_NEOX}attention.query_key_value", by_head=True)
    | _linear(_NEOX, "output=attention.dense up=mlp.dense_h_to_4h down=mlp.dense_4h_to_h")
    | _norms(_NEOX, "attention=input_layernorm ffn=post_attention_layernorm"),
    ignored=(r"layers\.\d+\.attention\.(bias|masked_bias|rotary_emb\.inv_freq)",),
)
_GPT2 = "transformer.h.{}."
GPT2 = Names(
    _plain("transformer.", "token_table=wte position_table=wpe")
    | _norms("transformer.", "final=ln_f")
    | _plain("", "W_unembed=lm_head"),
    _in_one(f"{_GPT2}attn.c_attn", transposed=True)
    | _linear(_GPT2, "output=attn.c_proj up=mlp.c_fc down=mlp.c_proj", transposed=True)
    | _norms(_GPT2, "attention=ln_1 ffn=ln_2"),
    ignored=(r"h\.\d+\.attn\.(masked_)?bias",),
)
_BERT = "bert.encoder.layer.{}."
BERT = Names(
    _plain(
        "bert.embeddings.",
        "token_table=word_embeddings position_table=position_embeddings "
        "type_table=token_type_embeddings",
    )
    | _norms("bert.embeddings.", "embedding=LayerNorm"),
    _linear(f"{_BERT}attention.", "query=self.query key=self.key value=self.value")
    | _linear(_BERT, "output=attention.output.dense up=intermediate.dense down=output.dense")
    | _norms(_BERT, "attention=attention.output.LayerNorm ffn=output.LayerNorm"),
    ignored=(r"embeddings\.(position|token_type)_ids", r"(pooler|cls|classifier|qa_outputs)\..*"),
)
GGUF = Names(
    _plain(
        "",
        "token_table=token_embd position_table=position_embd type_table=token_types "
        "W_unembed=output",
    )
    | _norms("", "final=output_norm embedding=token_embd_norm"),
    _linear("blk.{}.", "query=attn_q key=attn_k value=attn_v output=attn_output")
    | _linear("blk.{}.", "gate=ffn_gate up=ffn_up down=ffn_down")
    | _norms("blk.{}.", "attention=attn_norm query=attn_q_norm key=attn_k_norm ffn=ffn_norm")
    | _norms("blk.{}.", "attention_after=post_attention_norm ffn_after=post_ffw_norm"),
    ignored=(r"rope_freqs\.weight",),
)
GGUF_JOINED = Names(GGUF.once, GGUF.of_layer | _in_one("blk.{}.attn_qkv"))
