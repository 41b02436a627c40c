"""The wall between an engine's errors, which quote data, and ours, which do not."""

from collections.abc import Callable
from concurrent.futures import Future, wait
from threading import Thread
from typing import TypeVar

from headcount.engines.cancel import CancelToken
from headcount.errors import EngineError, HeadcountError, SourceError

_Result = TypeVar("_Result")

_SECONDS_BETWEEN_INTERRUPTS = 0.1

# Failures that say the data, not the machine, is at fault. Their messages quote the data, so
# nothing of them is kept.
_DATA_FAULTS = {
    "ArrowInvalid",
    "ArrowNotImplementedError",
    "ArrowTypeError",
    "BadGzipFile",
    "ConversionException",
    "EOFError",
    "Error",  # DuckDB's, for a Parquet file that does not hold what its footer says
    "IOException",
    "InvalidInputException",
    "InvalidOperationError",  # Polars', of a cast that fails
    "InvalidTypeException",
    "OSError",
    "OutOfRangeException",
    "OverflowError",
    "SchemaError",  # Polars', of files that have other types than the first
    "SerializationException",
    "TypeError",
    "TypeMismatchException",
    "UnicodeDecodeError",
    "ValueError",
}
# Failures to understand a query: the message is about names, types and the query's own text.
_SCHEMA_FAULTS = {"BinderException", "CatalogException", "ParserException", "OperationalError"}
# What DuckDB raises when a query names a file that it may not open.
_CLOSED = "PermissionException"
_ONLY_THE_SOURCE = "it names another file, and SQL can read only the source"
_NOT_CONVERTED = (
    "a value cannot be converted to another type. In SQL and conditions, TRY_CAST in place of CAST "
    "makes such a value NULL"
)
# Failures of the engine itself, such as one that has too little memory to clean up after another.
_ENGINE_FAULTS = {"FatalException", "InternalException", "ResourceInUseException"}
# What errors say when there is too little memory to load a library or to start a thread. Only
# errors that quote no data are searched for it.
_NO_MEMORY = (
    "failed to map segment",
    "out of memory error",  # DuckDB's, where Arrow reads what it streams
    "cannot allocate memory",
    "can't start new thread",
    "resource temporarily unavailable",
)
_PLAIN = (Exception, RuntimeError)
#: What to do when memory runs out.
MORE_MEMORY = "raise --memory if the machine has more, or free some"
_OUT_OF_SPACE = ("no space left", "could not write", "failed to write", "max_temp_directory_size")

#: What an error says about data that cannot be read, if nothing more is known about its form.
ANY_FORM = "the contents are not in the expected form"


def opening(action: Callable[[], _Result], error_prefix: str) -> _Result:
    """Run what looks only at names and schemas: unless memory ran out, failures are the input's."""
    return _guarded(action, lambda error: _of_schema(error, error_prefix))


def running(action: Callable[[], _Result], error_prefix: str, expected: str = ANY_FORM) -> _Result:
    """Run what reads data; no message of an engine's exception is passed on.

    Args:
        action: what to run.
        error_prefix: how an error begins.
        expected: how it continues if the data is at fault: the form that data should have.
    """
    return _guarded(action, lambda error: _without_data(error, error_prefix, expected))


def is_out_of_memory(error: BaseException | None) -> bool:
    """Whether too little memory caused an error, in any phase and whichever library noticed."""
    if error is None:
        return False
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryException":
        return True
    if getattr(error, "sqlite_errorname", "") == "SQLITE_NOMEM":
        return True
    # Some libraries raise a plain Exception when they cannot be loaded.
    quotes_nothing = isinstance(error, ImportError | OSError) or type(error) in _PLAIN
    if quotes_nothing and any(sign in str(error).lower() for sign in _NO_MEMORY):
        return True
    return is_out_of_memory(error.__cause__ or error.__context__)


def interruptibly(
    action: Callable[[], _Result], interrupt: Callable[[], None], cancel: CancelToken
) -> _Result:
    """Run an action that does not look for signals, so that Ctrl-C and a token end it nonetheless.

    DuckDB's queries run to their end before Python handles a signal. Here they run in a thread of
    their own while this one waits, and a signal ends the wait.
    """
    future: Future[_Result] = Future()
    thread = Thread(target=_fulfil, args=(future, action))
    try:
        thread.start()  # a signal may arrive in here, before or after the action has begun
        cancel.wait_for(future)
        cancel.check()
        return future.result()
    except BaseException:
        # An action that has not begun is called off. One that has is interrupted repeatedly: the
        # engine may not have reached the query yet.
        while not (future.cancel() or future.done()):
            interrupt()
            wait([future], timeout=_SECONDS_BETWEEN_INTERRUPTS)
        raise


def _fulfil(future: "Future[_Result]", action: Callable[[], _Result]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = action()
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)


def _guarded(
    action: Callable[[], _Result], translate: Callable[[BaseException], HeadcountError]
) -> _Result:
    failure: HeadcountError
    try:
        return action()
    except HeadcountError as error:
        error.__cause__ = error.__context__ = None  # what an engine says may quote data
        raise
    except BaseException as error:
        if _is_interrupt(error):
            raise KeyboardInterrupt from None
        # Rust's panics are not subclasses of Exception, so that nobody catches them by accident.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        failure = translate(error)
    # Raised out here so that the engine's exception is not chained to it: a traceback or a
    # crash reporter would print the data that it quotes.
    raise failure


def _is_interrupt(error: BaseException) -> bool:
    code = getattr(error, "sqlite_errorname", "")
    return type(error).__name__ == "InterruptException" or code == "SQLITE_INTERRUPT"


def _of_schema(error: BaseException, error_prefix: str) -> HeadcountError:
    kind = type(error).__name__
    if is_out_of_memory(error):
        return EngineError(f"{error_prefix}: the engine ran out of memory; {MORE_MEMORY}")
    if kind in _SCHEMA_FAULTS:
        return SourceError(f"{error_prefix}: {str(error).splitlines()[0]}")
    if kind in _DATA_FAULTS:
        return SourceError(f"{error_prefix}: {ANY_FORM}")
    if kind == _CLOSED:
        return SourceError(f"{error_prefix}: {_ONLY_THE_SOURCE}")
    if kind == "NotImplementedException":  # DuckDB's
        return SourceError(
            f"{error_prefix}: the engine has no type for one of the columns; convert that column "
            "to text"
        )
    if kind in _ENGINE_FAULTS:
        return EngineError(f"{error_prefix}: the engine failed ({kind})")
    return SourceError(f"{error_prefix} ({kind})")


def _without_data(error: BaseException, error_prefix: str, expected: str) -> HeadcountError:
    kind = type(error).__name__
    if is_out_of_memory(error):
        return EngineError(f"{error_prefix}: the engine ran out of memory; {MORE_MEMORY}")
    if kind in ("IOException", "OSError") and any(w in str(error).lower() for w in _OUT_OF_SPACE):
        return EngineError(f"{error_prefix}: there is no space left for temporary files")
    if getattr(error, "sqlite_errorname", "") == "SQLITE_FULL":
        return EngineError(f"{error_prefix}: there is no space left for temporary files")
    if kind == _CLOSED:
        return SourceError(f"{error_prefix}: {_ONLY_THE_SOURCE}")
    if kind == "ConversionException":  # DuckDB's, which is not about the form of a line
        return SourceError(f"{error_prefix}: {_NOT_CONVERTED}")
    if kind in _DATA_FAULTS or type(error).__module__ == "sqlite3":
        return SourceError(f"{error_prefix}: {expected}")
    return EngineError(f"{error_prefix}: the engine failed ({kind})")
