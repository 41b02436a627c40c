"""Benchmarks, as ratios in one run."""
