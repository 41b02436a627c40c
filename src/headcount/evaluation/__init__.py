"""Methods compared on data whose true counts are known: unsafe diagnostics, never a release.

Everything here reads true counts and true percentiles and draws its noise from a seeded NumPy
generator, so no result is private. As in the paper's evaluation, the results say how many counts
each method would release on a dataset, and how many of those would be close to the truth.

Read `dataset`, then `methods` (what a method is), `thresholds` and `partition_selection`, then the
methods themselves (`release`, `plume`, `thresholding`), then `trials` and `summary`.
`standin` makes up data for forecasts.
"""
