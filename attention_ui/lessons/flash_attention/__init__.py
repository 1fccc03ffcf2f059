"""What the lesson on flash attention shows: tiles, played and taken apart, and what they save."""
