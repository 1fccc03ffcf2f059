"""Questions that are asked before their answer is shown."""
