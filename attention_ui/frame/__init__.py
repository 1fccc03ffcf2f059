"""What stands around every page: its head, the contents, the glossary, and what is shared."""
