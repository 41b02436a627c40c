"""What each user has of each item, in plain Python: what every engine must answer."""

import math
from collections import defaultdict

import numpy as np

LARGEST_VALUE, MOST_ROWS, LARGEST_AMOUNT, FACTOR = 2**40, 2**29, 2**34, 2**16


class PlainAmounts:
    """Amounts of rows of a user, an item and a mapping from columns to values."""

    several_passes = True

    def __init__(self, rows):
        self.rows = [row for row in rows if row[0] is not None and row[1] is not None]

    def amounts(self):
        return self

    def _values(self, quantity, values):
        value = values.get(quantity.column)
        return [] if value is None or not math.isfinite(value) else [float(value)]

    def _of(self, released):
        """Return the rows of released items."""
        return [row for row in self.rows if row[1] in released]

    def magnitudes(self, quantity, released, at_least):
        sizes = defaultdict(list)
        for user, item, values in self._of(released):
            known = [1.0] if quantity.kind == "rows" else self._values(quantity, values)
            for value in known:
                size = abs(self._placed(quantity, value)) if quantity.kind == "sum" else 1.0
                sizes[user, item].append(min(size, 2.0**200))
        largest = defaultdict(float)
        for (user, _), each in sizes.items():
            largest[user] = max(largest[user], min(len(each), MOST_ROWS) * max(each))
        return [sum(each >= bound for each in largest.values()) for bound in at_least]

    def middles(self, quantity, released, at_least):
        values = defaultdict(list)
        for user, _, row in self._of(released):
            values[user] += [self._placed(quantity, value) for value in self._values(quantity, row)]
        middles = [sorted(each)[(len(each) - 1) // 2] for each in values.values() if each]
        return [sum(middle >= bound for middle in middles) for bound in at_least]

    def _placed(self, quantity, value):
        if quantity.bounds is not None:
            value = min(max(value, quantity.bounds[0]), quantity.bounds[1])
        return value - quantity.centre

    def measure(self, quantities, grids, released, divisors):
        place = {item: n for n, item in enumerate(released)}
        self.places = len(place)
        self.found = []
        for quantity, grid in zip(quantities, grids, strict=True):
            sums = defaultdict(lambda: defaultdict(int))
            for user, item, values in self.rows:
                if item in place:
                    sums[user][place[item]] += self._steps(quantity, grid, values)
            self.found.append(
                {
                    user: {
                        j: self._divided(quantity, grid, v, int(divisors[j]))
                        for j, v in mine.items()
                    }
                    for user, mine in sums.items()
                }
            )

    def _steps(self, quantity, grid, values):
        if quantity.kind == "rows":
            return 1
        known = self._values(quantity, values)
        if quantity.kind == "present" or not known:
            return len(known)
        value = self._placed(quantity, *known)
        steps = min(math.floor(min(abs(value), LARGEST_VALUE * grid) / grid + 0.5), LARGEST_VALUE)
        return -steps if value < 0 else steps

    def _divided(self, quantity, grid, total, divisor):
        if quantity.kind != "sum":
            total = min(total, MOST_ROWS) * int(1 / grid)
        size = min((2 * abs(total) + divisor) // (2 * divisor), LARGEST_AMOUNT)
        return -size if total < 0 else size

    def squared_norms(self, place, shift):
        return {
            user: sum((-(-abs(v) // 2**shift)) ** 2 for v in mine.values())
            for user, mine in self.found[place].items()
        }

    def norms(self, place, shift, at_least):
        norms = self.squared_norms(place, shift).values()
        return [sum(norm >= bound for norm in norms) for bound in at_least]

    def scaled_sums(self, place, ration):
        sums = [0] * self.places
        norms = self.squared_norms(place, ration.shift)
        exact = min(ration.bits, 30)
        for user, mine in self.found[place].items():
            above = max(-(-norms[user] // 2 ** (ration.bits - exact)), 1)
            factor = min(math.isqrt(FACTOR**2 * 2**exact // above), FACTOR)
            for j, v in mine.items():
                sums[j] += (-1 if v < 0 else 1) * (abs(v) * factor // FACTOR)
        return np.array(sums, dtype=np.int64)
