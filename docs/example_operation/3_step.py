# Goes into tests/traces.py, after: scores = step("scores", ops.MatMul(), left, right, axes=TABLES)
    step("halved", ops.Halve(), scores, axes=TABLES)
