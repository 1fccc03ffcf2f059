"""Watch heads learn: a network that comes to continue what repeats, moment by moment."""
