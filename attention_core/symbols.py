"""The symbol of every named tensor in a formula: one glossary for the whole project."""

SYMBOLS = {
    "token_ids": r"\mathrm{ids}",
    "drawn_table": r"E_0",
    "embedding_table": "E",
    "one_hot": "H",
    "embeddings_by_product": r"X_{HE}",
    "token_embeddings": "X_0",
    "position_embeddings": "P",
    "embeddings": "X",
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
    "W_output": "W_O",
    "one_embedding": "x_i",
    "one_query": "q_i",
    "one_key": "k_i",
    "one_value": "v_i",
    "query_context": "z_i",
    "mask": "M",
    "masked_scores": r"S_{M}",
    "kept": "U",
    "dropped_weights": r"A_{\mathrm{drop}}",
    "concat": r"\operatorname{concat}(Z)",
    "output": "O",
    "logits": "L",
    "probabilities": "P",
    "products": r"Q \odot K",
    "dot_products": "t",
    "scaled_dot_products": r"\tilde t",
}
VARIANTS = {
    "head_": "{}^{{(h)}}",
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


def symbol_of(name: str) -> str:
    """The LaTeX symbol of a tensor; a name that the glossary does not know stands for itself."""
    if name in SYMBOLS:
        return SYMBOLS[name]
    for beginning, pattern in VARIANTS.items():
        if name.startswith(beginning) and (known := SYMBOLS.get(name.removeprefix(beginning))):
            return pattern.format(known)
    return r"\mathrm{" + name.replace("_", r"\_") + "}"
