"""Quadrotor dynamics: a rigid body under four lagged rotors, drag, battery sag and ground contact.

    rotor speed   w_i' = (clamp(u_i, 0, w_max) - w_i) / tau                                  rad/s
    thrust        T_i = s k_f w_i^2, battery scale s = 1 - sag min(E / capacity, 1)          N
    position      p' = v                                                                     m, world
    velocity      v' = R(q) F_b / m - g e3                                                   m/s, world
                  F_b = (0, 0, sum T_i) - D_lin v_b - D_quad v_b |v_b| per axis, v_b = R(q)^T v
    attitude      q' = 1/2 q (0, w)                                                          unit, body to world
    body rates    w' = J^-1 (tau_b - w x J w)                                                rad/s, body
                  tau_b = sum r_i x (0, 0, T_i) + (0, 0, -spin_i k_m T_i)
    energy        E' = sum k_p w_i^3                                                         J

World z is up; body x forward, y left, z up. Rotor order is PX4 Quad X: 0 front-right CCW, 1 rear-left CCW, 2
front-left CW, 3 rear-right CW, as seen from above; a CCW rotor (spin +1) pushes the body clockwise. Sources: R.
Mahony, V. Kumar, P. Corke, "Multirotor Aerial Vehicles", IEEE RAM 19(3), 2012, for the rigid body and the rotor
wrench; classical RK4.

Not modelled: rotor drag and blade flapping, thrust loss in fast flight and climb, ground effect, contact dynamics
(contact is a stop without friction, bounce or tip-over), wind. Expected envelope: below about 5 m/s and 10 rad/s,
rotors between 10 % and 95 % of their maximum speed.
"""

import math
from typing import NamedTuple

from blocks.kernel import inlined
from blocks.math import Quat, Rotors, Vec3, body_z, clamp, conjugate, cross, normalize, rotate_inverse, sandwich


class Params(NamedTuple):
    """A vehicle and its world. Every number is finite; `blocks.monitor.params_violation` checks the bounds."""

    mass: float  # kg
    inertia: Vec3  # principal moments about body x, y, z, kg m^2
    rotor_x: Rotors  # hub positions forward of the centre of mass, m
    rotor_y: Rotors  # hub positions left of the centre of mass, m
    spin: Rotors  # +1.0 counter-clockwise, -1.0 clockwise, seen from above
    thrust_coefficient: float  # k_f, N / (rad/s)^2
    torque_coefficient: float  # k_m, torque over thrust, m
    max_rotor_speed: float  # rad/s
    rotor_time_constant: float  # tau, s
    drag_linear: Vec3  # body axes, N / (m/s)
    drag_quadratic: Vec3  # body axes, N / (m/s)^2
    power_coefficient: float  # k_p, W / (rad/s)^3
    battery_capacity: float  # J
    battery_sag: float  # fraction of thrust lost when the battery is empty, [0, 1)
    gravity: float  # m/s^2
    ground_z: float  # height of the ground plane in the world, m


class State(NamedTuple):
    """What the vehicle carries from one step to the next."""

    position: Vec3  # world, m
    velocity: Vec3  # world, m/s
    attitude: Quat  # body to world, unit
    rates: Vec3  # body, rad/s
    rotor_speed: Rotors  # rad/s
    energy: float  # drawn from the battery so far, J
    on_ground: bool


class Derivative(NamedTuple):
    """Time derivatives of the continuous part of State, in the same frames."""

    position: Vec3
    velocity: Vec3
    attitude: Quat
    rates: Vec3
    rotor_speed: Rotors
    energy: float


@inlined
def rotor_thrusts(p: Params, rotor_speed: Rotors, energy: float) -> Rotors:
    """T_i = s k_f w_i^2 in N, with the battery scale s of the energy drawn so far."""
    used = energy * (1.0 / p.battery_capacity)
    full = p.battery_capacity * 0.0 + 1.0
    k = (1.0 - p.battery_sag * (full if used > full else used)) * p.thrust_coefficient
    w0, w1, w2, w3 = rotor_speed
    return k * (w0 * w0), k * (w1 * w1), k * (w2 * w2), k * (w3 * w3)


