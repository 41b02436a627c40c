"""What a SELECT does with rows, and where its user column comes from.

Only what is known to be harmless passes: syntax and functions that see one row at a time and
always give the same result for it, and columns that a table declares. Anything unknown counts as
mixing rows, so that a guarantee says too little rather than too much.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from headcount.engines.catalog import Catalog, Relation
from headcount.errors import SourceError
from headcount.inputs.unit import Unit

_Node: TypeAlias = Any  # of sqlglot

# Names of sqlglot's classes; not every version has all of them.
_SYNTAX = """
    Select Subquery From Table TableAlias Where With CTE Union Order Ordered
    Alias Column Identifier Star Literal Null Boolean Paren Tuple Var DataType DataTypeParam
    And Or Xor Not EQ NEQ NullSafeEQ NullSafeNEQ GT GTE LT LTE Is In Between Like ILike Escape
    SimilarTo Glob RegexpLike RegexpILike RegexpFullMatch Case If Cast TryCast Collate
    Add Sub Mul Div IntDiv Mod Pow Neg DPipe BitwiseAnd BitwiseOr BitwiseXor BitwiseNot
    BitwiseLeftShift BitwiseRightShift Interval IntervalSpan AtTimeZone
    JSONPath JSONPathRoot JSONPathKey JSONPathSubscript
"""
_FUNCTIONS = """
    Coalesce Nullif Greatest Least Abs Sign Ceil Floor Round Trunc Sqrt Cbrt Exp Ln Log
    Lower Upper Initcap Trim Left Right Substring Length Concat ConcatWs Replace Translate
    Reverse Repeat Pad Ascii Unicode Chr SplitPart StrPosition StartsWith EndsWith Contains
    Levenshtein RegexpReplace RegexpExtract Hex Unhex ToBase64 FromBase64 Encode Decode
    MD5 SHA SHA2 Extract Year Quarter Month Week WeekOfYear Day DayOfMonth DayOfWeek
    DayOfWeekIso DayOfYear Hour Minute Second DateTrunc TimestampTrunc DateDiff DateAdd DateSub
    TimeToStr StrToTime StrToDate TimeToUnix UnixToTime LastDay
    JSONExtract JSONExtractScalar Explode
