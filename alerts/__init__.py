"""Closed tallies in, alerts out: the jump test, its reference, the lifecycle, what changed, who is told.

Everything but ``notify`` is a pure fold over event-time buckets, so a replay of the tallies gives the same alerts.
"""
