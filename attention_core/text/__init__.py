"""From a sentence to embeddings: tokenizers, vocabularies, inputs."""
