"""The engine: what a page reads, what runs at a change, what is cached, what is visible."""
