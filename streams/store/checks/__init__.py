"""Whether what must hold holds: ``groundwatch store verify``.

A fault counts only when a second look a moment later finds it, too: a live process writes between our reads.
"""

from streams.store.checks.run import Verification, run_checks

__all__ = ["Verification", "run_checks"]
