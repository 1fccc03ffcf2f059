"""Lights: what attention should do, measured on a trace or on a learner's own code."""
