"""Whether everything that is imported from this repository is there: `make lint` runs this.

Tests have no types that mypy could look at, and one that cannot be imported is easily taken for one
that was skipped. Nothing is imported here: the names are looked up in the files.
"""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: The packages of the repository, and where they are.
PACKAGES = {
    "headcount": ROOT / "src",
    **dict.fromkeys(("tests", "benchmarks", "experiments", "website"), ROOT),
}


def file_of(module: str) -> Path | None:
    """Return the file of a module of the repository, if there is one."""
    first, *_ = module.split(".")
    path = PACKAGES[first].joinpath(*module.split("."))
    found = (path / "__init__.py", path.with_suffix(".py"))
    return next((file for file in found if file.is_file()), None)


@cache
def names_of(file: Path) -> frozenset[str]:
    """Return the names that a module has: all that it assigns, defines or imports anywhere."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                names.add(node.name)
            case ast.Name(ctx=ast.Store()):
                names.add(node.id)
            case ast.Import() | ast.ImportFrom():
                names.update((one.asname or one.name).partition(".")[0] for one in node.names)
    return frozenset(names)


def missing_from(file: Path) -> Iterator[str]:
    """Yield what a file imports from the repository and is not there."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        names: list[str] = []
        match node:
            case ast.Import():
                modules = [one.name for one in node.names]
            case ast.ImportFrom(module=str(module), level=0):
                modules, names = [module], [one.name for one in node.names]
            case _:
                continue
        for module in modules:
            if module.partition(".")[0] not in PACKAGES:
                continue
            found = file_of(module)
            where = f"{file.relative_to(ROOT)}:{node.lineno}"
            if found is None:
                yield f"{where}: there is no module {module}"
                continue
            for name in names:
                if name not in names_of(found) and file_of(f"{module}.{name}") is None:
                    yield f"{where}: {module} has no {name}"


def missing() -> list[str]:
    """Return what is imported anywhere in the repository and is not there."""
    files = [file for name, root in PACKAGES.items() for file in (root / name).rglob("*.py")]
    return [line for file in sorted(files) for line in missing_from(file)]


if __name__ == "__main__":
    found = missing()
    print("\n".join(found) or "Everything that is imported is there.")
    sys.exit(bool(found))
