"""Tests; a package of its own so that ``tests.builders`` never resolves to a stray ``tests`` folder elsewhere."""
