"""Ibis with only the SQL dialects that are used, not with all twenty of them."""

import importlib
import importlib.util
import sys

_COMPILERS = "ibis.backends.sql.compilers"


def load_dialects_when_used() -> None:
    """Make Ibis load its compilers one by one.

    Its package of compilers imports them all, which takes a fifth of a short command's time. Here
    the package starts out empty: a module is loaded when it is asked for, and the whole package
    when anything else is. If Ibis has no such package, or has loaded it already, nothing changes.
    """
    if _COMPILERS in sys.modules:
        return
    spec = importlib.util.find_spec(_COMPILERS)
    if spec is None or spec.loader is None:
        return
    package, loader = importlib.util.module_from_spec(spec), spec.loader

    def load(name: str) -> object:
        if importlib.util.find_spec(f"{_COMPILERS}.{name}") is not None:
            return importlib.import_module(f"{_COMPILERS}.{name}")
        del package.__dict__["__getattr__"]
        loader.exec_module(package)
        return getattr(package, name)

    package.__dict__["__getattr__"] = load
    sys.modules[_COMPILERS] = package
    sys.modules[_COMPILERS.rpartition(".")[0]].__dict__["compilers"] = package
