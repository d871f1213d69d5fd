"""The scenario file: what is flown where, for how long, with which randomization and which faults."""

import math
from itertools import combinations
from typing import Annotated, Literal

from pydantic import Field, model_validator

from graph.config import Config, Problem
from msgs.score import MAX_LAPS
from msgs.units import NS_PER_S
from scenarios.fields import BelowOne, Fraction, Name, NonNegative, Positive, Vector

MOST_FAULT_EVENTS = 32
"""Beginnings and ends of a scenario's faults: no more than the fault injector has room for."""


class Randomization(Config):
    """How far the true world may lie from the nominal one; each quantity is drawn uniformly within its bound."""

    mass_fraction: BelowOne = Field(default=0.0, description="of the mass")
    inertia_fraction: float = Field(default=0.0, ge=0, lt=1, description="of the moments of inertia, by one factor")
    drag_fraction: float = Field(default=0.0, ge=0, lt=1, description="of all drag, by one factor")
    motor_time_constant_fraction: float = Field(default=0.0, ge=0, lt=1, description="of the rotor time constant")
    start_xy_m: NonNegative = Field(default=0.0, description="of the start position, in x and in y, m")
    start_yaw_rad: NonNegative = Field(default=0.0, description="of the start heading, rad")


class TimedFault(Config):
    """When a fault acts: from its start until its end, or until the run ends."""

    start_s: NonNegative = Field(default=0.0, description="when the fault begins, s")
    end_s: Positive | None = Field(
        default=None, description="when the fault ends, s; by default it lasts to the end of the run"
    )
    start_jitter_s: NonNegative = Field(default=0.0, description="start and end move by one draw within this bound, s")

    @property
    def alone(self) -> str | None:
        """What only one fault can do at a time; None where several add up."""
        return None

    def may_meet(self, other: "TimedFault") -> bool:
        """Whether the two may be active at one time, whatever their jitters are."""
        (begin, end), (other_begin, other_end) = self._span(), other._span()
        return begin < other_end and other_begin < end

    def _span(self) -> tuple[float, float]:
        end_s = math.inf if self.end_s is None else self.end_s + self.start_jitter_s
        return self.start_s - self.start_jitter_s, end_s

    @model_validator(mode="after")
    def _ends_after_start(self) -> "TimedFault":
        if self.end_s is not None and self.end_s <= self.start_s:
            raise Problem("end_s", f"is {self.end_s}; must be greater than start_s, {self.start_s}")
        if self.start_jitter_s > self.start_s:
            raise Problem("start_jitter_s", f"is {self.start_jitter_s}; must be at most start_s, {self.start_s}")
        return self


class ImuBiasStep(TimedFault):
    """The IMU's biases jump."""

    kind: Literal["imu_bias_step"]
    gyro_bias_rad_s: Vector = Field(default=(0.0, 0.0, 0.0), description="added to the gyro bias, rad/s")
    accel_bias_m_s2: Vector = Field(default=(0.0, 0.0, 0.0), description="added to the accelerometer bias, m/s^2")


class CameraCorrupt(TimedFault):
    """Camera frames are marked as corrupted."""

    kind: Literal["camera_corrupt"]
    probability: Fraction = Field(description="of each frame to be corrupted")

    @property
    def alone(self) -> str:
        """What the camera has one of at a time."""
        return "camera_corrupt"


class CameraBlackout(TimedFault):
    """No camera frames."""

    kind: Literal["camera_blackout"]


class CommandDelay(TimedFault):
    """Commands reach the flight controller late."""

    kind: Literal["command_delay"]
    delay_s: float = Field(ge=0, le=1, description="delay of each command, s")


class LinkLoss(TimedFault):
    """Commands are lost."""

    kind: Literal["link_loss"]


class MotorScale(TimedFault):
    """A rotor delivers only a fraction of its commanded thrust."""

    kind: Literal["motor_scale"]
    rotor: int = Field(ge=0, le=3, description="rotor index in PX4 Quad X order")
    thrust_fraction: Fraction = Field(description="fraction of the commanded thrust delivered")

    @property
    def alone(self) -> str:
        """What a rotor has one of at a time."""
        return f"motor_scale of rotor {self.rotor}"


Fault = ImuBiasStep | CameraCorrupt | CameraBlackout | CommandDelay | LinkLoss | MotorScale


class Sim(Config):
    """The simulator."""

    physics_rate_hz: int = Field(default=1000, ge=100, le=10_000, description="rate of the physics and of the tick, Hz")
    test_pattern_frames: bool = Field(default=False, description="whether camera frames carry a test pattern")
    oracle_corner_sigma_px: NonNegative = Field(
        default=1.0, description="deviation the oracle states for its gate corners, which are exact, px"
    )

    @model_validator(mode="after")
    def _whole_tick(self) -> "Sim":
        if NS_PER_S % self.physics_rate_hz:
            raise Problem("physics_rate_hz", f"is {self.physics_rate_hz}; must divide a second into whole nanoseconds")
        return self


class Scenario(Config):
    """A run, up to its seed."""

    name: Name = Field(description="name of the scenario")
    vehicle: Name = Field(description="vehicle, by name or by path")
    course: Name = Field(description="course, by name or by path")
    baseline: Name = Field(description="baseline it is flown with by default, by name or by path")
    laps: int | None = Field(
        default=None, ge=1, le=MAX_LAPS, description="laps to fly; without, a run to its end is good"
    )
    duration_s: float = Field(gt=0, le=3600, description="longest duration of the run, simulated s")
    seed: int = Field(ge=0, lt=2**63, description="of every random draw of the run")
    speed_limit_m_s: Positive | None = Field(default=None, description="highest true speed of a successful run, m/s")
    randomization: Randomization = Field(default=Randomization(), description="bounds of the draws from the seed")
    faults: tuple[Annotated[Fault, Field(discriminator="kind")], ...] = Field(default=(), description="timed faults")
    sim: Sim = Field(default=Sim(), description="the simulator")

    @model_validator(mode="after")
    def _not_too_many(self) -> "Scenario":
        events = sum(1 if fault.end_s is None else 2 for fault in self.faults)
        if events > MOST_FAULT_EVENTS:
            raise Problem("faults", f"are {events} beginnings and ends; must be at most {MOST_FAULT_EVENTS} in all")
        return self

    @model_validator(mode="after")
    def _one_at_a_time(self) -> "Scenario":
        for (i, first), (j, second) in combinations(enumerate(self.faults), 2):
            if first.alone is not None and first.alone == second.alone and first.may_meet(second):
                raise Problem(
                    f"faults[{j}]", f"may act while faults[{i}] does; one {first.alone} must end before the next begins"
                )
        return self
