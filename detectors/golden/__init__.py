"""Golden sets: questions whose good answers people agreed on, recorded answers with their labels, locked hold-outs."""

from detectors.golden.files import read_for_tuning, read_golden, read_lock
from detectors.golden.judging import claims_of, trace_of
from detectors.golden.lock import HoldoutLock, LockBreach, Unlocking, breaches, lock_path, locked, relocked
from detectors.golden.reading import LineFault, golden_text, parse_golden, read_golden_lines, read_well_formed
from detectors.golden.sets import GoldenSet, LabelledCase

__all__ = [
    "GoldenSet",
    "HoldoutLock",
    "LabelledCase",
    "LineFault",
    "LockBreach",
    "Unlocking",
    "breaches",
    "claims_of",
    "golden_text",
    "lock_path",
    "locked",
    "parse_golden",
    "read_for_tuning",
    "read_golden",
    "read_golden_lines",
    "read_lock",
    "read_well_formed",
    "relocked",
    "trace_of",
]
