"""Redaction: personal data and declared fields are taken out of what was decoded, before anything is written.

Pure and linear. Placeholders carry a keyed hash, so that a wrong number does not become equal to the right one.
"""
