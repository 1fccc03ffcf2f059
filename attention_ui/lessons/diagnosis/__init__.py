"""The diagnosis game: an unseen mistake, to be named from tensors and lights."""
