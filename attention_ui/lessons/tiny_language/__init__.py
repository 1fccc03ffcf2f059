"""A tiny language: a trained network whose heads have names that were measured."""
