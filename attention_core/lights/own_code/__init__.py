"""The file that checks a learner's own code is made of these sources: torch is all they need."""
