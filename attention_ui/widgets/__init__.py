"""What several lessons ask with: grids to type in, a choice of token, long work in slices."""
