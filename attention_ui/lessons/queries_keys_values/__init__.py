"""What the lesson on queries, keys and values shows beside its equations."""
