"""What a control is, what a visitor has chosen, and the address that says so."""
