"""Two computations of attention: where they part first, and what turns one into the other."""
