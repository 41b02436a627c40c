"""Noise on every count and a threshold, for a known contribution bound."""

from headcount.privacy.mechanisms.threshold.mechanism import Threshold

__all__ = ["Threshold"]
