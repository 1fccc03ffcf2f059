# Goes into attention_core/operations/__init__.py, after: Exp,
    Halve,
