"""What fills a slot of the autonomy stack: the kinds, what each implements, and what it is configured from.

A slot implementation is a module with `KIND`, `Params`, `State`, `configure(context) -> (Params, State)` and the
kernels of its kind:

    estimator      state_at(p, s, t) -> StateEstimate
    gate_detector  none
    planner        plan(p, s, t, estimate) -> (State, Maybe[Reference])
    controller     control(p, s, t, estimate, reference: Maybe[Reference]) -> (State, Command)
    safety_filter  limit(p, s, estimate, command) -> (State, Command)
    daa_tracker    track(p, s, estimate) -> State
    fc_bridge      send(p, s, command) -> (State, Command)

Any slot may also take in what the stack receives: on_imu, on_truth, on_camera and on_gates (p, s, message) -> State.
"""

import math
from dataclasses import dataclass, field
from typing import NamedTuple

from blocks.kernel import inlined
from blocks.math import Vec3
from blocks.splitmix64 import stream
from graph.errors import InputError
from graph.node import Maybe
from msgs.motor_command import MotorCommand
from msgs.reference import Reference
from msgs.thrust_rates import ThrustRates
from scenarios.world import World

KERNELS: dict[str, tuple[str, ...]] = {
    "estimator": ("state_at",),
    "gate_detector": (),
    "planner": ("plan",),
    "controller": ("control",),
    "safety_filter": ("limit",),
    "daa_tracker": ("track",),
    "fc_bridge": ("send",),
}
"""The kernels each kind of slot must have, in the order of the kinds in the stack."""

INPUTS = ("on_imu", "on_truth", "on_camera", "on_gates")
"""The kernels any slot may have."""


class Command(NamedTuple):
    """What the stack tells the flight controller: one of the two, or nothing."""

    thrust_rates: Maybe[ThrustRates]
    motors: Maybe[MotorCommand]


@inlined
def like(value: float, number: float) -> float:
    """number in the scalar type of value: for constants from tables and from integer time."""
    return type(value)(number)


@inlined
def no_motors(zero: float) -> Maybe[MotorCommand]:
    """No motors command; zero gives the scalar type."""
    return Maybe(present=False, value=MotorCommand(stamp=0, thrusts=(zero, zero, zero, zero)))


@inlined
def no_command(zero: float) -> Command:
    """Nothing for the flight controller; zero gives the scalar type."""
    rates = ThrustRates(stamp=0, thrust=zero, body_rates=Vec3(zero, zero, zero))
    return Command(thrust_rates=Maybe(present=False, value=rates), motors=no_motors(zero))


@inlined
def thrust_rates_command(stamp: int, thrust: float, body_rates: Vec3) -> Command:
    """A thrust (N) and body rates (rad/s) for the flight controller."""
    value = ThrustRates(stamp=stamp, thrust=thrust, body_rates=body_rates)
    return Command(thrust_rates=Maybe(present=True, value=value), motors=no_motors(thrust * 0.0))


@inlined
def no_reference(zero: float) -> Maybe[Reference]:
    """Nowhere to be; zero gives the scalar type."""
    still = Vec3(zero, zero, zero)
    value = Reference(stamp=0, position=still, velocity=still, yaw=zero, progress=zero, segment=0)
    return Maybe(present=False, value=value)


@dataclass(frozen=True)
class SlotContext:
    """What a slot is configured from, before the run."""

    world: World
    kind: str
    seed: int
    used: set[str] = field(default_factory=set)  # parameters some slot has asked for

    def stream(self, purpose: str) -> int:
        """The first state of a random stream of this slot's own."""
        return stream(self.seed, f"stack.{self.kind}", purpose)

    def parameter(
        self, key: str, default: float, *, above: float = -math.inf, low: float = -math.inf, high: float = math.inf
    ) -> float:
        """The baseline's number `key`, finite, greater than `above` and in [low, high]. Raises InputError otherwise."""
        self.used.add(key)
        baseline = self.world.baseline
        value = baseline.parameters.get(key, default)
        bounds = []
        if above > -math.inf:
            bounds.append(f"greater than {above:g}")
        if low > -math.inf:
            bounds.append(f"at least {low:g}")
        if high < math.inf:
            bounds.append(f"at most {high:g}")
        wanted = " ".join(["a number", " and ".join(bounds)]).strip()
        number = isinstance(value, int | float) and not isinstance(value, bool)
        x = float(value) if number else math.nan
        if not (math.isfinite(x) and x > above and low <= x <= high):
            shown = f"the text {value!r}" if isinstance(value, str) else str(value).lower()
            raise InputError(f"baseline {baseline.name}: parameters.{key}: is {shown}; must be {wanted}")
        return x
