"""What the lesson on √d shows beside its equations."""
