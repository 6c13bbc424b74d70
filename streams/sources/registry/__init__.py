"""Values behind a schema id: the registry is asked once an id, and the value becomes a JSON document to be mapped."""
