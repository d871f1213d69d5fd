"""The plant: integrates the quadrotor one physics period per step and publishes its true state.

The rotor command at a step is the one the flight controller computed a tick before, held over the period. The first
step publishes the initial state, at rest on the pad, and the randomization drawn for the run.
"""

import math
from typing import Any, NamedTuple

from pydantic import Field

from blocks import quadrotor
from blocks.math import Rotors, Vec3, from_yaw
from blocks.plain import plain
from graph.config import Config
from graph.node import Context, Maybe, New, Node, Setup, node
from msgs.fault import Fault, FaultKind
from msgs.rotor_command import RotorCommand
from msgs.sim_config import SimConfig
from msgs.truth_state import TruthState

MOTOR_SCALE = int(FaultKind.MOTOR_SCALE)


class Options(Config):
    """Options of the simulator."""

    monitor: bool = Field(default=False, description="whether the plant's invariants are checked before every step")


class Params(NamedTuple):
    """The true vehicle and the period it is integrated with."""

    plant: quadrotor.Params
    period: float  # s
    config: SimConfig  # what was drawn, published once


class State(NamedTuple):
    """The plant's state, and what faults do to its rotors."""

    plant: quadrotor.State
    speed_scale: Rotors  # 1, delivered over commanded rotor speed
    started: bool  # the initial state has been published


class Out(NamedTuple):
    """What the simulator publishes."""

    truth: TruthState
    sim_config: Maybe[SimConfig]


@node
def simulator(p: Params, s: State, t: int, rotor_command: New[RotorCommand]) -> tuple[State, Out]:
    """Integrate to t and publish the state there."""
    plant = s.plant
    if s.started:
        speed, k = rotor_command.last.speeds, s.speed_scale
        plant = quadrotor.step(
            p.plant, plant, (speed[0] * k[0], speed[1] * k[1], speed[2] * k[2], speed[3] * k[3]), p.period
        )
    truth = TruthState(
        stamp=t,
        position=plant.position,
        velocity=plant.velocity,
        attitude=plant.attitude,
        body_rates=plant.rates,
        rotor_speeds=plant.rotor_speed,
        energy=plant.energy,
        on_ground=plant.on_ground,
    )
    return (
        State(plant=plant, speed_scale=s.speed_scale, started=True),
        Out(truth=truth, sim_config=Maybe(present=not s.started, value=p.config)),
    )


@simulator.each
def faults(p: Params, s: State, faults: Fault) -> State:
    """motor_scale: a fraction f of the commanded thrust is sqrt(f) of the speed. A rotor's newest fault holds."""
    if faults.kind != MOTOR_SCALE:
        return s
    k = math.sqrt(faults.value) if faults.active else 1.0
    r, n = faults.rotor, s.speed_scale
    scale = (k if r == 0 else n[0], k if r == 1 else n[1], k if r == 2 else n[2], k if r == 3 else n[3])
    return State(plant=s.plant, speed_scale=scale, started=s.started)


def node_for(world: Any, options: Options | None = None) -> Node:
    """The node, with the invariant monitor or without."""
    from nodes import simulator_monitored

    return simulator_monitored.simulator if options is not None and options.monitor else simulator


def configure(context: Context) -> Setup:
    """The randomized vehicle at rest on the pad, at the drawn start."""
    world = context.world
    rate_hz = world.scenario.sim.physics_rate_hz
    draw = world.draw
    start, yaw = world.start()
    zero = Vec3(0.0, 0.0, 0.0)
    attitude = plain(from_yaw)(yaw)
    plant = quadrotor.State(start, zero, attitude, zero, (0.0, 0.0, 0.0, 0.0), 0.0, True)
    config = SimConfig(
        stamp=0,
        seed=context.seed,
        mass_factor=draw.mass_factor,
        inertia_factor=draw.inertia_factor,
        drag_factor=draw.drag_factor,
        motor_time_constant_factor=draw.motor_time_constant_factor,
        start_position=start,
        start_yaw=yaw,
    )
    return Setup(
        params=Params(plant=world.plant_params(), period=1.0 / rate_hz, config=config),
        state=State(plant=plant, speed_scale=(1.0, 1.0, 1.0, 1.0), started=False),
        rate_hz=rate_hz,
    )
