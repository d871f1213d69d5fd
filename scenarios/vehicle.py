"""The vehicle file: airframe, rotors, drag, battery, camera, IMU and flight controller, in SI units.

Body frame: x forward, y left, z up. Rotors in PX4 Quad X order: 0 front right, 1 rear left, 2 front left, 3 rear right;
0 and 1 turn counter-clockwise seen from above.
"""

from typing import Literal

from pydantic import Field, model_validator

from graph.config import Config, Problem
from scenarios.fields import (
    BelowOne,
    Name,
    NonNegative,
    NonNegativeVector,
    Number,
    Positive,
    PositiveVector,
    RateHz,
    Vector,
)

Spin = Literal[-1, 1]


class Rotor(Config):
    """The four rotors: thrust = thrust_coefficient speed^2, yaw torque = -spin torque_coefficient_m thrust."""

    thrust_coefficient: Positive = Field(description="thrust over squared rotor speed, N s^2/rad^2")
    torque_coefficient_m: NonNegative = Field(description="torque over thrust, m")
    max_speed_rad_s: Positive = Field(description="highest rotor speed, rad/s")
    idle_speed_rad_s: NonNegative = Field(description="lowest speed an armed flight controller commands, rad/s")
    time_constant_s: Positive = Field(description="first-order lag of the rotor speed, s")
    positions_m: tuple[Vector, Vector, Vector, Vector] = Field(description="rotor hubs in the body frame, m")
    spins: tuple[Spin, Spin, Spin, Spin] = Field(description="1 counter-clockwise from above, -1 clockwise")

    @model_validator(mode="after")
    def _idle_below_max(self) -> "Rotor":
        if self.idle_speed_rad_s >= self.max_speed_rad_s:
            wanted = f"must be less than max_speed_rad_s, {self.max_speed_rad_s}"
            raise Problem("idle_speed_rad_s", f"is {self.idle_speed_rad_s}; {wanted}")
        return self


class Drag(Config):
    """Drag force in the body frame: -linear v - quadratic v |v|, per axis."""

    linear_n_s_m: NonNegativeVector = Field(description="linear drag per body axis, N s/m")
    quadratic_n_s2_m2: NonNegativeVector = Field(description="quadratic drag per body axis, N s^2/m^2")


class Battery(Config):
    """Energy drawn, and the thrust lost as the battery empties: 1 - sag_fraction min(energy / capacity, 1)."""

    power_coefficient_w_s3: NonNegative = Field(description="electric power over cubed rotor speed, W s^3/rad^3")
    capacity_j: Positive = Field(description="usable energy, J")
    sag_fraction: BelowOne = Field(description="fraction of thrust lost when the battery is empty")


class Camera(Config):
    """A fisheye camera after Kannala and Brandt: r = theta (1 + k1 theta^2 + k2 theta^4 + k3 theta^6 + k4 theta^8)."""

    rate_hz: RateHz = Field(description="frame rate, Hz")
    width_px: int = Field(gt=0, le=16_384, description="image width, px")
    height_px: int = Field(gt=0, le=16_384, description="image height, px")
    fx_px: Positive = Field(description="horizontal focal length, px")
    fy_px: Positive = Field(description="vertical focal length, px")
    cx_px: Number = Field(description="principal point from the left, px")
    cy_px: Number = Field(description="principal point from the top, px")
    distortion: tuple[Number, Number, Number, Number] = Field(description="Kannala-Brandt k1 to k4")
    line_delay_s: NonNegative = Field(description="rolling shutter: delay from line to line, s; not modelled")
    position_m: Vector = Field(description="optical centre in the body frame, m")
    tilt_up_deg: float = Field(ge=-90, le=90, description="optical axis above the body x axis, degrees")


class Imu(Config):
    """Inertial measurement unit: noise densities, biases, range and latency."""

    rate_hz: RateHz = Field(description="sample rate, Hz")
    gyro_noise_density: NonNegative = Field(description="rad/s/sqrt(Hz)")
    accel_noise_density: NonNegative = Field(description="m/s^2/sqrt(Hz)")
    gyro_bias_random_walk: NonNegative = Field(default=0.0, description="rad/s^2/sqrt(Hz)")
    accel_bias_random_walk: NonNegative = Field(default=0.0, description="m/s^3/sqrt(Hz)")
    initial_gyro_bias_sigma: NonNegative = Field(default=0.0, description="standard deviation per axis, rad/s")
    initial_accel_bias_sigma: NonNegative = Field(default=0.0, description="standard deviation per axis, m/s^2")
    gyro_range_rad_s: Positive = Field(description="largest rate an axis reports, rad/s")
    accel_range_m_s2: Positive = Field(description="largest specific force an axis reports, m/s^2")
    latency_s: float = Field(default=0.0, ge=0, le=1, description="from measurement to delivery, s")


class FlightController(Config):
    """The flight controller's own loop."""

    rate_hz: RateHz = Field(description="rate of the rate loop, Hz")
    gyro_cutoff_hz: Positive = Field(description="cutoff of the Butterworth low-pass on the gyro, Hz")
    command_timeout_s: Positive = Field(description="rotors stop when no command came for longer than this, s")


class Vehicle(Config):
    """A quadrotor with its sensors and its flight controller."""

    name: Name = Field(description="name of the vehicle")
    mass_kg: Positive = Field(description="mass, kg")
    inertia_kg_m2: PositiveVector = Field(description="principal moments of inertia about body x, y, z, kg m^2")
    rotor_count: Literal[4] = Field(description="number of rotors, 4")
    rotor: Rotor = Field(description="the rotors")
    drag: Drag = Field(description="aerodynamic drag")
    battery: Battery = Field(description="the battery")
    camera: Camera = Field(description="the camera")
    imu: Imu = Field(description="the inertial measurement unit")
    fc: FlightController = Field(description="the flight controller")

    @model_validator(mode="after")
    def _check(self) -> "Vehicle":
        x, y, z = self.inertia_kg_m2
        if max(x, y, z) > x + y + z - max(x, y, z):
            text = "no rigid body has one moment of inertia above the sum of the other two"
            raise Problem("inertia_kg_m2", f"is [{x}, {y}, {z}]; {text}")
        if not self.fc.gyro_cutoff_hz < self.fc.rate_hz / 2:
            wanted = f"must be less than half of fc.rate_hz, {self.fc.rate_hz / 2}"
            raise Problem("fc.gyro_cutoff_hz", f"is {self.fc.gyro_cutoff_hz}; {wanted}")
        return self
