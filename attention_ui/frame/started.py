"""What a server is told by whoever starts it, in variables of the environment."""

MODEL = "ATTENTION_EXPLORER_MODEL"
"""The path of a model of one's own; `tiny` for our own alone, whatever is installed."""
ALONE = "ATTENTION_EXPLORER_ALONE"
"""Set to 1 by the command `attention-explorer`: whoever sees the app has started it."""
