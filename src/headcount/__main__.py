"""Lets `python -m headcount` be the command line."""

from headcount.cli import main

main()
