"""The controls that lessons share, and what a link of this app says beside them."""
