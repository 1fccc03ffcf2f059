"""The mistakes lab: one mistake at a time, beside the layer done right."""
