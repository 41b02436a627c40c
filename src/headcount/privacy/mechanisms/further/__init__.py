"""What may be asked beside the counts: totals of all users."""

from headcount.privacy.mechanisms.further.further import Further
from headcount.privacy.mechanisms.further.totals import Totals

__all__ = ["Further", "Totals"]
