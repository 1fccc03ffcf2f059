"""What the lesson on the transformer block shows: one stream a token, and the parts that add to it."""
