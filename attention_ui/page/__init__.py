"""A lesson as parts on a page: equations, the arithmetic of a cell, comparing, taking away."""
