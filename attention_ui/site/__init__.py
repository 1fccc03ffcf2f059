"""Lessons as files: what their cards yield, written without a server behind it."""
