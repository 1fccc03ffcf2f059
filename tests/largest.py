"""Every control of the app at its largest, all of them together, as a link has them."""

from attention_ui.controls.fields import MAX_TOKENS
from attention_ui.controls.shared import MAX_WIDTH

WORDS = " ".join(f"word{place}" for place in range(MAX_TOKENS))
EDITS = ",".join(f"{row}.{column}:999.999999" for row in range(14) for column in range(14))
LARGEST = {
    **{"sentence": WORDS, "tokenizer": "blanks", "vocabulary": "random", "reserved": "8"},
    **{"d_in": str(MAX_WIDTH), "positions": "on", "edits": EDITS, "predict": "off"},
    "example": "wild_cat",
    **{"d_query": str(MAX_WIDTH), "d_value": str(MAX_WIDTH), "bias": "on", "start": "linear"},
    **dict.fromkeys(["q_edits", "k_edits", "v_edits"], "63.63:999.999999"),
    **{"n_heads": "8", "d_model": "64", "d_head": "12", "d_head_value": "12"},
    **{"divide": "sqrt_d", "similarity": "cosine"},
    **{"vector_width": "4096", "trials": "100000", "spread": "5", "variance_view": "width"},
    **{"steps": "5000", "rate": "1000", "t_width": "64", "magnify": "16", "push": "150"},
    **{"block": "decoder", "norm": "after", "ffn_multiplier": "4", "source": WORDS},
    **{"causal_heads": "on", "temperature": "4", "layer_dropout": "0.9", "opened": "weights"},
    **{"shown_terms": str(MAX_TOKENS), "query": str(MAX_TOKENS - 1), "pin": "example=sorry_dave"},
    "turned": ",".join(f"{row}.{63 - row}" for row in range(32)),
}
