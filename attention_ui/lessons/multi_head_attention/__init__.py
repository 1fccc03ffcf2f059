"""What the lesson on several heads shows beside its equations."""
