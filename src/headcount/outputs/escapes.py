"""Text without characters that steer what shows it: item names are anybody's text."""

import json
import unicodedata


def steers(char: str) -> bool:
    """Whether a character is shown as something other than itself.

    Control characters (ESC, DEL, C1), format characters such as those that turn the direction of
    writing, line separators, and what is not a character: surrogates, private use, unassigned.
    """
    return not char.isprintable() and unicodedata.category(char) != "Zs"


def visible(text: str) -> str:
    r"""Return text with such characters written as escapes of Python, such as ``\x1b``."""
    if text.isprintable():
        return text
    return "".join(
        char.encode("unicode_escape").decode() if steers(char) else char for char in text
    )


def unless_blank(text: str) -> str:
    """Return a name for people to read; one of nothing but spaces is in quotes, to be seen."""
    return text if any(unicodedata.category(char) != "Zs" for char in text) else f'"{text}"'


def to_json_text(value: object, *, indent: int | None = None) -> str:
    """Return a value as JSON, with such characters within strings as escapes of JSON.

    It is the same value to any parser.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    if text.replace("\n", "").isprintable():  # line breaks stand between values only
        return text
    return "".join(
        json.dumps(char)[1:-1] if char != "\n" and steers(char) else char for char in text
    )
