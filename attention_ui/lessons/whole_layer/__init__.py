"""The lesson on the whole layer: every step from tokens to output in one picture."""
