"""A budget for a dataset that no sequence of releases overspends.

`ledger.md` has the proof. To read the code: `entries` (what is written down), `amounts` and
`balance` (what it adds up to), `store` (where it is kept), `ledger` (what may be done), `charge`
(what a release does).
"""

from headcount.ledger.charge import Charge
from headcount.ledger.ledger import Ledger

__all__ = ["Charge", "Ledger"]
