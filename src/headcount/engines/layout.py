"""What the user said about files besides their name: their form, and what separates fields."""

from dataclasses import dataclass
from typing import Literal, get_args

from headcount.errors import SettingsError

#: The forms of files of events: what ``input_format=`` and ``--input-format`` accept.
InputFormat = Literal["parquet", "arrow", "csv", "tsv", "json"]
#: The ones that are text.
TEXT = ("csv", "tsv", "json")

_DELIMITERS = {"csv": ",", "tsv": "\t"}
# How people write a character that is hard to type: a tab.
_SPELLED = {"tab": "\t", "\\t": "\t"}
# How errors show it.
_SHOWN = {"\t": "a tab"}


@dataclass(frozen=True)
class Layout:
    """What the user said about files, where their names do not say it.

    Attributes:
        form: their form, whatever their names end in; None if the endings say it.
        delimiter: what separates the fields of a line of CSV; None for a comma, or a tab in TSV.
    """

    form: str | None = None
    delimiter: str | None = None

    def __post_init__(self) -> None:
        if self.form is not None and self.form not in get_args(InputFormat):
            raise SettingsError(f"an input format is one of: {', '.join(get_args(InputFormat))}")
        delimiter = self.delimiter
        if delimiter is None:
            return
        delimiter = _SPELLED.get(delimiter, delimiter) if isinstance(delimiter, str) else ""
        usable = len(delimiter) == 1 and delimiter.isascii() and not delimiter.isalnum()
        if not usable or not (delimiter.isprintable() or delimiter == "\t") or delimiter in '"\\':
            raise SettingsError(
                "a delimiter is one character, such as ';' or '|', or the word tab; it cannot be a "
                "letter, digit, double quote or backslash"
            )
        object.__setattr__(self, "delimiter", delimiter)

    def __bool__(self) -> bool:
        return self != BY_NAME

    def delimiter_of(self, form: str) -> str:
        """Return what separates the fields of a line of CSV or TSV."""
        return self.delimiter or _DELIMITERS[form]

    def check_form(self, form: str) -> None:
        """Refuse a delimiter for files that have none."""
        if self.delimiter is not None and form not in _DELIMITERS:
            raise SettingsError("a delimiter is only for CSV files (--delimiter, delimiter=)")


#: The user said nothing: the form of files follows from their endings.
BY_NAME = Layout()


def shown_delimiter(delimiter: str) -> str:
    """Return a delimiter as messages show it."""
    return _SHOWN.get(delimiter, repr(delimiter))


def likely_delimiter(header: str) -> str | None:
    """Return the likely delimiter of a header line that was read as one name, if any."""
    times, delimiter = max((header.count(one), one) for one in ";\t|,")
    return delimiter if times else None
