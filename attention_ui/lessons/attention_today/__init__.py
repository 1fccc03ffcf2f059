"""What the lesson on the attention of today shows: switches, each alone, costs, and decoding."""
