"""Wiring: sources, agents, store, broker, command line; all that touches a clock, a socket or a disk lives here."""