@inlined
def body_force(p: Params, velocity: Vec3, attitude: Quat, thrust: float) -> Vec3:
    """F_b: rotor thrust less drag, body axes, N. Velocity in the world, thrust the sum over the rotors."""
    v = sandwich(conjugate(attitude), velocity)
    return Vec3(
        -(p.drag_linear.x + p.drag_quadratic.x * abs(v.x)) * v.x,
        -(p.drag_linear.y + p.drag_quadratic.y * abs(v.y)) * v.y,
        thrust - (p.drag_linear.z + p.drag_quadratic.z * abs(v.z)) * v.z,
    )


@inlined
def derivative(p: Params, s: State, command: Rotors) -> Derivative:
    """The equations of motion in flight (ground contact is the business of `step`); command in rad/s, clamped here."""
    t0, t1, t2, t3 = rotor_thrusts(p, s.rotor_speed, s.energy)
    force = sandwich(s.attitude, body_force(p, s.velocity, s.attitude, (t0 + t1) + (t2 + t3)))
    per_mass = 1.0 / p.mass

    x, y, spin = p.rotor_x, p.rotor_y, p.spin
    torque = Vec3(
        (y[0] * t0 + y[1] * t1) + (y[2] * t2 + y[3] * t3),
        -((x[0] * t0 + x[1] * t1) + (x[2] * t2 + x[3] * t3)),
        -p.torque_coefficient * ((spin[0] * t0 + spin[1] * t1) + (spin[2] * t2 + spin[3] * t3)),
    )
    w = s.rates
    j = p.inertia
    gyroscopic = cross(w, Vec3(j.x * w.x, j.y * w.y, j.z * w.z))

    q = s.attitude
    hx, hy, hz = 0.5 * w.x, 0.5 * w.y, 0.5 * w.z

    zero = p.mass * 0.0
    top = p.max_rotor_speed
    per_tau = 1.0 / p.rotor_time_constant
    u0, u1, u2, u3 = command
    w0, w1, w2, w3 = s.rotor_speed
    return Derivative(
        s.velocity,
        Vec3(force.x * per_mass, force.y * per_mass, force.z * per_mass - p.gravity),
        Quat(
            -(q.x * hx + q.y * hy + q.z * hz),
            q.w * hx + q.y * hz - q.z * hy,
            q.w * hy + q.z * hx - q.x * hz,
            q.w * hz + q.x * hy - q.y * hx,
        ),
        Vec3(
            (torque.x - gyroscopic.x) * (1.0 / j.x),
            (torque.y - gyroscopic.y) * (1.0 / j.y),
            (torque.z - gyroscopic.z) * (1.0 / j.z),
        ),
        (
            (clamp(u0, zero, top) - w0) * per_tau,
            (clamp(u1, zero, top) - w1) * per_tau,
            (clamp(u2, zero, top) - w2) * per_tau,
            (clamp(u3, zero, top) - w3) * per_tau,
        ),
        p.power_coefficient * ((w0 * w0 * w0 + w1 * w1 * w1) + (w2 * w2 * w2 + w3 * w3 * w3)),
    )


@inlined
def specific_force(p: Params, s: State) -> Vec3:
    """What an ideal accelerometer at the centre of mass reads, body axes, m/s^2.

    In flight R(q)^T (v' + g e3), which is F_b / m; on the ground R(q)^T g e3.
    """
    if s.on_ground:
        zero = p.gravity * 0.0
        return rotate_inverse(s.attitude, Vec3(zero, zero, p.gravity))
    t0, t1, t2, t3 = rotor_thrusts(p, s.rotor_speed, s.energy)
    force = body_force(p, s.velocity, s.attitude, (t0 + t1) + (t2 + t3))
    per_mass = 1.0 / p.mass
    return Vec3(force.x * per_mass, force.y * per_mass, force.z * per_mass)


@inlined
def _moved(s: State, d: Derivative, h: float) -> State:
    """s + h d, without renormalising."""
    p, v, q, w, r = s.position, s.velocity, s.attitude, s.rates, s.rotor_speed
    dp, dv, dq, dw, dr = d.position, d.velocity, d.attitude, d.rates, d.rotor_speed
    return State(
        Vec3(p.x + h * dp.x, p.y + h * dp.y, p.z + h * dp.z),
        Vec3(v.x + h * dv.x, v.y + h * dv.y, v.z + h * dv.z),
        Quat(q.w + h * dq.w, q.x + h * dq.x, q.y + h * dq.y, q.z + h * dq.z),
        Vec3(w.x + h * dw.x, w.y + h * dw.y, w.z + h * dw.z),
        (r[0] + h * dr[0], r[1] + h * dr[1], r[2] + h * dr[2], r[3] + h * dr[3]),
        s.energy + h * d.energy,
        s.on_ground,
    )


