"""The frame of every page: contents, sidebar, style, start-up, the server, sharing."""
