"""Numbers are written in plain ASCII decimals: a mistyped budget does not become another."""

import math

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headcount as hc
from headcount.cli import cli
from headcount.cli.numbers import Float, Whole
from headcount.engines import Session
from tests.test_reference import COMMANDS

NO_NUMBERS = [
    "1_0", "١", "１", "1²", " 1", "1 ", "1\n", "", "nan", "inf", "infinity", "-Infinity", "0x10",
    "1e", "e5", "1e5_0", "1,5", "--1", "+", ".", "1.2.3", "½", "1e١", "1٫5",
]  # fmt: skip
NOT_WHOLE = [*NO_NUMBERS, "1.0", "1.", "1.5e3", "1e-3", "1e100", "9" * 5000]


def numbers_of(kind):
    return [
        pytest.param(name, parameter, id=f"{name} {parameter.name}")
        for name, command in COMMANDS.items()
        for parameter in command.params
        if isinstance(parameter.type, kind)
    ]


def test_no_number_is_read_in_another_way():
    pythons_own = (click.types.FloatParamType, click.types.IntParamType)
    asked = [p for c in COMMANDS.values() for p in c.params if isinstance(p.type, pythons_own)]
    assert len(asked) > 20
    assert all(isinstance(p.type, Float | Whole) for p in asked)


@pytest.mark.parametrize(("command", "parameter"), [*numbers_of(Float), *numbers_of(Whole)])
def test_only_plain_numbers_are_taken(command, parameter):
    context = click.Context(COMMANDS[command], parent=click.Context(cli))
    for text in NOT_WHOLE if isinstance(parameter.type, Whole) else NO_NUMBERS:
        with pytest.raises(click.BadParameter) as raised:
            parameter.type_cast_value(context, (text,) if parameter.multiple else text)
        assert repr(text) in raised.value.format_message()


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_can_be_given(number):
    for text in (repr(number), f"{number:.17e}", f"{number:+.20E}"):
        assert Float().convert(text, None, None) == number


@given(st.integers())
def test_every_whole_number_can_be_given(number):
    assert Whole().convert(str(number), None, None) == number


@pytest.mark.parametrize(("text", "number"), [("1e5", 100_000), ("-2E+3", -2000), ("7e0", 7)])
def test_a_whole_number_may_have_an_exponent(text, number):
    assert Whole().convert(text, None, None) == number


@pytest.mark.parametrize(
    ("text", "number"), [("1", 1), ("+.5", 0.5), ("5.", 5), ("1E-6", 1e-6), ("007", 7)]
)
def test_notations(text, number):
    assert Float().convert(text, None, None) == number


@given(st.text())
def test_what_is_taken_is_what_python_reads(text):
    try:
        number = Float().convert(text, None, None)
    except click.BadParameter:
        return
    assert text.isascii()
    assert math.isfinite(number)
    assert number == float(text)


@pytest.mark.parametrize("text", ["1e999", "-1e999", "0", "1", "-1"])
def test_limits_are_said(text):
    with pytest.raises(click.BadParameter, match="above 0 and below 1"):
        Float(above=0, below=1).convert(text, None, None)


def test_a_number_that_is_too_large_for_a_float(headcount, parquet):
    ask = ["--user", "uid", "--item", "item"]
    ran = headcount("release", parquet, *ask, "--rho", "1e999")
    assert (ran.code, ran.out) == (2, "")
    assert "Invalid value for '--rho': it must be a finite number." in ran.err


@pytest.mark.parametrize("memory", ["３GB", "1_0GB", "3 GB ", "3\u212aB", "infGB"])
def test_memory(memory):
    with pytest.raises(hc.SettingsError, match="3GB or 512MB"):
        Session(memory)
