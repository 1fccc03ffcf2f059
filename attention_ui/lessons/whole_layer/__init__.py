"""The lesson on the whole layer."""
