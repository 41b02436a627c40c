"""Text without characters that steer how it is shown: anybody may have written an item name."""

import json
import unicodedata


def steers(char: str) -> bool:
    """Whether a character is shown as something other than itself.

    Control characters (ESC, DEL, C1), format characters such as those that change the direction of
    writing, line separators, and what is not a character: surrogates, private use, unassigned.
    """
    return not char.isprintable() and unicodedata.category(char) != "Zs"


def visible(text: str) -> str:
    r"""Return text with such characters written as Python's escapes, such as ``\x1b``."""
    if text.isprintable():
        return text
    return "".join(
        char.encode("unicode_escape").decode() if steers(char) else char for char in text
    )


def unless_blank(text: str) -> str:
    """Return a name for people to read; one of only spaces is quoted, so that it can be seen."""
    return text if any(unicodedata.category(char) != "Zs" for char in text) else f'"{text}"'


def to_json_text(value: object, *, indent: int | None = None) -> str:
    """Return a value as JSON, with such characters in strings written as JSON's escapes.

    It is the same value to any parser.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    if text.replace("\n", "").isprintable():  # line breaks are between values only
        return text
    return "".join(
        json.dumps(char)[1:-1] if char != "\n" and steers(char) else char for char in text
    )
