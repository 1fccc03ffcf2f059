"""The symbol of every named tensor in a formula: one glossary for the whole project."""

from functools import lru_cache

SYMBOLS = {
    "token_ids": r"\mathrm{ids}",
    "drawn_table": r"E_0",
    "embedding_table": "E",
    "one_hot": "H",
    "embeddings_by_product": r"X_{HE}",
    "token_embeddings": "X_0",
    "position_embeddings": "P",
    "embeddings": "X",
    "other_table": r"E_Y",
    "other_ids": r"\mathrm{ids}_Y",
    "other_token_embeddings": "Y_0",
    "other_position_embeddings": "P_Y",
    "other_embeddings": "Y",
    "stretched_embeddings": r"\tilde X",
    "unit_embeddings": r"\hat X",
    "queries": "Q",
    "keys": "K",
    "values": "V",
    "scores": "S",
    "scores_by_loop": r"S_{\circlearrowright}",
    "scaled_scores": r"S_{/\sqrt d}",
    "tempered_scores": "S_{/T}",
    "weights": "A",
    "context_vectors": "Z",
    "query": "q",
    "query_key_products": r"q \odot X",
    "query_scores": "s",
    "scaled_query_scores": r"s_{/\sqrt d}",
    "query_weights": "a",
    "weighted_embeddings": r"a \odot X",
    "running_context": r"z_{1..j}",
    "score_row": "s",
    "moved_scores": "s^{+}",
    "magnified_scores": r"s^{\times}",
    "score_sum": r"\Sigma_s",
    "sum_weights": "b",
    "largest": "m",
    "lowered_scores": "t",
    "exponentials": "u",
    "exponential_sum": r"\Sigma_u",
    "softmax_weights": "w",
    "jacobian": "J",
    "W_query": "W_Q",
    "W_key": "W_K",
    "W_value": "W_V",
    "b_query": "b_Q",
    "b_key": "b_K",
    "b_value": "b_V",
    "b_output": "b_O",
    "hidden_states": "X",
    "context": "C",
    "W_output": "W_O",
    "one_embedding": "x_i",
    "one_query": "q_i",
    "one_key": "k_i",
    "one_value": "v_i",
    "query_context": "z_i",
    "mask": "M",
    "masked_scores": r"S_{M}",
    "capped_scores": r"S_{\mathrm{cap}}",
    "biased_scores": "S_{+B}",
    "added_mask": "B",
    "distance_bias": r"B_{|i-j|}",
    "added_bias": "B_+",
    "near": "M_{l,r}",
    "not_padding": r"M_{\mathrm{pad}}",
    "given_mask": "M_0",
    "past_keys": r"K_{\mathrm{past}}",
    "past_values": r"V_{\mathrm{past}}",
    "new_keys": r"K_{\mathrm{new}}",
    "new_values": r"V_{\mathrm{new}}",
    "shared_keys": r"K_{\mathrm{shared}}",
    "shared_values": r"V_{\mathrm{shared}}",
    "query_angles": r"\Theta_Q",
    "key_angles": r"\Theta_K",
    "turned_queries": r"Q_{\Theta}",
    "turned_keys": r"K_{\Theta}",
    "new_embedding": "x_{n}",
    "kept": "U",
    "dropped_weights": r"A_{\mathrm{drop}}",
    "concat": r"\operatorname{concat}(Z)",
    "output": "O",
    "memory": r"X_{\mathrm{enc}}",
    "W_1": "W_1",
    "b_1": "b_1",
    "W_2": "W_2",
    "b_2": "b_2",
    "hidden": "F",
    "activated": "F_{+}",
    "W_up": r"W_{\mathrm{up}}",
    "W_gate": r"W_{\mathrm{gate}}",
    "W_down": r"W_{\mathrm{down}}",
    "b_up": r"b_{\mathrm{up}}",
    "b_gate": r"b_{\mathrm{gate}}",
    "b_down": r"b_{\mathrm{down}}",
    "gate": "G",
    "gated": r"F_{\odot}",
    "head_outputs": "O^{(h)}",
    "qkv_matrix": "W_{QKV}",
    "qkv_bias": "b_{QKV}",
    "normed_queries": r"\hat Q",
    "normed_keys": r"\hat K",
    "logits": "L",
    "probabilities": "P",
    "targets": "y",
    "losses": r"\ell_i",
    "loss": r"\ell",
    "products": r"Q \odot K",
    "dot_products": "t",
    "scaled_dot_products": r"\tilde t",
}
_OF_A_PART = {
    "attention": "att",
    "cross": "cross",
    "feed_forward": "ff",
    "attention_after": "att+",
    "feed_forward_after": "ff+",
    "query": "Q",
    "key": "K",
}
for _part, _short in _OF_A_PART.items():
    SYMBOLS |= {
        f"{_part}_output": rf"O_{{\mathrm{{{_short}}}}}",
        f"after_{_part}": rf"X_{{\mathrm{{{_short}}}}}",
        f"{_part}_norm_mean": rf"\mu_{{\mathrm{{{_short}}}}}",
        f"{_part}_added": rf"O_{{\mathrm{{{_short}}}}}'",
        f"{_part}_norm_mean_square": rf"\nu_{{\mathrm{{{_short}}}}}",
        f"{_part}_norm_gain_and_one": rf"1 + \gamma_{{\mathrm{{{_short}}}}}",
        f"{_part}_norm_variance": rf"\sigma^2_{{\mathrm{{{_short}}}}}",
        f"{_part}_norm_standardised": rf"\hat X_{{\mathrm{{{_short}}}}}",
        f"{_part}_norm_gain": rf"\gamma_{{\mathrm{{{_short}}}}}",
        f"{_part}_norm_bias": rf"\beta_{{\mathrm{{{_short}}}}}",
        f"{_part}_normed": rf"N_{{\mathrm{{{_short}}}}}",
    }
