"""Attention as traces: scores, weights and context vectors, masks and heads."""
