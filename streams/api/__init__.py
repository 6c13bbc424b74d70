"""The JSON API for commands, one module a noun; ``streams.web`` serves it and lets in who has the token."""