"""The parts of a transformer block, and the layer norm of each."""
VARIANTS = {
    "head_": "{}^{{(h)}}",
    "today_": r"{}^{{\ast}}",
    "grouped_": r"{}^{{\mathrm{{gr}}}}",
    "rotary_": r"{}^{{\mathrm{{rot}}}}",
    "alibi_": r"{}^{{\mathrm{{al}}}}",
    "windowed_": r"{}^{{\mathrm{{win}}}}",
    "cap_": r"{}^{{\mathrm{{cap}}}}",
    "decoded_": "{}^{{+}}",
    "layer_0_": "{}^{{0}}",
    "layer_1_": "{}^{{1}}",
    "linear_": r"{}^{{\mathrm{{lin}}}}",
    "changed_": "{}'",
    "zero_filled_": "{}^{{0}}",
    "drawn_": "{}^{{0}}",
    "scaled_": r"{}_{{/\sqrt d}}",
    "unmasked_": "{}",
    "zeroed_": r"{}\odot M",
    "renormalised_": r"\overline{{{}\odot M}}",
}
"""How the symbol of a variant is written, by the beginning of its name."""


GRADIENT = "grad_"
"""What the name of a gradient begins with, and the names of what it is made of hold."""
GRADIENTS = {
    GRADIENT: r"\mathrm{{d}}{}",
    "weighed_grad_": r"\mathrm{{d}}{{{}}}^{{\odot}}",
    "mean_grad_": r"\overline{{\mathrm{{d}}{}}}",
    "centred_grad_": r"\widehat{{\mathrm{{d}}{}}}",
}
"""How the gradient by a tensor is written, dW for ∂loss/∂W, and what its softmax is made of."""
OUTER = {"cross_": r"{{}}^{{\times}}{}", "repaired_": r"{{}}^{{\checkmark}}{}"}
"""How the symbols of a whole part of a trace are written, its variants too: a sign on the left."""


@lru_cache(maxsize=4_096)
def symbol_of(name: str) -> str:
    """The LaTeX symbol of a tensor; a name that the glossary does not know stands for itself."""
    known = _known(name)
    return r"\mathrm{" + name.replace("_", r"\_") + "}" if known is None else known


def _known(name: str) -> str | None:
    if name in SYMBOLS:
        return SYMBOLS[name]
    for beginning, pattern in VARIANTS.items():
        if name.startswith(beginning) and (known := SYMBOLS.get(name.removeprefix(beginning))):
            return pattern.format(known)
    for beginning, pattern in OUTER.items():
        if name.startswith(beginning) and (known := _known(name.removeprefix(beginning))):
            return pattern.format(known)
    for beginning, pattern in GRADIENTS.items():
        if name.startswith(beginning):
            of, _, way = name.removeprefix(beginning).partition("_by_")
            known, by = _known(of), _known(way)
            if known and bool(way) == bool(by):
                return pattern.format(known) + (rf"^{{({by})}}" if by else "")
    return None
