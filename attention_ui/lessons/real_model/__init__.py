"""A real language model, looked into: from a sentence to the numbers of one head."""
