"""Frozen dataclasses that are quick to define behave as those of the standard library."""

import copy
import dataclasses
import pickle
from dataclasses import field
from typing import ClassVar

import pytest

from headcount.values import dataclass


def pair(decorator):
    """Return a class and one that inherits from it, made by a decorator."""

    @decorator(frozen=True)
    class Base:
        KINDS: ClassVar[int] = 3
        name: str
        note: str = field(default="", compare=False, repr=False)

    @decorator(frozen=True)
    class Below(Base):
        note: str = "n"
        many: list[int] = field(default_factory=list, hash=False)

        def __post_init__(self) -> None:
            if self.name == "refused":
                raise ValueError("refused")

    return Base, Below


OURS, PLAIN = pair(dataclass), pair(dataclasses.dataclass)


@dataclass(frozen=True)
class Kept:
    value: int


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize(
    ("args", "named"),
    [
        (("a",), {}),
        ((), {"name": "a"}),
        (("a", "b"), {}),
        (("a",), {"note": "b"}),
        (("a", "b", [1]), {}),
        ((), {"many": [1], "name": "a"}),
        ((), {}),
        (("a",), {"name": "a"}),
        (("a",), {"other": 1}),
        ((), {"note": "b"}),
        (("a", "b", [1], 2), {}),
        (("refused",), {}),
    ],
)
def test_they_are_made_of_the_same(which, args, named):
    ours, plain = OURS[which], PLAIN[which]
    try:
        expected = plain(*args, **named)
    except (TypeError, ValueError) as error:
        with pytest.raises(type(error)):
            ours(*args, **named)
        return
    made = ours(*args, **named)
    assert repr(made) == repr(expected)
    assert dataclasses.asdict(made) == dataclasses.asdict(expected)
    assert made == ours(*args, **named)
    assert made != expected
    assert hash(made) == hash(ours(*args, **named)) == hash(expected)


def test_what_is_compared_is_what_was_said():
    base, below = OURS
    assert base("a", "x") == base("a", "y") != base("b", "x")
    assert below("a", "x") != below("a", "y")
    assert below("a") != base("a")
    assert hash(below("a", many=[1])) == hash(below("a", many=[2]))


@pytest.mark.parametrize("name", ["value", "other"])
def test_they_are_frozen(name):
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(Kept(1), name, 2)
    with pytest.raises(dataclasses.FrozenInstanceError):
        delattr(Kept(1), name)


def test_they_are_replaced_copied_and_pickled():
    made = Kept(1)
    assert dataclasses.replace(made, value=2) == Kept(2)
    assert copy.deepcopy(made) == made == pickle.loads(pickle.dumps(made))
    assert [each.name for each in dataclasses.fields(Kept)] == ["value"]


def test_own_methods_stay_and_equality_may_be_left_out():
    @dataclass(frozen=True)
    class Own:
        value: int

        def __eq__(self, other: object) -> bool:
            return True

        def __repr__(self) -> str:
            return "own"

    @dataclass(frozen=True, eq=False)
    class Itself:
        value: int

    assert Own(1) == Own(2)
    assert repr(Own(1)) == "own"
    assert hash(Own(1)) == hash((1,))
    assert Itself(1) != Itself(1)
    assert len({Itself(1), Itself(1)}) == 2


@pytest.mark.parametrize("options", [{"init": False}, {"kw_only": True}])
def test_fields_of_other_kinds_are_refused(options):
    class Other:
        value: int = field(default=1, **options)

    with pytest.raises(TypeError, match=r"dataclasses\.dataclass"):
        dataclass(frozen=True)(Other)


def test_what_is_not_frozen_is_refused():
    with pytest.raises(TypeError, match="not frozen"):
        dataclass(frozen=False)
