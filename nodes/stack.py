"""The autonomy stack: estimator, planner, controller and their companions, composed from the baseline's slots.

The composition is made once per combination of slots: a node whose step calls the slots' kernels directly. Per tick,
after every message since the last one went to the slots that take it: estimate, plan, track, control, limit, send.
"""

from collections.abc import Callable, Mapping
from functools import cache
from types import GenericAlias, ModuleType
from typing import Any, NamedTuple

from baselines.registry import slot
from baselines.slots import INPUTS, KERNELS, SlotContext
from blocks.kernel import inlined
from graph.config import did_you_mean
from graph.errors import InputError
from graph.node import Context, Maybe, Node, Setup
from graph.node import node as declare
from msgs.camera_frame import CameraFrame
from msgs.gate_observations import GateObservations
from msgs.imu_sample import ImuSample
from msgs.motor_command import MotorCommand
from msgs.reference import Reference
from msgs.state_estimate import StateEstimate
from msgs.thrust_rates import ThrustRates
from msgs.truth_state import TruthState
from scenarios.world import World


class Out(NamedTuple):
    """What the stack publishes."""

    estimate: StateEstimate
    reference: Maybe[Reference]
    thrust_rates: Maybe[ThrustRates]
    motors: Maybe[MotorCommand]


@inlined
def ignore(p: Any, s: Any, message: Any) -> Any:
    """The input kernel of a slot that does not take a message."""
    return s


def compose(slots: Mapping[str, ModuleType]) -> Node:
    """The stack of one module per kind of slot, in the order of `KERNELS`, as a node."""
    combination = "_".join(slots[kind].__name__.replace("baselines.", "").replace(".", "_") for kind in KERNELS)
    params_type = _record("Params", combination, {kind: slots[kind].Params for kind in KERNELS})
    state_type = _record("State", combination, {kind: slots[kind].State for kind in KERNELS})
    state_at: Callable[..., Any] = slots["estimator"].state_at
    plan: Callable[..., Any] = slots["planner"].plan
    control: Callable[..., Any] = slots["controller"].control
    limit: Callable[..., Any] = slots["safety_filter"].limit
    track: Callable[..., Any] = slots["daa_tracker"].track
    send: Callable[..., Any] = slots["fc_bridge"].send

    def stack(p: Any, s: Any, t: int) -> tuple[Any, Out]:
        """One tick of the stack."""
        estimate = state_at(p.estimator, s.estimator, t)
        planner, reference = plan(p.planner, s.planner, t, estimate)
        daa_tracker = track(p.daa_tracker, s.daa_tracker, estimate)
        controller, wanted = control(p.controller, s.controller, t, estimate, reference)
        safety_filter, limited = limit(p.safety_filter, s.safety_filter, estimate, wanted)
        fc_bridge, command = send(p.fc_bridge, s.fc_bridge, limited)
        return (
            state_type(s.estimator, s.gate_detector, planner, controller, safety_filter, daa_tracker, fc_bridge),
            Out(estimate=estimate, reference=reference, thrust_rates=command.thrust_rates, motors=command.motors),
        )

    stack.__annotations__ |= {"p": params_type, "s": state_type, "return": GenericAlias(tuple, (state_type, Out))}
    composed = declare(reaches=[module.__name__ for module in slots.values()])(stack)
    take_imu, take_truth, take_camera, take_gates = (_taken(slots, state_type, kernel) for kernel in INPUTS)

    def imu(p: Any, s: Any, imu: ImuSample) -> Any:
        return take_imu(p, s, imu)

    def truth(p: Any, s: Any, truth: TruthState) -> Any:
        return take_truth(p, s, truth)

    def camera(p: Any, s: Any, camera: CameraFrame) -> Any:
        return take_camera(p, s, camera)

    def gates(p: Any, s: Any, gates: GateObservations) -> Any:
        return take_gates(p, s, gates)

    for take in (imu, truth, camera, gates):
        composed.each(take)
    return composed


def _taken(slots: Mapping[str, ModuleType], state_type: Any, name: str) -> Callable[..., Any]:
    """The kernel that hands a message to each slot that has the kernel `name` for it."""
    a, b, c, d, e, f, g = (getattr(slots[kind], name, ignore) for kind in KERNELS)

    def taken(p: Any, s: Any, message: Any) -> Any:
        return state_type(
            a(p.estimator, s.estimator, message),
            b(p.gate_detector, s.gate_detector, message),
            c(p.planner, s.planner, message),
            d(p.controller, s.controller, message),
            e(p.safety_filter, s.safety_filter, message),
            f(p.daa_tracker, s.daa_tracker, message),
            g(p.fc_bridge, s.fc_bridge, message),
        )

    return inlined(taken)


def _record(kind: str, combination: str, fields: Mapping[str, type]) -> Any:
    """A NamedTuple class that pickles by name once its combination has been composed in the process."""
    name = f"{kind}_{combination}"
    record = NamedTuple(name, list(fields.items()))  # type: ignore[misc]
    record.__module__ = __name__
    record.__doc__ = f"{kind} of each slot."
    globals()[name] = record
    return record


@cache
def _composed(names: tuple[str, ...], baseline: str) -> tuple[Node, tuple[ModuleType, ...]]:
    modules = tuple(slot(kind, name, baseline) for kind, name in zip(KERNELS, names, strict=True))
    return compose(dict(zip(KERNELS, modules, strict=True))), modules


def _composition(world: World) -> tuple[Node, tuple[ModuleType, ...]]:
    names = tuple(getattr(world.baseline.slots, kind) for kind in KERNELS)
    return _composed(names, world.baseline.name)


def node_for(world: World) -> Node:
    """The node of a baseline's slots, the same object for the same slots. Raises InputError for an unknown slot."""
    return _composition(world)[0]


def configure(context: Context) -> Setup:
    """Every slot's parameters and first state. Raises InputError for a bad or an unknown parameter."""
    world = context.world
    composed, modules = _composition(world)
    used: set[str] = set()
    pairs = [
        module.configure(SlotContext(world=world, kind=kind, seed=context.seed, used=used))
        for kind, module in zip(KERNELS, modules, strict=True)
    ]
    baseline = world.baseline
    for key in baseline.parameters:
        if key not in used:
            raise InputError(
                f"baseline {baseline.name}: parameters.{key}: no slot has this parameter{did_you_mean(key, used)} "
                f"(valid: {', '.join(sorted(used)) or 'none'})"
            )
    return Setup(
        params=composed.params_type(*(params for params, _ in pairs)),
        state=composed.state_type(*(state for _, state in pairs)),
        rate_hz=baseline.control_rate_hz,
    )
