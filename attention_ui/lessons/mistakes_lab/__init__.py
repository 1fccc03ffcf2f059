"""The mistakes lab, and its other way in, *Find the mistake*: one layer, with a mistake in it."""
