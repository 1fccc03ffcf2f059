"""Charts: pure functions of steps. They know no session."""
