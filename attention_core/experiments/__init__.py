"""What is measured over many draws or steps: variances, saturation, training."""
