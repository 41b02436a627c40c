"""stdin as a source: kept in the session's folder, which is removed when the release is over.

Events are read several times, but a pipe can be read only once.
"""

import errno
import select
import sys
from io import BufferedReader
from pathlib import Path

from headcount.engines import Session
from headcount.engines.files import GZIP
from headcount.engines.layout import TEXT, Layout
from headcount.errors import EngineError, SettingsError, SourceError

#: What stdin is called as a source.
STDIN = "-"

# The most bytes copied at a time: enough for Python's share of the work to be small.
_CHUNK = 2**20
_SECONDS_BETWEEN_LOOKS = 0.1  # for a signal or a token, while nothing comes in


def kept_stdin(session: Session, layout: Layout) -> Path:
    """Return a file with everything from stdin; the first call reads it.

    Only this user may enter its folder, which is removed with the session, whatever happens.
    """
    if layout.form is None:
        raise SettingsError(
            "say what format stdin is in: --input-format (input_format=) csv, tsv, json, "
            "parquet or arrow"
        )
    folder = session.folder / "stdin"
    if folder.exists():
        return next(folder.iterdir())
    stream = _stdin()
    try:
        some = _arrived(session, stream)
        if not some:
            raise SourceError("nothing came in on stdin")
        zipped = layout.form in TEXT and some.startswith(GZIP)
        folder.mkdir()
        path = folder / f"events.{layout.form}{'.gz' if zipped else ''}"
        with path.open("wb") as file:
            while some:
                file.write(some)
                some = _arrived(session, stream)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        why = "there is no space left for temporary files" if full else error.strerror
        raise EngineError(f"cannot store stdin while reading it: {why}") from None
    return path


def _arrived(session: Session, stream: BufferedReader) -> bytes:
    """Return what has come in, or nothing at the end.

    A signal that comes just before a process waits for a pipe does not end the wait, and a token
    never does. So this waits for a moment at a time.
    """
    session.cancel.check()
    while not select.select([stream], [], [], _SECONDS_BETWEEN_LOOKS)[0]:
        session.cancel.check()
    return stream.read1(_CHUNK)


def _stdin() -> BufferedReader:
    stream = getattr(sys.stdin, "buffer", None)  # a notebook has none
    if stream is None or stream.closed:
        raise SourceError("there is no stdin to read from; name a file instead")
    if stream.isatty():
        raise SourceError(
            "stdin is a terminal: pipe the data in, or name a file. For instance: "
            "zcat events.csv.gz | headcount release - --input-format csv …"
        )
    found: BufferedReader = stream
    return found
