"""The lesson on the attention of today, in a real browser: at first sight, and in use."""
