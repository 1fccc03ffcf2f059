# Goes into tests/core/test_oracle_each.py, after: ORACLES = {
    "Halve": lambda _, a: a / 2,
