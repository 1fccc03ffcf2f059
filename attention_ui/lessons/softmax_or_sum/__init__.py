"""What the lesson on softmax shows beside its equations."""
