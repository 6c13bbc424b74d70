"""Bytes of a source topic to a Trace: one decoder a format. Only the native JSON format lives here so far."""
