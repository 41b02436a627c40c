"""Runs the command line as `python -m headcount`."""

from headcount.cli import main

main()
