"""Numbers on the command line: plain decimal notation in ASCII, and nothing else.

Python's own float() and int() also take 1_0, digits of other scripts, blanks around the number, and
nan: a mistyped budget must not become a different one.
"""

import math
import re
from typing import Any

import click

_FLOAT = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
# Python refuses thousands of digits. An exponent makes a whole number longer, never shorter.
_WHOLE = re.compile(r"([+-]?[0-9]{1,100})(?:[eE]\+?([0-9]{1,2}))?")


class Float(click.types.FloatParamType):
    """A finite number, such as 0.5 or 1e-6, perhaps with limits that it must lie between."""

    def __init__(self, above: float = -math.inf, below: float = math.inf) -> None:
        self._above, self._below = above, below

    def convert(
        self,
        value: Any,  # noqa: ANN401 (a default is a number already)
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> float:
        """Return the number that was written."""
        if isinstance(value, str) and not _FLOAT.fullmatch(value):
            self.fail(f"{value!r} is not a number such as 0.5 or 1e-6.", param, ctx)
        number = float(value)
        if not self._above < number < self._below:
            self.fail(f"it must be {self._limits()}.", param, ctx)
        return number

    def _limits(self) -> str:
        if self._below < math.inf:
            return f"above {self._above:g} and below {self._below:g}"
        above = "" if self._above == -math.inf else f" above {self._above:g}"
        return f"a finite number{above}"


class Whole(click.types.IntParamType):
    """A whole number, such as 10 or 1e5, perhaps with a minimum."""

    def __init__(self, least: int | None = None) -> None:
        self._least = least

    def convert(
        self,
        value: Any,  # noqa: ANN401
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> int:
        """Return the number that was written."""
        if isinstance(value, str):
            written = _WHOLE.fullmatch(value)
            if written is None:
                self.fail(f"{value!r} is not a whole number such as 10 or 1e5.", param, ctx)
            value = int(written[1]) * 10 ** int(written[2] or 0)
        number = int(value)
        if self._least is not None and number < self._least:
            self.fail(f"it must be at least {self._least}.", param, ctx)
        return number
