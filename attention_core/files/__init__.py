"""Files of tensors on this machine: their names, shapes and numbers, and nothing that runs."""
