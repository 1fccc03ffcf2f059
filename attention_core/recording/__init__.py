"""Attention of any model as it is loaded: recorded while it runs, taken apart afterwards."""
