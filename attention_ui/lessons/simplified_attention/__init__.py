"""What the lesson on simplified attention shows beside its equations."""
