"""A fault on the command line says what a scenario file says."""

import pytest

from graph.errors import InputError
from scenarios.fault_text import MODELS, parse_faults
from scenarios.scenario import MotorScale
from scenarios.world import World


def test_a_fault_in_words_is_one_of_the_scenario():
    world = World.load("b0-nominal", fault="motor_scale:rotor=2,factor=0.6,from=12")
    (fault,) = world.faults()
    assert isinstance(fault, MotorScale)
    assert (fault.kind, fault.rotor, fault.thrust_fraction, fault.start_s, fault.end_s) == (
        "motor_scale",
        2,
        0.6,
        12.0,
        None,
    )


def test_it_comes_behind_the_scenarios_own():
    own = World.load("b0-determinism").faults()
    assert World.load("b0-determinism", fault="link_loss:from=1,to=2").faults()[:-1] == own


def test_every_kind_can_be_given():
    texts = [
        "imu_bias_step:gyro_bias=0.01/0/-0.01,from=1",
        "camera_corrupt:probability=0.2",
        "camera_blackout:from=1,to=2",
        "command_delay:delay=0.02,from=1",
        "link_loss:from=1,to=1.05,jitter=0.5",
        "motor_scale:rotor=0,factor=0.9",
    ]
    faults = World.load("b0-nominal", fault=";".join(texts)).scenario.faults
    assert {fault.kind for fault in faults} == set(MODELS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "motor_scal",
            "fault=motor_scal: unknown kind 'motor_scal'; did you mean motor_scale?; valid: imu_bias_step, ",
        ),
        (
            "link_loss:form=1",
            "fault=link_loss:form=1: 'form=1' is none of its settings; did you mean from?; valid: from=NUMBER",
        ),
        ("link_loss:from", "fault=link_loss:from: 'from' is none of its settings; did you mean from?"),
        ("link_loss:from=a", "fault=link_loss:from=a: from is a number, not 'a'"),
        ("link_loss:from=1,from=2", "fault=link_loss:from=1,from=2: from is given twice"),
        ("motor_scale:rotor=1.5", "fault=motor_scale:rotor=1.5: rotor is a whole number, not '1.5'"),
        ("imu_bias_step:gyro_bias=1", "fault=imu_bias_step:gyro_bias=1: gyro_bias is three numbers X/Y/Z, not '1'"),
        ("motor_scale:rotor=9,factor=0.5", "fault=motor_scale:rotor=9,factor=0.5: rotor: is 9"),
    ],
)
def test_what_is_wrong_is_said(text, message):
    with pytest.raises(InputError) as caught:
        World.load("b0-nominal", fault=text)
    assert str(caught.value).startswith(message)


def test_text_of_no_fault_is_none():
    assert parse_faults(" ; ") == []
