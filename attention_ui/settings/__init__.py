"""What a setting is, how a link holds it, and the control made from it."""
