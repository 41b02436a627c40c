"""Counts of a public list of items."""

from headcount.privacy.mechanisms.known.mechanism import Known

__all__ = ["Known"]
