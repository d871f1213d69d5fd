"""The fault injector says when each of the scenario's faults begins and ends."""

import pytest

from blocks.math import Vec3
from graph.errors import InputError
from msgs.fault import FaultKind
from nodes import fault_injector
from tests.nodes.single import PERIOD, Single
from tests.nodes.worlds import context, world


def announced(*faults, ticks=40):
    where = world("null-pad", faults=faults)
    node = Single(fault_injector.fault_injector, fault_injector.configure(context("fault_injector", where)))
    for tick in range(ticks):
        node.step(tick * PERIOD)
    return node.sent("faults")


def test_a_fault_is_announced_at_its_beginning_and_at_its_end():
    begin, end = announced({"kind": "motor_scale", "rotor": 2, "thrust_fraction": 0.5, "start_s": 0.01, "end_s": 0.03})
    assert (begin.stamp, begin.active, end.stamp, end.active) == (10_000_000, True, 30_000_000, False)
    assert (FaultKind(begin.kind), begin.rotor, begin.value) == (FaultKind.MOTOR_SCALE, 2, 0.5)


def test_a_fault_without_an_end_lasts():
    (begin,) = announced({"kind": "link_loss"})
    assert (begin.stamp, begin.active, FaultKind(begin.kind)) == (0, True, FaultKind.LINK_LOSS)


def test_every_kind_carries_its_values():
    bias = {"gyro_bias_rad_s": (0.1, 0.2, 0.3), "accel_bias_m_s2": (1.0, 2.0, 3.0)}
    said = announced(
        {"kind": "imu_bias_step", **bias},
        {"kind": "camera_corrupt", "probability": 0.25},
        {"kind": "camera_blackout"},
        {"kind": "command_delay", "delay_s": 0.003},
    )
    assert [FaultKind(f.kind).name.lower() for f in said] == [
        "imu_bias_step",
        "camera_corrupt",
        "camera_blackout",
        "command_delay",
    ]
    assert (said[0].gyro_bias, said[0].accel_bias) == (Vec3(0.1, 0.2, 0.3), Vec3(1.0, 2.0, 3.0))
    assert [f.value for f in said] == [0.0, 0.25, 0.0, 0.003]


def test_events_on_one_tick_follow_each_other_on_the_next_ones():
    said = announced({"kind": "link_loss", "start_s": 0.005}, {"kind": "camera_blackout", "start_s": 0.005})
    assert [(f.stamp, f.kind) for f in said] == [(5_000_000, 4), (6_000_000, 2)]


def test_more_events_than_the_table_holds_are_refused():
    faults = tuple({"kind": "link_loss", "start_s": 0.1 * i, "end_s": 0.1 * i + 0.05} for i in range(17))
    with pytest.raises(InputError) as caught:
        world("null-pad", faults=faults)
    assert str(caught.value).endswith("faults: are 34 beginnings and ends; must be at most 32 in all")


def test_where_one_fault_ends_another_of_its_kind_may_begin():
    later = {"kind": "camera_corrupt", "probability": 0.5, "start_s": 0.02}
    said = announced(later, {"kind": "camera_corrupt", "probability": 0.1, "start_s": 0.01, "end_s": 0.02})
    assert [(f.stamp, f.value, f.active) for f in said] == [
        (10_000_000, 0.1, True),
        (20_000_000, 0.1, False),
        (21_000_000, 0.5, True),
    ]


def test_however_short_a_fault_it_begins_before_it_ends():
    assert [f.active for f in announced({"kind": "link_loss", "start_s": 0.01, "end_s": 0.01 + 1e-12})] == [True, False]
