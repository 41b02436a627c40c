"""Ibis without the SQL dialects that nobody asks for.

Ibis compiles for twenty engines and loads what it has for each of them when it connects to any,
which is a fifth of the time of a short command.
"""

import importlib.util
import sys
from types import ModuleType

_COMPILERS = "ibis.backends.sql.compilers"


def load_dialects_when_used() -> None:
    """Let Ibis load a dialect when it is first used, if it has not loaded them all already.

    The package is the same but for that: what its first file would load is loaded by name, and all
    of it if a name is none of its modules.
    """
    if _COMPILERS in sys.modules:
        return
    spec = importlib.util.find_spec(_COMPILERS)
    if spec is None or spec.loader is None:  # an Ibis that is arranged differently
        return
    package = importlib.util.module_from_spec(spec)
    load_all = spec.loader.exec_module

    def load(name: str) -> object:
        if importlib.util.find_spec(f"{_COMPILERS}.{name}") is not None:
            return importlib.import_module(f"{_COMPILERS}.{name}")
        if not name.startswith("_") and name not in vars(package):
            load_all(package)
        try:
            return vars(package)[name]
        except KeyError:
            raise AttributeError(name) from None

    package.__getattr__ = load  # type: ignore[method-assign]
    sys.modules[_COMPILERS] = package
    parent: ModuleType = importlib.import_module(_COMPILERS.rpartition(".")[0])
    parent.compilers = package  # type: ignore[attr-defined]