@inlined
def _simpson(a: float, b: float, c: float, d: float) -> float:
    """a + 2 b + 2 c + d, in the order the reference programs use too."""
    return (a + d) + 2.0 * (b + c)


@inlined
def _simpson3(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> Vec3:
    return Vec3(_simpson(a.x, b.x, c.x, d.x), _simpson(a.y, b.y, c.y, d.y), _simpson(a.z, b.z, c.z, d.z))


@inlined
def _flown(p: Params, s: State, command: Rotors, dt: float) -> State:
    """One classical RK4 step of the equations of motion, without contact; attitude unit, rotors within range."""
    half = 0.5 * dt
    a = derivative(p, s, command)
    b = derivative(p, _moved(s, a, half), command)
    c = derivative(p, _moved(s, b, half), command)
    d = derivative(p, _moved(s, c, dt), command)
    aq, bq, cq, dq = a.attitude, b.attitude, c.attitude, d.attitude
    ar, br, cr, dr = a.rotor_speed, b.rotor_speed, c.rotor_speed, d.rotor_speed
    mean = Derivative(
        _simpson3(a.position, b.position, c.position, d.position),
        _simpson3(a.velocity, b.velocity, c.velocity, d.velocity),
        Quat(
            _simpson(aq.w, bq.w, cq.w, dq.w),
            _simpson(aq.x, bq.x, cq.x, dq.x),
            _simpson(aq.y, bq.y, cq.y, dq.y),
            _simpson(aq.z, bq.z, cq.z, dq.z),
        ),
        _simpson3(a.rates, b.rates, c.rates, d.rates),
        (
            _simpson(ar[0], br[0], cr[0], dr[0]),
            _simpson(ar[1], br[1], cr[1], dr[1]),
            _simpson(ar[2], br[2], cr[2], dr[2]),
            _simpson(ar[3], br[3], cr[3], dr[3]),
        ),
        _simpson(a.energy, b.energy, c.energy, d.energy),
    )
    n = _moved(s, mean, dt * (1.0 / 6.0))
    zero = p.mass * 0.0
    top = p.max_rotor_speed
    w0, w1, w2, w3 = n.rotor_speed
    # A step far longer than the rotor lag makes RK4 overshoot; the speeds stay physical all the same.
    speed = (clamp(w0, zero, top), clamp(w1, zero, top), clamp(w2, zero, top), clamp(w3, zero, top))
    return State(n.position, n.velocity, normalize(n.attitude), n.rates, speed, n.energy, False)


@inlined
def vertical_thrust(p: Params, s: State) -> float:
    """World-vertical component of the rotors' thrust, N."""
    t0, t1, t2, t3 = rotor_thrusts(p, s.rotor_speed, s.energy)
    return ((t0 + t1) + (t2 + t3)) * body_z(s.attitude).z


@inlined
def step(p: Params, s: State, command: Rotors, dt: float) -> State:
    """The state dt seconds after s with the rotor speed command (rad/s) held.

    Classical RK4, attitude renormalised, then contact: a grounded vehicle stays put (only rotors and battery go on)
    while its world-vertical thrust does not exceed its weight; a falling one stops at ground_z. From a state that
    satisfies the invariants of `blocks.monitor` the result satisfies them too.
    """
    n = _flown(p, s, command, dt)
    zero = p.mass * 0.0
    still = Vec3(zero, zero, zero)
    if s.on_ground and vertical_thrust(p, s) <= p.mass * p.gravity:
        return State(s.position, still, s.attitude, still, n.rotor_speed, n.energy, True)
    z = n.position.z
    # At ground_z exactly, a vehicle that is just lifting off must not be caught again.
    if z < p.ground_z or (z == p.ground_z and n.velocity.z <= zero):
        rest = Vec3(n.position.x, n.position.y, p.ground_z)
        return State(rest, still, n.attitude, still, n.rotor_speed, n.energy, True)
    return n


@inlined
def hover_rotor_speed(p: Params) -> float:
    """Speed at which four rotors on a full battery carry the weight: sqrt(m g / (4 k_f)), rad/s."""
    return math.sqrt(p.mass * p.gravity / (4.0 * p.thrust_coefficient))
