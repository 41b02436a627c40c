"""The public names are all there, in order, and nothing else is."""

import types

import headcount


def test_all_is_complete_and_sorted():
    public = [
        name
        for name, value in vars(headcount).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    ]
    assert headcount.__all__ == sorted([*public, "__version__"])


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
