"""The choice between the other mechanisms, under the same budget."""

from headcount.privacy.mechanisms.auto.mechanism import Auto

__all__ = ["Auto"]
