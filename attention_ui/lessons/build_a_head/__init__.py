"""Build a head: puzzles in which a head is made to do something, number by number."""
