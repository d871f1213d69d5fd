"""Next to the system's library, exact where that is defined, and the same bits on every machine."""

import math
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from blocks import trigonometry
from blocks.kernel import kernel
from blocks.plain import plain

ANGLES = st.floats(-7.0, 7.0) | st.floats(-1e6, 1e6)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
SPECIAL = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf]


def compiled(function: Callable[[float], float]) -> Callable[[float], float]:
    @kernel
    def call(x: float) -> float:
        return function(x)

    return call


@kernel
def compiled_atan2(y: float, x: float) -> float:
    return trigonometry.atan2(y, x)


ONE_ARGUMENT = (trigonometry.sin, trigonometry.cos, trigonometry.tan, trigonometry.acos)
COMPILED = {function: compiled(function) for function in ONE_ARGUMENT}


def same(value: float, other: float) -> bool:
    """The same bits, any NaN being like another."""
    return value.hex() == other.hex() or (math.isnan(value) and math.isnan(other))


def near(value: float, right: float, ulps: int) -> bool:
    return abs(value - right) <= ulps * math.ulp(right)


@given(x=ANGLES)
@example(x=math.pi / 2.0)
@example(x=math.pi)
@example(x=1e5 * math.pi)
@pytest.mark.parametrize(("name", "ulps"), [("sin", 2), ("cos", 2), ("tan", 4)])
def test_of_an_angle(name: str, ulps: int, x: float) -> None:
    assert near(plain(getattr(trigonometry, name))(x), getattr(math, name)(x), ulps)


@given(y=NUMBERS, x=NUMBERS)
@example(y=5e-324, x=5e-324)
@example(y=1e-320, x=3e-320)
@example(y=1.7e308, x=-1.2e308)
@example(y=1.0, x=-1e300)
def test_of_a_point(y: float, x: float) -> None:
    assert near(plain(trigonometry.atan2)(y, x), math.atan2(y, x), 2)


@pytest.mark.parametrize("y", SPECIAL)
@pytest.mark.parametrize("x", SPECIAL)
def test_signs_of_zeros_and_infinities(y: float, x: float) -> None:
    assert same(plain(trigonometry.atan2)(y, x), math.atan2(y, x))


@given(x=st.floats(-1.0, 1.0))
@example(x=1.0)
@example(x=-1.0)
def test_of_a_cosine(x: float) -> None:
    assert plain(trigonometry.acos)(x) == pytest.approx(math.acos(x), rel=1e-15, abs=3e-16)


@pytest.mark.parametrize("function", ONE_ARGUMENT)
@pytest.mark.parametrize("x", [math.nan, math.inf, -math.inf])
def test_nothing_is_known_of_what_is_not_finite(function: Callable[[float], float], x: float) -> None:
    assert math.isnan(plain(function)(x))


@given(y=st.floats(), x=st.floats())
def test_compiled_and_interpreted_give_the_same_bits(y: float, x: float) -> None:
    assert same(compiled_atan2(y, x), plain(trigonometry.atan2)(y, x))
    for function, call in COMPILED.items():
        assert same(call(x), plain(function)(x))


@pytest.mark.parametrize(
    ("name", "arguments", "bits"),
    [
        ("sin", (1.0,), "0x1.aed548f090ceep-1"),
        ("sin", (-2.5,), "-0x1.326af0dcfcab0p-1"),
        ("sin", (100.0,), "-0x1.03425b78c4db8p-1"),
        ("cos", (1.0,), "0x1.14a280fb5068cp-1"),
        ("cos", (4.0,), "-0x1.4eaa606db24c1p-1"),
        ("tan", (0.7,), "0x1.af406c2fc78adp-1"),
        ("acos", (0.3,), "0x1.441f5ecbeef58p+0"),
        ("atan2", (0.3, 1.0), "0x1.2a73a661eaf06p-2"),
        ("atan2", (0.5, 1.0), "0x1.dac670561bb4fp-2"),
        ("atan2", (1.1, -1.0), "0x1.278093f2fcc25p+1"),
        ("atan2", (-1.7, 1.0), "-0x1.0a00a3bce369fp+0"),
        ("atan2", (7.0, -0.1), "0x1.95c7df7a8172bp+0"),
    ],
)
def test_the_bits_are_the_same_on_every_machine(name: str, arguments: tuple[float, ...], bits: str) -> None:
    assert plain(getattr(trigonometry, name))(*arguments).hex() == bits
