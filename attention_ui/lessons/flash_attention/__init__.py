"""What the lesson on flash attention shows: tiles that are played, one taken apart, what it saves."""
