"""The engines that count: one folder each, found through entry points and imported when used."""

from headcount.engines.base import Engine
from headcount.engines.cancel import CancelToken
from headcount.engines.reader import Database, Opened, Reader
from headcount.engines.registry import engine_for, file_engines, reader, register, unregister
from headcount.engines.session import DEFAULT_MEMORY, Session

__all__ = [
    "DEFAULT_MEMORY",
    "CancelToken",
    "Database",
    "Engine",
    "Opened",
    "Reader",
    "Session",
    "engine_for",
    "file_engines",
    "reader",
    "register",
    "unregister",
]
