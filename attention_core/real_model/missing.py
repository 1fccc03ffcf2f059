"""What a model needs that is not computed here, by the words of its settings."""

import re
from collections.abc import Iterable

MISSING = {
    "a mixture of experts": "expert|moe|mixtral|gpt_oss|gpt-oss|dbrx|grok|arctic|deepseek2",
    "a recurrent memory in place of attention": "mamba|ssm|rwkv|wkv|retention|recurrent|delta|"
    "shortconv|conv_l_cache|conv_kernel|^conv_|^linear_|^time_|state_size|lru_|hybrid|lightning|"
    "jamba|xlstm|^lstm|qwen3_?next|qwen3_?5|lfm2",
    "latent keys and values (MLA)": "kv_lora_rank|deepseek_v[23]|deepseek2|kimi|minicpm3",
    "an indexer that chooses keys": "^index_|indexer|_dsa|deepseek_v32|deepseek_v4",
    "keys and values shared across layers": "kv_shared",
    "pictures or sound beside the text": "vision|image|audio|video|_vl$|speech",
    "a sentence that looks at another one": "^is_encoder_decoder$|cross_attention",
    "a bias for the distance of tokens (ALiBi, or one that is learned)": "alibi|^bloom$|^mpt$|"
    "relative_attention|max_bias|distance_embedding",
}
"""What is missing, by patterns of the words that ask for it."""


def missing(words: Iterable[str]) -> str:
    """What settings of these names, or models of such a kind, need: "; it needs …", or ""."""
    asked = [*words]
    found = [
        what
        for what, pattern in MISSING.items()
        if any(re.search(pattern, each, re.IGNORECASE) for each in asked)
    ]
    *some, last = found or [""]
    return f"; it needs {', '.join(some)}{' and ' * bool(some)}{last}" if last else ""
