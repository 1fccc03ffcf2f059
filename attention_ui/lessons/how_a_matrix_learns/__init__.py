"""How a matrix learns: a loss, its gradient by every number, and what moving one does."""
