"""Attention without softmax: a memory in the place of a list of keys and values."""
