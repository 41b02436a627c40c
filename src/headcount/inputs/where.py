"""A condition on the rows that are read, written as in SQL: ``country = 'DE' AND age >= 18``.

It is parsed here and rebuilt as an Ibis expression, so that its text never reaches an engine;
anything not listed below is refused. Everything listed sees the columns of one row only, and always
gives the same result for it, so whose privacy is protected does not change.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from functools import reduce
from operator import add, and_, eq, ge, gt, le, lt, mod, mul, ne, or_, sub, truediv
from typing import Any, TypeAlias
from uuid import UUID

from headcount.engines.base import Expression
from headcount.engines.names import UNSPEAKABLE, is_unspeakable, no_such_column
from headcount.errors import SourceError

_Node: TypeAlias = Any  # of sqlglot

# The sqlglot dialect that a condition is written in, on every engine.
_DIALECT = "duckdb"

_COMPARE = {"EQ": eq, "NEQ": ne, "GT": gt, "GTE": ge, "LT": lt, "LTE": le}
_LOGIC = {"And": and_, "Or": or_}
_ARITHMETIC = {"Add": add, "Sub": sub, "Mul": mul, "Div": truediv, "Mod": mod}
_OF_TEXT: dict[str, Callable[[Any], Any]] = {
    "Lower": lambda text: text.lower(),
    "Upper": lambda text: text.upper(),
    "Trim": lambda text: text.strip(),
    "Length": lambda text: text.length(),
}
_OF_TIME: dict[str, Callable[[Any], Any]] = {
    "Year": lambda time: time.year(),
    "Month": lambda time: time.month(),
    "Day": lambda time: time.day(),
}
_TYPES = {
    "int64": ("TINYINT", "SMALLINT", "INT", "BIGINT"),
    "float64": ("FLOAT", "DOUBLE"),
    "string": ("TEXT", "VARCHAR", "CHAR"),
    "boolean": ("BOOLEAN",),
    "date": ("DATE",),
    "timestamp": ("TIMESTAMP", "TIMESTAMPNTZ"),
}
_IBIS_TYPES = {name: kind for kind, names in _TYPES.items() for name in names}
_SYNTAX = "Column Identifier Literal Boolean Null Paren Not Is In Between Like ILike Neg Cast"
_MORE = "TryCast DataType DPipe Coalesce Abs Extract Var"
_KNOWN = {*_COMPARE, *_LOGIC, *_ARITHMETIC, *_OF_TEXT, *_OF_TIME, *_SYNTAX.split(), *_MORE.split()}

# How text is read that is compared with a time (as ISO 8601, nothing looser) or with a UUID.
_FROM_TEXT: dict[str, Callable[[str], Any]] = {
    "date": date.fromisoformat,
    "timestamp": datetime.fromisoformat,
    "time": time.fromisoformat,
    "uuid": UUID,
}
_EXAMPLE = "2026-05-31 or 2026-05-31 12:00:00"

# Kinds of values that can be compared with their own kind, as Ibis names them.
_KINDS = ("numeric", "string", "boolean", "date", "timestamp", "time", "uuid")

_SEE = "see --sql (sql=) for what a condition cannot express"


@dataclass(frozen=True)
class Where:
    """A condition on the columns of a row.

    Attributes:
        text: the condition as it was written.
        columns: the columns that it names, in the order in which they first appear.
    """

    text: str
    columns: tuple[str, ...]

    def applied_to(self, table: Expression) -> Expression:
        """Return the rows of a table for which the condition is true.

        Formal guarantee: whether a row is left out depends on that row alone.

        Raises:
            SourceError: a column is missing, or values of different types are compared.
        """
        for column in self.columns:
            if column not in table.columns:
                there = no_such_column(column, table.columns)
                raise SourceError(f"the condition on rows cannot be used: {there}")
        try:
            condition = _Translation(table).of(_condition(self.text))
            if not condition.type().is_boolean():
                raise _refused("is neither true nor false for a row")
            return table.filter(condition)
        except SourceError:
            raise
        except RecursionError:
            raise _refused("has too many parts") from None
        except Exception:  # whatever Ibis rejects: it has seen only types and the condition
            raise _refused("compares or combines values of incompatible types") from None


def parsed(text: str) -> Where:
    """Return a condition after checking its form, whatever the columns of the table are.

    Raises:
        SourceError: it is not exactly one condition on the columns of a row.
    """
    from sqlglot import exp

    if not isinstance(text, str):
        raise SourceError("a condition on rows is given as text")
    if is_unspeakable(text):
        raise SourceError(f"the condition on rows {UNSPEAKABLE}")
    condition = _condition(text)
    columns = [node for node in condition.walk() if isinstance(node, exp.Column)]
    names = [node.name for node in columns]
    if not names:
        raise _refused("names no column")
    if any(node.args.get("table") for node in columns):
        raise _refused("names a column with its table; give the name of the column alone")
    return Where(text, tuple(dict.fromkeys(names)))


def _condition(text: str) -> _Node:
    from sqlglot import Dialect, exp
    from sqlglot.errors import SqlglotError

    logging.getLogger("sqlglot").setLevel(logging.ERROR)  # what it warns of is refused below
    try:
        # After this word, no column name is taken for a command.
        found = Dialect.get_or_raise(_DIALECT).parse_into(exp.Where, f"WHERE {text}")
    except (SqlglotError, RecursionError):
        found = []
    if len(found) != 1 or not isinstance(found[0], exp.Where):
        raise SourceError(
            "the condition on rows cannot be parsed; write it like a WHERE clause in SQL, with "
            "text in single quotes and columns that are SQL keywords in double quotes"
        )
    condition = found[0].this
    for node in condition.walk():
        if type(node).__name__ not in _KNOWN:
            raise _refused(f"uses {_called(node)}, which is not allowed")
    return condition


def _called(node: _Node) -> str:
    from sqlglot import exp

    if isinstance(node, exp.Anonymous):
        return f"the function {node.name!r}"
    return f"{type(node).__name__.upper()}"


def _refused(what: str) -> SourceError:
    return SourceError(f"the condition on rows {what}; {_SEE}")


class _Translation:
    """A condition as an expression on a table."""

    def __init__(self, table: Expression) -> None:
        self._table = table

    def of(self, node: _Node) -> Expression:
        """Return the expression for a part of the condition."""
        name = type(node).__name__
        if name in _LOGIC:
            sides = [self._boolean(side) for side in node.flatten()]
            return reduce(_LOGIC[name], sides)
        if name in _COMPARE:
            return _COMPARE[name](*self._alike(node.this, node.expression))
        if name in _ARITHMETIC:
            return _ARITHMETIC[name](self._number(node.this), self._number(node.expression))
        if name in _OF_TEXT:
            _only(node, "this")
            return _OF_TEXT[name](self._text(node.this))
        if name in _OF_TIME:
            return _OF_TIME[name](self._time(node.this))
        return getattr(self, f"_{name.lower()}")(node)

    def _column(self, node: _Node) -> Expression:
        return self._table[node.name]

    def _literal(self, node: _Node) -> Expression:
        import ibis

        if node.is_string:
            return ibis.literal(node.this)
        return ibis.literal(int(node.this) if node.this.isdigit() else float(node.this))

    def _boolean(self, node: _Node) -> Expression:
        from sqlglot import exp

        if isinstance(node, exp.Boolean):
            import ibis

            return ibis.literal(bool(node.this))
        value = self.of(node)
        if not value.type().is_boolean():
            raise _refused("uses AND, OR or NOT with something that is neither true nor false")
        return value

    def _null(self, node: _Node) -> Expression:
        raise _refused("compares with NULL; write IS NULL")

    def _paren(self, node: _Node) -> Expression:
        return self.of(node.this)

    def _not(self, node: _Node) -> Expression:
        return ~self._boolean(node.this)

    def _neg(self, node: _Node) -> Expression:
        return -self._number(node.this)

    def _is(self, node: _Node) -> Expression:
        from sqlglot import exp

        if not isinstance(node.expression, exp.Null):
            raise _refused("uses IS with something other than NULL")
        return self.of(node.this).isnull()

    def _in(self, node: _Node) -> Expression:
        _only(node, "this", "expressions")
        pairs = (self._alike(node.this, one) for one in node.expressions)
        return reduce(or_, (left == right for left, right in pairs))

    def _between(self, node: _Node) -> Expression:
        _only(node, "this", "low", "high")
        value, low = self._alike(node.this, node.args["low"])
        other, high = self._alike(node.this, node.args["high"])
        return (value >= low) & (other <= high)

    def _like(self, node: _Node) -> Expression:
        return self._text(node.this).like(_pattern(node))

    def _ilike(self, node: _Node) -> Expression:
        return self._text(node.this).ilike(_pattern(node))

    def _dpipe(self, node: _Node) -> Expression:
        return self._text(node.this) + self._text(node.expression)

    def _coalesce(self, node: _Node) -> Expression:
        import ibis

        values = [self.of(node.this)]
        values += [self._alike(node.this, other)[1] for other in node.expressions]
        return ibis.coalesce(*values)

    def _abs(self, node: _Node) -> Expression:
        return self._number(node.this).abs()

    def _extract(self, node: _Node) -> Expression:
        part = str(node.this.name).capitalize()
        if part not in _OF_TIME:
            raise _refused("extracts something other than YEAR, MONTH or DAY")
        return _OF_TIME[part](self._time(node.expression))

    def _cast(self, node: _Node) -> Expression:
        _only(node, "this", "to")
        return self._as_type(node.this, _type(node))

    def _trycast(self, node: _Node) -> Expression:
        return self.of(node.this).try_cast(_type(node))

    def _as_type(self, node: _Node, kind: str) -> Expression:
        if _is_text(node):
            return _literal_of(node.this, kind)
        return self.of(node).cast(kind)

    def _number(self, node: _Node) -> Expression:
        return _of_kind(self.of(node), "numeric", "a number")

    def _text(self, node: _Node) -> Expression:
        return _of_kind(self.of(node), "string", "text")

    def _time(self, node: _Node) -> Expression:
        value = self.of(node)
        kind = "timestamp" if value.type().is_timestamp() else "date"
        return _of_kind(value, kind, "a date or a time")

    def _alike(self, left: _Node, right: _Node) -> tuple[Expression, Expression]:
        """Return two values that can be compared; text next to a time is read as a time."""
        first, second = (
            self._boolean(side) if type(side).__name__ == "Boolean" else self.of(side)
            for side in (left, right)
        )
        if _is_text(right) and not first.type().is_string():
            second = _literal_of(right.this, first.type())
        elif _is_text(left) and not second.type().is_string():
            first = _literal_of(left.this, second.type())
        kinds = {_kind(first), _kind(second)}
        if kinds == {"date", "timestamp"} and not (_zone(first) or _zone(second)):
            return first.cast("timestamp"), second.cast("timestamp")
        if len(kinds) > 1 or None in kinds:
            raise _refused(
                "compares values of different types. Put text in single quotes; TRY_CAST(… AS "
                "DOUBLE) turns text into a number, and all columns of CSV and JSON files are text"
            )
        return first, second


def _kind(value: Expression) -> str | None:
    kind = value.type()
    return next((name for name in _KINDS if getattr(kind, f"is_{name}")()), None)


def _zone(value: Expression) -> str | None:
    return getattr(value.type(), "timezone", None)


def _of_kind(value: Expression, kind: str, called: str) -> Expression:
    if _kind(value) != kind:
        raise _refused(f"uses something as {called} that is not one")
    return value


def _literal_of(text: str, kind: Any) -> Expression:  # noqa: ANN401 (a type of Ibis)
    """Return text as a value of a type, checked here and not by an engine."""
    import ibis

    kind = ibis.dtype(kind)
    if kind.is_string():
        return ibis.literal(text)
    read = next((of for name, of in _FROM_TEXT.items() if getattr(kind, f"is_{name}")()), None)
    if read is None:
        raise _refused("has text in quotes where a value of another type is needed")
    try:
        value = read(text)
    except ValueError:
        raise _refused(
            f"has text in quotes that is not a valid {kind}; dates and times look like {_EXAMPLE}"
        ) from None
    if isinstance(value, datetime):
        if value.tzinfo is not None and not kind.timezone:
            raise _refused("has a time with a zone, but the column has none")
        if value.tzinfo is None and kind.timezone:
            value = value.replace(tzinfo=UTC)
    return ibis.literal(value, type=kind)


def _is_text(node: _Node) -> bool:
    from sqlglot import exp

    return isinstance(node, exp.Literal) and bool(node.is_string)


def _pattern(node: _Node) -> str:
    if not _is_text(node.expression):
        raise _refused("uses LIKE with something other than quoted text")
    return str(node.expression.this)


def _type(node: _Node) -> str:
    kind = node.args["to"]
    name = str(kind.this.value if hasattr(kind.this, "value") else kind.this)
    if kind.expressions or name not in _IBIS_TYPES:
        raise _refused(f"casts to {name}; it may cast to {', '.join(sorted(_IBIS_TYPES))}")
    return _IBIS_TYPES[name]


def _only(node: _Node, *arguments: str) -> None:
    """Refuse an expression with more arguments than are translated."""
    more = [key for key, value in node.args.items() if value and key not in arguments]
    if more:
        raise _refused(f"uses {_called(node)} in a form that is not supported")
