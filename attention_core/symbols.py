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
}


def symbol_of(name: str) -> str:
    """The LaTeX symbol of a tensor; a name that the glossary does not know stands for itself."""
    return SYMBOLS.get(name) or r"\mathrm{" + name.replace("_", r"\_") + "}"
