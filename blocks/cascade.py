"""The flight cascade of a vehicle: every loop's gains from its rotor lag, every limit from its thrust.

Successive loop closure with uniform halving of the bandwidth, from a rotor lag tau outwards:

    rate      K_r = 1 / (4 tau)     (critically damped)     rate integral      K_ir = K_r K_a / 4
    attitude  K_a = 1 / (8 tau)                             velocity integral  K_iv = K_v K_p / 4
    velocity  K_v = 1 / (16 tau)                            yaw gains are half of roll and pitch
    position  K_p = 1 / (32 tau)

The tilt limit is min(45 degrees, acos(1.25 / TWR)): fully tilted the vehicle still holds its height with a quarter of
its weight to spare, which needs a thrust-to-weight ratio TWR above 1.25. Source: S. Skogestad, I. Postlethwaite,
"Multivariable Feedback Control", 2nd edition, section 10.6 (sequential closing); the numbers are this project's own.
"""

import math
from typing import NamedTuple

from blocks import attitude_controller, mixer, position_controller, quadrotor, rate_controller
from blocks.math import Vec3
from blocks.monitor import params_violation
from blocks.trigonometry import plain_acos, plain_tan

MIN_THRUST_TO_WEIGHT = 1.25
MAX_TILT = math.pi / 4.0  # rad
RATE_LIMIT = 10.0  # rad/s
YAW_RATE_LIMIT = 2.0  # rad/s
CLIMB_LIMIT = 3.0  # m/s
DESCENT_LIMIT = 2.0  # m/s
SPEED_LIMIT = 5.0  # m/s, the edge of the model's expected envelope
VELOCITY_INTEGRAL_LIMIT = 3.0  # m/s^2
RATE_INTEGRAL_LIMIT = 50.0  # rad/s^2
IDLE_SPEED = 340.0  # rad/s


class Config(NamedTuple):
    """Parameters of the four blocks between a reference and the rotors, outermost first."""

    position: position_controller.Params
    attitude: attitude_controller.Params
    rate: rate_controller.Params
    mixer: mixer.Params


def thrust_to_weight(p: quadrotor.Params) -> float:
    """Four rotors at full speed on a full battery, over the weight."""
    return 4.0 * p.thrust_coefficient * p.max_rotor_speed * p.max_rotor_speed / (p.mass * p.gravity)


def cascade_config_from(
    p: quadrotor.Params, *, idle_speed: float = IDLE_SPEED, max_speed: float = SPEED_LIMIT
) -> Config:
    """The cascade of a vehicle, with rotors kept above idle_speed (rad/s) and setpoints below max_speed (m/s).

    max_speed caps the horizontal speed; climb and descent only where it is below their own limits. Raises ValueError
    when a parameter is out of bounds, thrust-to-weight is not above 1.25, the idling rotors carry the vehicle, or a
    speed is not usable.
    """
    problem = params_violation(p)
    if problem is not None:
        raise ValueError(f"no cascade for these quadrotor parameters: {problem}")
    ratio = thrust_to_weight(p)
    if not ratio > MIN_THRUST_TO_WEIGHT:
        raise ValueError(f"thrust-to-weight ratio is {ratio:.3f}, the cascade needs more than {MIN_THRUST_TO_WEIGHT}")
    if not (math.isfinite(max_speed) and max_speed > 0.0):
        raise ValueError(f"max_speed is {max_speed}, must be finite and above 0 m/s")
    mix = mixer.params_for(p, idle_speed)
    if not 4.0 * mix.min_thrust < p.mass * p.gravity:
        raise ValueError(
            f"idle_speed is {idle_speed}, must be below the hover speed {quadrotor.hover_rotor_speed(p):.1f}"
        )

    tau = p.rotor_time_constant
    rate, attitude, velocity, position = 1.0 / (4.0 * tau), 1.0 / (8.0 * tau), 1.0 / (16.0 * tau), 1.0 / (32.0 * tau)
    rate_integral = rate * attitude / 4.0
    return Config(
        position=position_controller.Params(
            position_gain=position,
            velocity_gain=velocity,
            integral_gain=velocity * position / 4.0,
            integral_limit=VELOCITY_INTEGRAL_LIMIT,
            speed_limit=max_speed,
            climb_limit=min(CLIMB_LIMIT, max_speed),
            descent_limit=min(DESCENT_LIMIT, max_speed),
            tilt_tangent=plain_tan(min(MAX_TILT, plain_acos(MIN_THRUST_TO_WEIGHT / ratio))),
            min_thrust=4.0 * mix.min_thrust,
            max_thrust=4.0 * mix.max_thrust,
            mass=p.mass,
            gravity=p.gravity,
        ),
        attitude=attitude_controller.Params(
            tilt_gain=attitude,
            yaw_gain=attitude / 2.0,
            rate_limit=RATE_LIMIT,
            yaw_rate_limit=YAW_RATE_LIMIT,
        ),
        rate=rate_controller.Params(
            inertia=p.inertia,
            gain=Vec3(rate, rate, rate / 2.0),
            integral_gain=Vec3(rate_integral, rate_integral, rate_integral / 4.0),
            integral_limit=RATE_INTEGRAL_LIMIT,
        ),
        mixer=mix,
    )


def valid(c: Config) -> bool:
    """Every block's parameters are valid."""
    return (
        position_controller.valid(c.position)
        and attitude_controller.valid(c.attitude)
        and rate_controller.valid(c.rate)
        and mixer.valid(c.mixer)
    )
