"""What the lesson on tokens and embeddings shows beside its equations."""
