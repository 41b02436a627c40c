"""One level's race by itself."""

from headcount.privacy.mechanisms.pcr.race import entries, races


def race(level, candidates, alive, at_most, entropy):
    """Draw the clocks of a level, and read at most so many entries of its order of ringing."""
    ((_, order),) = races([level], candidates, alive, entropy)
    return entries(order, alive, at_most)
