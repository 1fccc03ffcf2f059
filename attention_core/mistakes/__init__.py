"""Mistakes: those of one step, which exercises name, and those of a whole layer, to be tried."""
