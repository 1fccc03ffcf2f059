"""Real language models, from the files that people have of them: opened, run, looked into.

    model = open_model("SmolLM2-135M-Instruct.Q4_1.gguf")
    found = run(model, model.tokenizer.encode("The capital of France is").ids)
    found.weights  # (layer, head, query, key)

Nothing is downloaded, and nothing in a file is ever executed.
"""
