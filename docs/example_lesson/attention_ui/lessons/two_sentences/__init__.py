"""Two sentences: one looks at the other."""
