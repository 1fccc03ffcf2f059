"""Small transformers trained here, from nothing: a tiny language, and repeated random tokens."""
