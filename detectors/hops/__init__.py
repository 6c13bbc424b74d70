"""Answers made in several hops: each hop on its own context, and claims of the answer traced back through hops."""

from detectors.hops.check import check_hops

__all__ = ["check_hops"]
