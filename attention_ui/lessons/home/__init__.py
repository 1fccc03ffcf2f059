"""What stands on the home page."""
