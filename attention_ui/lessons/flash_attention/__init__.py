"""The lesson on flash attention: tiles one at a time, one taken apart, and what they save."""
