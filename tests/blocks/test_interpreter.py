"""compiled == interpreted: the plain interpreter running a kernel's source gives the same bits.

One flight goes through every block: noise from a stream, gyro low-pass, position, attitude and rate loops, mixer,
plant with ground contact, camera.
"""

from typing import Any

from tests.blocks.analytic import report, whole_flight


def test_compiled_flight_has_the_interpreters_bits(interpreted: dict[str, Any]) -> None:
    compiled = report(float)
    assert compiled["flight bits"] == interpreted["float64"]["flight bits"]
    assert compiled["case bits"] == interpreted["float64"]["case bits"]
    assert compiled["random"] == interpreted["float64"]["random"]


def test_the_flight_leaves_the_ground_and_is_repeatable() -> None:
    first, _ = whole_flight(float)
    again, _ = whole_flight(float)
    assert first[0, 2] == 0.0
    assert first[-1, 2] > 0.2
    assert first.tobytes() == again.tobytes()


def test_float32_stays_float32_and_close_to_float64(interpreted: dict[str, Any]) -> None:
    assert interpreted["float32"]["types"] == ["float32"]
    assert abs(interpreted["float32"]["height"] - interpreted["float64"]["height"]) < 1e-4
