"""Numbers on the command line: plain decimal notation in ASCII, and nothing else.

Python's own float() and int() also take 1_0, digits of other scripts, blanks around the number, and
nan: a budget that was mistyped must not become another one.
"""

import math
import re
from typing import Any

import click

_FLOAT = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_WHOLE = re.compile(r"[+-]?[0-9]{1,100}")  # Python refuses thousands of digits


class Float(click.types.FloatParamType):
    """A finite number, such as 0.5 or 1e-6, that may have to lie between two others."""

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
            self.fail(f"it must be above {self._above:g} and below {self._below:g}.", param, ctx)
        return number


class Whole(click.types.IntParamType):
    """A whole number, that may have to be at least another."""

    def __init__(self, least: int | None = None) -> None:
        self._least = least

    def convert(
        self,
        value: Any,  # noqa: ANN401
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> int:
        """Return the number that was written."""
        if isinstance(value, str) and not _WHOLE.fullmatch(value):
            self.fail(f"{value!r} is not a whole number such as 10.", param, ctx)
        number = int(value)
        if self._least is not None and number < self._least:
            self.fail(f"it must be at least {self._least}.", param, ctx)
        return number
