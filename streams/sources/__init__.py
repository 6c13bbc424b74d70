"""Bytes of a source topic to traces: what is around a value, then its envelope, its convention or a mapping."""
