"""The notebooks' numbers: everything they print, computed again and set beside the print."""
