"""What may be asked besides the counts: totals of all users; rows, sums and means of items."""

from headcount.privacy.mechanisms.further.aggregates import Aggregates
from headcount.privacy.mechanisms.further.further import Further
from headcount.privacy.mechanisms.further.totals import Totals

__all__ = ["Aggregates", "Further", "Totals"]
