"""From the bytes of one message to raw spans, one module a wire format; a bad span never costs its neighbours."""
