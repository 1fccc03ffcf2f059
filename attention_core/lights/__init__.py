"""Lights: what attention should do, measured on any trace, and on a learner's own code."""
