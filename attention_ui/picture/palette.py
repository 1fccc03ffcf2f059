"""The colours of numbers: few, calm, safe for colour-blind readers.

The sign of a number is a hue and its size how much of it lies on the page, in the light theme and
in the dark one: 0 is the page itself, and what is large stands out. Text takes the page's own ink.
"""

NEGATIVE, POSITIVE = "#CC5A46", "#3A80C4"
FAINT, FULL = 0.05, 0.85
"""How opaque a cell of 0 is, and the strongest one: its number is still read on it."""
INK = "currentColor"
MUTED = "#7F858D"
"""Marks that stand on the page itself: seen on the light and on the dark one alike."""
BAR = "#3472AD"
CHOSEN = "#E08A00"
"""Around a cell that is pointed at or open, and around what it is made of."""
FED = "#1B998B"
"""Around what is made of it."""
GREY = "#A9A396"
HEADS = ["#4477AA", "#EE6677", "#228833", "#CCBB44", "#66CCEE", "#AA3377", "#8C8C8C", "#A0672C"]
"""One a head, for thin marks beside numbers (after Paul Tol's bright scheme)."""
NEUTRAL, LOST, GONE = "#F4F1EA", "#DE9A8B", "#93B7DA"
"""Grounds of a table's cells: as it was, changed, and not there any more. Their ink is black."""
FORBIDDEN = "#9F62D8"
"""The edge of what a mask forbids."""
