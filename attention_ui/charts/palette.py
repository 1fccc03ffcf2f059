"""The colours of numbers: few, calm, safe for colour-blind readers, the same in light and dark.

Cells keep their own light or strong ground in both themes, so a number's ink depends on its cell
and not on the page. Text outside cells takes the page's colour from Streamlit's theme.
"""

NEGATIVE, ZERO, POSITIVE = "#A8382B", "#F4F1EA", "#124C83"
DIVERGING = [NEGATIVE, "#DE9A8B", ZERO, "#93B7DA", POSITIVE]
INK, PAPER = "#000000", "#FFFFFF"
MUTED = "#7F858D"
"""Marks that stand on the page itself: seen on the light and on the dark one alike."""
BAR = "#3472AD"
CHOSEN = "#E08A00"
GREY = "#A9A396"
HEADS = ["#4477AA", "#EE6677", "#228833", "#CCBB44", "#66CCEE", "#AA3377", "#8C8C8C", "#A0672C"]
"""One a head, for thin marks beside numbers (after Paul Tol's bright scheme)."""
ON_STRONG = "datum.shade > 0.785 || datum.shade < -0.835"
"""Where white is easier to read on a cell than black; either has a contrast of at least 4.5."""
