"""Noise on every count and a threshold, for a known contribution bound."""
