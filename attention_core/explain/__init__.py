"""What is said in words of a cell: why it is 0, what it copies."""
