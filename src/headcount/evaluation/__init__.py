"""Methods side by side on data whose truth is known: unsafe diagnostics, never a release.

Everything here looks at true counts and true percentiles and draws its noise from a seeded NumPy
generator, so nothing that comes out of it is private. It says how many counts each method would
release on some data and how many of those would be close, as the paper's evaluation does.

Read `dataset`, then `methods` (what a method is), `thresholds` and `partition_selection`, then the
methods themselves (`pcr`, `plume`, `thresholding`), then `trials` and `summary`.
`standin` makes data up, for forecasts.
"""
