"""The stack composes a baseline's slots into one node."""

import pickle

import pytest

from blocks.math import Vec3
from graph.errors import InputError
from msgs.gate_observations import GateObservation, GateObservations, Pixel
from msgs.imu_sample import ImuSample
from nodes import stack
from tests.nodes.messages import ZERO, truth
from tests.nodes.single import PERIOD, Single
from tests.nodes.worlds import context, world

B0 = world("b0-nominal")
NOTHING = GateObservation((Pixel(0.0, 0.0),) * 4, 0.0, 0.0, -1)


def single(where=B0):
    return Single(stack.node_for(where), stack.configure(context("stack", where)))


def test_the_same_slots_give_the_same_node_whatever_the_rest_of_the_world():
    assert stack.node_for(B0) is stack.node_for(world("b0-determinism", seed=5))
    assert stack.node_for(B0) is not stack.node_for(world("null-pad"))


def test_its_ports_are_those_of_every_stack():
    for where in (B0, world("null-pad")):
        node = stack.node_for(where)
        assert [port.name for port in node.inputs] == ["imu", "truth", "camera", "gates"]
        assert [port.name for port in node.outputs] == ["estimate", "reference", "thrust_rates", "motors"]


def test_it_steps_at_the_control_rate():
    assert stack.configure(context("stack", B0)).rate_hz == 250


def test_composed_records_pickle_by_name():
    node = stack.node_for(B0)
    for cls in (node.params_type, node.state_type):
        assert pickle.loads(pickle.dumps(cls)) is cls


def test_truth_reaches_the_estimator_the_planner_the_controller_and_the_command():
    node = single()
    state = truth(position=Vec3(8.0, 22.0, 0.2), on_ground=True)
    node.step(0, truth=state)
    assert node.last("estimate").position == state.position
    assert node.last("reference").position == pytest.approx(Vec3(8.0, 22.0, 0.5))
    node.step(4 * PERIOD, truth=state._replace(stamp=4 * PERIOD))
    assert node.last("thrust_rates").thrust > 9.8
    assert node.sent("motors") == []


def test_every_message_since_the_last_step_is_folded():
    node = single()
    for stamp in range(4):
        node.send("truth", truth(stamp * PERIOD))
        node.send("imu", ImuSample((stamp + 2) * PERIOD, ZERO, ZERO, 0))
    node.step(4 * PERIOD)
    estimate = node.last("estimate")
    assert (estimate.stamp, estimate.staleness) == (3 * PERIOD, 2 * PERIOD)


def test_an_unknown_slot_lists_the_valid_ones():
    with pytest.raises(InputError) as caught:
        stack.node_for(world("b0-nominal", slots={"planner": "WaypointPlaner"}))
    assert str(caught.value) == (
        "baseline b0-gt-pid: slots.planner: unknown planner 'WaypointPlaner'; did you mean WaypointPlanner? "
        "(valid: NullPlanner, WaypointPlanner, or the import path of a module, as in my_package.my_slot)"
    )


def test_a_parameter_no_slot_has_is_refused():
    with pytest.raises(InputError) as caught:
        stack.configure(context("stack", world("b0-nominal", parameters={"lokahead_m": 0.3})))
    assert str(caught.value) == (
        "baseline b0-gt-pid: parameters.lokahead_m: no slot has this parameter; did you mean lookahead_m? (valid: "
        "corner_angle_deg, corner_radius_m, corner_speed_m_s, cruise_speed_m_s, gate_approach_m, lookahead_m, "
        "max_speed_m_s, switch_radius_m)"
    )


def test_a_user_s_own_slots_are_named_by_their_import_path():
    """A detector and an estimator outside the project, which takes the oracle's gates."""
    own = {"estimator": "tests.baselines.own_estimator", "controller": "NullController", "planner": "NullPlanner"}
    where = world("null-pad", slots=own)
    node = single(where)
    node.send("gates", GateObservations(7, (NOTHING,) * 4, 3, 2))
    node.send("gates", GateObservations(9, (NOTHING,) * 4, 4, 1))
    node.step(0)
    assert node.last("estimate").position == Vec3(3.0, 0.0, 0.0)  # gates seen so far
