"""What the lesson on the transformer block shows: a stream for each token, and what adds to it."""
