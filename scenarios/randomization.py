"""The draws from a run's seed: how the true world differs from the nominal one, and when its faults act."""

from typing import NamedTuple

from blocks.plain import plain
from blocks.splitmix64 import stream, uniform
from scenarios.scenario import Fault, Randomization

_uniform = plain(uniform)


class Draw(NamedTuple):
    """What was drawn. A factor is true over nominal, 1."""

    mass_factor: float
    inertia_factor: float  # all three moments
    drag_factor: float  # linear and quadratic, all axes
    motor_time_constant_factor: float
    start_offset_x_m: float
    start_offset_y_m: float
    start_offset_yaw_rad: float
    fault_shift_s: tuple[float, ...]  # added to the start and to the end of each fault


def draw(seed: int, bounds: Randomization, faults: tuple[Fault, ...]) -> Draw:
    """The draw of `seed`. Each quantity has its own stream, so that no bound and no fault shifts another's draw."""

    def within(purpose: str, bound: float) -> float:
        _, u = _uniform(stream(seed, "randomization", purpose))
        return float(bound * (2.0 * u - 1.0)) + 0.0  # + 0.0: a bound of zero never draws -0.0

    return Draw(
        mass_factor=1.0 + within("mass", bounds.mass_fraction),
        inertia_factor=1.0 + within("inertia", bounds.inertia_fraction),
        drag_factor=1.0 + within("drag", bounds.drag_fraction),
        motor_time_constant_factor=1.0 + within("motor time constant", bounds.motor_time_constant_fraction),
        start_offset_x_m=within("start x", bounds.start_xy_m),
        start_offset_y_m=within("start y", bounds.start_xy_m),
        start_offset_yaw_rad=within("start yaw", bounds.start_yaw_rad),
        fault_shift_s=tuple(within(f"fault {i}", fault.start_jitter_s) for i, fault in enumerate(faults)),
    )
