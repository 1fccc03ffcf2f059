"""What the lesson on the causal mask shows beside its equations."""
