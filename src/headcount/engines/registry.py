"""The available engines: those that installed packages declare, including headcount's own.

A package declares one by naming a `headcount.engines.reader.Reader` in its ``pyproject.toml``:

    [project.entry-points."headcount.engines"]
    name = "package.module:reader"
"""

from collections.abc import Iterable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from headcount.engines.base import Engine
from headcount.engines.reader import Reader
from headcount.engines.session import Session
from headcount.errors import EngineError, SettingsError

GROUP = "headcount.engines"
_OWN = "headcount.engines."

_registered: dict[str, Reader] = {}


def register(reader: Reader) -> None:
    """Add an engine to this process, for tests and notebooks; a package declares it instead."""
    if reader.name in names():
        raise SettingsError(f"an engine {reader.name!r} is already registered")
    _registered[reader.name] = reader


def unregister(name: str) -> None:
    """Remove an engine that was added with `register`."""
    _registered.pop(name, None)


def names() -> list[str]:
    """Return the names of all engines, sorted, without importing any."""
    return sorted({*_declared(), *_registered})


def reader(name: str) -> Reader:
    """Return one engine's reader, without importing any other."""
    return _registered[name] if name in _registered else _loaded(name)


def readers() -> list[Reader]:
    """Return the readers of all engines, sorted by name."""
    return [reader(name) for name in names()]


def file_engines() -> list[str]:
    """Return the names of the engines that files can be read with."""
    return [one.name for one in readers() if one.file_forms]


def for_url(url: str) -> Reader | None:
    """Return the reader for the scheme of a URL, if there is one."""
    scheme, mark, _ = url.partition("://")
    return _only([one for one in readers() if mark and scheme in one.url_schemes], f"{scheme}://")


def for_object(source: object) -> Reader | None:
    """Return the reader for a Python object, by its type or one of its base classes."""
    kinds = {f"{kind.__module__.partition('.')[0]}.{kind.__name__}" for kind in type(source).mro()}
    found = [one for one in readers() if not kinds.isdisjoint(one.objects)]
    return _only(found, type(source).__name__)


def databases() -> list[Reader]:
    """Return the readers of database files."""
    return [one for one in readers() if one.database_suffixes]


def for_backend(backend: Any) -> Reader | None:  # noqa: ANN401 (an Ibis backend)
    """Return the reader with specific support for an Ibis backend, if there is one."""
    found = [one for one in readers() if one.ibis_backend == backend.name]
    return _only(found, f"{backend.name} tables of Ibis")


# Databases whose default collations treat different texts as equal.
_COLLATING = ("mysql", "mssql", "singlestoredb", "oracle")


def engine_for(backend: Any, session: Session) -> Engine:  # noqa: ANN401 (an Ibis backend)
    """Return the engine for an Ibis backend."""
    known = for_backend(backend)
    if known is None:
        return Engine(backend, session, compares_bytes=backend.name not in _COLLATING)
    known.require()
    return known.engine(backend, session)


def _only(found: list[Reader], what: str) -> Reader | None:
    if len(found) > 1:
        engines = " and ".join(one.name for one in found)
        raise SettingsError(f"several engines read {what}: {engines}; uninstall all but one")
    return found[0] if found else None


@cache
def _declared() -> dict[str, EntryPoint]:
    declared: dict[str, EntryPoint] = {}
    installed = entry_points(group=GROUP)
    for entry in [*installed, *_beside(installed)]:
        other = declared.setdefault(entry.name, entry)
        if other.value != entry.value:
            raise SettingsError(
                f"two packages declare an engine {entry.name!r}: {other.value} and {entry.value}; "
                "uninstall one of them"
            )
    return declared


def _beside(installed: Iterable[EntryPoint]) -> list[EntryPoint]:
    """Return headcount's own engines if its metadata is older than its code.

    An editable install only knows what was declared when it was made. The folders next to this
    module are what would be declared now.
    """
    if any(entry.value.startswith(_OWN) for entry in installed):
        return []
    folders = [path.parent.name for path in Path(__file__).parent.glob("*/__init__.py")]
    return [EntryPoint(name, f"{_OWN}{name}:reader", GROUP) for name in folders]


@cache
def _loaded(name: str) -> Reader:
    entry = _declared()[name]
    try:
        found: Reader = entry.load()
    except Exception as error:
        raise EngineError(
            f"the engine {name!r} cannot be loaded from {entry.value} ({type(error).__name__}); "
            "install or uninstall the package that declares it"
        ) from None
    return found
