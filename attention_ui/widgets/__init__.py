"""Grids to type in, and long work in slices."""
