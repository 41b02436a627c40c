"""The public names are all there, in order, and nothing else is."""

import ast
import importlib
import inspect

import pytest

import headcount
import headcount.errors


def imported_for_type_checkers():
    """Return what a type checker takes for the public names, and where each is from."""
    tree = ast.parse(inspect.getsource(headcount))
    return {
        one.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module.startswith("headcount.")
        for one in node.names
    }


def test_all_is_complete_and_sorted():
    assert headcount.__all__ == sorted([*imported_for_type_checkers(), "__version__"])
    assert set(headcount.__all__) <= set(dir(headcount))


@pytest.mark.parametrize(("name", "module"), imported_for_type_checkers().items())
def test_a_name_is_what_a_type_checker_takes_it_for(name, module):
    assert getattr(headcount, name) is getattr(importlib.import_module(module), name)


def test_other_names_are_not_there():
    with pytest.raises(AttributeError, match="relaese"):
        headcount.relaese  # noqa: B018


def test_every_error_is_public():
    errors = {
        name
        for name, value in vars(headcount.errors).items()
        if isinstance(value, type) and issubclass(value, Exception)
    }
    assert errors <= set(headcount.__all__)


def test_public_names_have_docstrings():
    for name in headcount.__all__:
        if name != "__version__":
            assert getattr(headcount, name).__doc__, name
