"""kernel == C++: the same equations in the same order of operations give the same bits from two compilers."""

import subprocess
from pathlib import Path

import pytest

from blocks.math import Vec3
from blocks.quadrotor import State
from tests.blocks.flight import hold
from tests.blocks.rp1 import LEVEL, NO_GROUND, RP1, bits, numbers
from tests.cpp import compiled

STEPS = 20_000


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("quadrotor_rk4", tmp_path_factory.mktemp("cpp"))


def test_final_state_has_the_same_bits(program: Path) -> None:
    printed = subprocess.run([program, str(STEPS)], check=True, capture_output=True, text=True).stdout.split()
    initial = State(
        Vec3(0.0, 0.0, 10.0),
        Vec3(3.0, -1.0, 0.5),
        LEVEL,
        Vec3(0.4, -0.3, 0.7),
        (1500.0, 1700.0, 1600.0, 1650.0),
        0.0,
        False,
    )
    end = hold(RP1._replace(ground_z=NO_GROUND), initial, (1600.0, 1660.0, 1640.0, 1700.0), 1e-3, STEPS)
    assert float(printed[0]) > 0.0
    assert printed[1:19] == bits(numbers(end)[:18])
    assert printed[19] == "0"


@pytest.mark.parametrize("arguments", [[], ["-1"], ["ten"], ["1", "2"]])
def test_wrong_arguments_say_how(program: Path, arguments: list[str]) -> None:
    done = subprocess.run([program, *arguments], check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "usage: quadrotor_rk4 N    (steps of 1 ms, 0 or more)\n"
