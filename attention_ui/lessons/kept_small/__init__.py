"""Keys and values, kept small: five ways to keep less of each token."""
