"""Web pages over named reads: rendered on the server, read-only, everything escaped."""
