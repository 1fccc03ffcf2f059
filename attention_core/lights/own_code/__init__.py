"""What the file that checks a learner's own code is made of: it needs torch and nothing else."""
