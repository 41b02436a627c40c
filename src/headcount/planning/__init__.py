"""What a budget will give: a forecast from a guess, or from a stand-in that is not secret.

The mechanism itself is run on stand-in data, with seeded noise. Nothing secret is read, nothing is
charged, and no result is a release.

Read `forecast` (what is forecast, and how it is shown), `api` (what may be asked), `simulation`
(how it is computed).
"""

from headcount.planning.api import plan, typical_forecasts
from headcount.planning.forecast import Estimate, Forecast, compared

__all__ = ["Estimate", "Forecast", "compared", "plan", "typical_forecasts"]
