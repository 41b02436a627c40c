"""The documentation site, and the charts in it: no part of what is installed."""