"""
_ONE_ROW_AT_A_TIME = frozenset((_SYNTAX + _FUNCTIONS).split())

# Columns that a table has without declaring them: where a row lies, when it was written.
_SYSTEM_COLUMNS = re.compile(
    "ctid|[xc]min|[xc]max|tableoid|oid|rowid|_rowid_|filename|file_row_number|file_index"
)
# Words that are functions in PostgreSQL unless they are quoted.
_KEYWORDS = re.compile(
    "user|(current|session|system)_(user|role|catalog|schema|date|time|timestamp)|local(time|timestamp)"
)
# What DuckDB reads by inferring types and names from the rows.
_INFERRING = re.compile(
    r"(read|sniff)_(csv|json|ndjson|xlsx)\w*|st_read\w*|query(_table)?", re.IGNORECASE
)
_TEXT_FILE = re.compile(r".*\.(csv|tsv|txt|json|jsonl|ndjson|xlsx)(\W.*)?", re.IGNORECASE)

# The columns of a query or table, in order: the name of each, and the column of a table or view
# that it is, unchanged, if any. None, not a list, for a function or a file, whose columns are not
# known.
_Columns: TypeAlias = list[tuple[str, str | None]] | None
_NO_TELLING: _Columns = []


def unit_of_query(
    select: str, dialect: str, user: str | None, catalog: Catalog
) -> tuple[Unit, str | None]:
    """Return what the guarantee of a release from a SELECT is about, and by which column.

    If the result's user column is an unchanged column of a table or view, that is its name there;
    if the columns are not known, it is ``user``; otherwise None.

    Args:
        select: the query, checked to be a single SELECT.
        dialect: what sqlglot calls its dialect.
        user: the user column of its result; None if it does not matter where it comes from.
        catalog: the tables and functions that the query may refer to.
    """
    import sqlglot

    reading = _Reading(dialect, catalog)
    columns = reading.read(sqlglot.parse_one(select, dialect=dialect))
    origin = user
    if user is not None and columns is not None:
        name = user if dialect == "postgres" else user.casefold()
        origin = _only([origin for column, origin in columns if column == name])
        if origin is None:
            return Unit.COMPUTED, None
    mixes = reading.mixes or catalog.redefines(set(re.findall(r"\w+", select.lower())))
    return (Unit.QUERY if mixes else Unit.USER), origin


def _only(origins: list[str | None]) -> str | None:
    """Return the column that all of these are; None if they are not all one column."""
    return origins[0] if len(set(origins)) == 1 else None


class _Reading:
    """One walk over a query."""

    def __init__(self, dialect: str, catalog: Catalog) -> None:
        self._dialect = dialect
        self._catalog = catalog
        #: Whether one person's rows may change what becomes of another's.
        self.mixes = False

    def read(self, query: _Node) -> _Columns:
        """Return the columns of the result."""
        from sqlglot import exp

        for node in query.walk():
            self.mixes = self.mixes or not _sees_one_row(node)
            if isinstance(node, exp.Table) and self._dialect == "duckdb":
                self._refuse_inference(node)
        return self._of_query(query, {})

    def _refuse_inference(self, table: _Node) -> None:
        function = "" if table.name else table.this.sql(dialect=self._dialect).partition("(")[0]
        file = "" if self._relation(table) else table.name
        if _INFERRING.fullmatch(function) or _TEXT_FILE.fullmatch(file):
            raise SourceError(
                "the SQL reads a text file, and DuckDB would infer its types from the rows: one "
                "person's row could change them; give the file itself as the source"
            )

    def _relation(self, table: _Node) -> Relation | None:
        if table.catalog or not table.name:
            return None
        schema = table.args.get("db")
        return self._catalog.relation(schema and self._name(schema), self._name(table.this))

    def _name(self, identifier: _Node) -> str:
        """Return a name in the form that the database compares."""
        name = str(identifier.name)
        if self._dialect != "postgres":
            return name.casefold()
        return name if identifier.args.get("quoted") else name.lower()

    def _of_query(self, query: _Node, known: Mapping[str, _Columns]) -> _Columns:
        """Return the columns of a query, which may refer to some others by name."""
        from sqlglot import exp

        with_ = _argument(query, "with")
        for cte in with_.expressions if with_ else ():
            columns = self._renamed(cte, self._of_query(cte.this, known))
            known = {**known, self._name(cte.args["alias"].this): columns}
        if isinstance(query, exp.Subquery):
            return self._of_query(query.this, known)
        if isinstance(query, exp.Table):  # in parentheses
            return self._source(query, known)[1]
        if isinstance(query, exp.Select):
            return self._of_select(query, known)
        if not isinstance(query, exp.SetOperation):
            self.mixes = True
            return _NO_TELLING
        left, right = (self._of_query(side, known) for side in (query.left, query.right))
        # Columns are matched by position, which a join may change.
        by_position = not query.args.get("by_name") and query.find(exp.Join) is None
        if left and right and len(left) == len(right) and by_position:
            pairs = zip(left, right, strict=True)
            return [(name, _only([first, second])) for (name, first), (_, second) in pairs]
        return None if left is None and right is None else _NO_TELLING

    def _of_select(self, select: _Node, known: Mapping[str, _Columns]) -> _Columns:
        from sqlglot import exp

        sources = list(self._sources(select, known))
        aliases = {self._name(shown.args["alias"]) for shown in select.expressions if shown.alias}
        for node in _expressions_of(select):
            if isinstance(node, exp.Query):
                self.mixes = True
            elif isinstance(node, exp.Column) and not node.is_star:
                name = self._name(node.this)
                of_this_query = name in aliases and not _SYSTEM_COLUMNS.fullmatch(name)
                self.mixes = self.mixes or not (of_this_query or self._found(node, sources))
        columns: list[tuple[str, str | None]] = []
        for shown in select.expressions:
            if shown.is_star:
                starred = self._of_star(shown, sources)
                if starred is None:
                    return None
                columns += starred
                continue
            name = shown.args.get("alias") or shown.this
            found = self._found(shown.unalias(), sources)
            named = isinstance(name, exp.Identifier)
            columns.append((self._name(name) if named else "", _only(found)))
        return columns

    def _sources(
        self, select: _Node, known: Mapping[str, _Columns]
    ) -> Iterator[tuple[str, _Columns]]:
        """Yield the name and the columns of each source in FROM and its joins."""
        first = _argument(select, "from")
        joins = select.args.get("joins") or []
        for part in (first, *joins):
            if part is not None:
                yield self._source(part.this, known)

    def _source(self, source: _Node, known: Mapping[str, _Columns]) -> tuple[str, _Columns]:
        from sqlglot import exp

        called = self._name(source.args["alias"].this) if source.alias else ""
        columns: _Columns = None
        if isinstance(source, exp.Subquery):
            columns = self._of_query(source, known)
        elif isinstance(source, exp.Table) and source.name:
            name = self._name(source.this)
            called = called or name
            if name in known and not source.db:
                columns = known[name]
            elif relation := self._relation(source):
                self.mixes = self.mixes or not relation.stored
                folded = self._dialect != "postgres"
                names = [column.casefold() if folded else column for column in relation.columns]
                columns = [(column, column) for column in names]
            else:
                self.mixes = True
        else:
            self.mixes = True
        return called, self._renamed(source, columns)

    def _renamed(self, source: _Node, columns: _Columns) -> _Columns:
        """Return columns under the names that ``AS t(a, b)`` gives to the first of them."""
        alias = source.args.get("alias")
        names = (
            [self._name(column) for column in (alias.args.get("columns") or ())] if alias else []
        )
        if columns is None:
            return _NO_TELLING if names else None
        return [
            (name, origin) for name, (_, origin) in zip(names, columns, strict=False)
        ] + columns[len(names) :]

    def _found(self, column: _Node, sources: list[tuple[str, _Columns]]) -> list[str | None]:
        """Return the origin of each column that may be meant, if any."""
        from sqlglot import exp

        if not isinstance(column, exp.Column):
            return []
        name, table = self._name(column.this), column.args.get("table")
        bare = self._dialect == "postgres" and not table and not column.this.args.get("quoted")
        if bare and _KEYWORDS.fullmatch(name):
            return []
        found: list[str | None] = []
        for called, columns in sources:
            if table and called != self._name(table):
                continue
            if columns is None:
                found += [name] * (not _SYSTEM_COLUMNS.fullmatch(name))
            else:
                found += [origin for known, origin in columns if known == name]
        return found

    def _of_star(self, star: _Node, sources: list[tuple[str, _Columns]]) -> _Columns:
        from sqlglot import exp

        table = star.args.get("table")
        columns: list[tuple[str, str | None]] = []
        for called, of_source in sources:
            if table and called != self._name(table):
                continue
            if of_source is None:
                return None
            columns += of_source
        changes = star.find(exp.Star)
        if changes.args.get("rename"):
            return _NO_TELLING
        gone = {self._name(column) for column in _argument(changes, "except") or ()}
        new = {self._name(alias.args["alias"]) for alias in changes.args.get("replace") or ()}
        return [
            (name, None if name in new else origin) for name, origin in columns if name not in gone
        ]


def _sees_one_row(node: _Node) -> bool:
    from sqlglot import exp

    if isinstance(node, exp.Union) and node.args.get("distinct") is not False:
        return False
    if isinstance(node, exp.With) and node.args.get("recursive"):
        return False
    if isinstance(node, exp.In) and node.args.get("field") is not None:
        return False  # SQLite's `x IN table`
    if isinstance(node, exp.DataType) and node.this == exp.DataType.Type.USERDEFINED:
        return False
    return type(node).__name__ in _ONE_ROW_AT_A_TIME


def _expressions_of(select: _Node) -> Iterator[_Node]:
    """Yield the expressions of a SELECT, except those in FROM, joins and WITH."""
    from sqlglot import exp

    for key, value in select.args.items():
        if key.rstrip("_") in ("from", "joins", "with"):
            continue
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, exp.Expression):
                yield from part.walk(prune=lambda node: isinstance(node, exp.Query))


def _argument(node: _Node, name: str) -> _Node:
    """Return an argument whose name is a Python keyword, and so differs between versions."""
    return node.args.get(f"{name}_") or node.args.get(name)
