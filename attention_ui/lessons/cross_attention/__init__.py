"""What the lesson on cross-attention shows: two sentences, and one that looks at the other."""
