"""Wiring: sources, agents, store, broker, command line. Everything that touches a clock, a socket or a disk lives here."""
