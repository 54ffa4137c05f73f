"""Internal: exploring a model in a browser: a server for this machine alone, and the page that it serves."""
