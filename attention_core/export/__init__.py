"""What can be taken along: programs, notebooks, exercises and their checker."""
