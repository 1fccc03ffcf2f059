"""What a person calls each setting: the label of its control, as a sentence can have it.

No two are alike: a teacher chooses among them what a link is to hide.
"""

LABELS = {
    # The sentence and its embeddings.
    "example": "Example",
    "text": "Text",
    "tokenizer": "Tokenizer",
    "ids": "Ids",
    "learned": "Vocabulary built from",
    "reserved": "Reserved rows",
    "seed": "Seed",
    "width": "Width of the vectors, d_in",
    "drop_blanks": "Drop blank tokens",
    "positions": "Positions",
    "edits": "Numbers typed into the embeddings",
    "query": "Query",
    "predict": "Ask me to predict",
    # Tokenize and embed.
    "table_rows": "Rows: tokens in the vocabulary",
    "table_width": "Width of a vector",
    "across": "Across",
    "up": "Up",
    # Simplified attention.
    "likeness": "Compare by",
    "divide": "Divide scores by",
    "stretch": "Stretch the vector of",
    "factor": "Stretch by the factor",
    # Softmax or dividing by the sum.
    "row_from": "Scores from",
    "typed": "Scores",
    "shift": "Add to all scores",
    "magnify": "Multiply all scores by",
    "push": "Add to all scores, until they overflow",
    "precision": "Numbers are kept in",
    # Why divide by √d.
    "draw_seed": "Seed of this lesson",
    "vd": "Width d",
    "trials": "Trials",
    "entries": "Entries",
    "spread": "Their standard deviation",
    "vlook": "Look at",
    "vaxes": "Axes",
    # Trainable queries, keys and values.
    "token": "Token",
    "start": "Start as",
    "d_out": "Width of queries and keys, d_out",
    "d_v": "Width of values",
    "scale": "Divide scores by, with trainable matrices",
    "bias": "Bias",
    "w_seed": "Seed of all three matrices",
    "q_seed": "Seed of W_query",
    "k_seed": "Seed of W_key",
    "v_seed": "Seed of W_value",
    "q_edits": "Numbers typed into W_query",
    "k_edits": "Numbers typed into W_key",
    "v_edits": "Numbers typed into W_value",
    "rate": "Learning rate",
    "steps": "Steps",
    "t_width": "Width d_out of the trained layer",
    "t_seed": "Seed of the training",
    "t_scaled": "Divide by √d",
    # The causal mask.
    "causal": "Causal: no later key",
    "window": "Window: keys, its own included",
    "hidden": "A key that nobody sees",
    "turned": "Cells of the mask turned by hand",
    "way": "Hide by",
    "changed_token": "Change the vector of",
    "change_by": "Add to each entry",
    "dropout": "Chance of being dropped",
    "drop_seed": "Seed of the draw",
    # Multi-head attention.
    "heads": "Heads",
    "d_model": "Width of the output, d_model",
    "d_head": "Width of a head, d_head",
    "d_value": "Width of its values, d_value",
    "causal_heads": "Causal: hide what comes later",
    "h_seed": "Seed of the matrices",
    "head": "Head",
    "head_off": "Switch off head",
    "head_cut": "Head that is cut",
}


def label(name: str) -> str:
    """The label of a setting; its name in words, where it has no control of its own."""
    return LABELS.get(name, name.replace("_", " "))
