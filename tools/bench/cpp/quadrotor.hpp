// The quadrotor model of blocks/quadrotor.py: same equations, same order of operations, and so the same bits as the
// kernel when products and sums are not contracted (-ffp-contract=off).

#pragma once

#include <cmath>

#include "math.hpp"

namespace quadrotor {

struct Params {
    double mass;
    Vec3 inertia;
    Rotors rotor_x, rotor_y, spin;
    double thrust_coefficient, torque_coefficient, max_rotor_speed, rotor_time_constant;
    Vec3 drag_linear, drag_quadratic;
    double power_coefficient, battery_capacity, battery_sag, gravity, ground_z;
};

struct State {
    Vec3 position, velocity;
    Quat attitude;
    Vec3 rates;
    Rotors rotor_speed;
    double energy;
    bool on_ground;
};

struct Derivative {
    Vec3 position, velocity;
    Quat attitude;
    Vec3 rates;
    Rotors rotor_speed;
    double energy;
};

inline Vec3 moved(const Vec3& a, const Vec3& d, double h) { return {a.x + h * d.x, a.y + h * d.y, a.z + h * d.z}; }

inline Quat moved(const Quat& a, const Quat& d, double h) {
    return {a.w + h * d.w, a.x + h * d.x, a.y + h * d.y, a.z + h * d.z};
}

inline Rotors moved(const Rotors& a, const Rotors& d, double h) {
    return {a.r0 + h * d.r0, a.r1 + h * d.r1, a.r2 + h * d.r2, a.r3 + h * d.r3};
}

inline State moved(const State& s, const Derivative& d, double h) {
    return {moved(s.position, d.position, h), moved(s.velocity, d.velocity, h),
            moved(s.attitude, d.attitude, h), moved(s.rates, d.rates, h),
            moved(s.rotor_speed, d.rotor_speed, h), s.energy + h * d.energy, s.on_ground};
}

inline double simpson(double a, double b, double c, double d) { return (a + d) + 2.0 * (b + c); }

inline Vec3 simpson(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
    return {simpson(a.x, b.x, c.x, d.x), simpson(a.y, b.y, c.y, d.y), simpson(a.z, b.z, c.z, d.z)};
}

inline Quat simpson(const Quat& a, const Quat& b, const Quat& c, const Quat& d) {
    return {simpson(a.w, b.w, c.w, d.w), simpson(a.x, b.x, c.x, d.x), simpson(a.y, b.y, c.y, d.y),
            simpson(a.z, b.z, c.z, d.z)};
}

inline Rotors simpson(const Rotors& a, const Rotors& b, const Rotors& c, const Rotors& d) {
    return {simpson(a.r0, b.r0, c.r0, d.r0), simpson(a.r1, b.r1, c.r1, d.r1), simpson(a.r2, b.r2, c.r2, d.r2),
            simpson(a.r3, b.r3, c.r3, d.r3)};
}

// The model of one vehicle; reciprocals that the equations ask for again and again are taken once.
class Model {
public:
    explicit Model(const Params& params)
        : p(params),
          per_mass(1.0 / params.mass),
          per_inertia{1.0 / params.inertia.x, 1.0 / params.inertia.y, 1.0 / params.inertia.z},
          per_tau(1.0 / params.rotor_time_constant),
          per_capacity(1.0 / params.battery_capacity) {}

    const Params& params() const { return p; }

    Rotors rotor_thrusts(const Rotors& w, double energy) const {
        const double used = energy * per_capacity;
        const double k = (1.0 - p.battery_sag * (used > 1.0 ? 1.0 : used)) * p.thrust_coefficient;
        return {k * (w.r0 * w.r0), k * (w.r1 * w.r1), k * (w.r2 * w.r2), k * (w.r3 * w.r3)};
    }

    Vec3 body_force(const Vec3& velocity, const Quat& attitude, double thrust) const {
        const Vec3 v = sandwich(conjugate(attitude), velocity);
        return {-(p.drag_linear.x + p.drag_quadratic.x * std::fabs(v.x)) * v.x,
                -(p.drag_linear.y + p.drag_quadratic.y * std::fabs(v.y)) * v.y,
                thrust - (p.drag_linear.z + p.drag_quadratic.z * std::fabs(v.z)) * v.z};
    }

    // In flight; the command u is within the rotors' range. Four calls of it are worth their code: without them a step
    // costs a twentieth more.
    [[gnu::always_inline]] Derivative derivative(const State& s, const Rotors& u) const {
        const Rotors t = rotor_thrusts(s.rotor_speed, s.energy);
        const Vec3 force = sandwich(s.attitude, body_force(s.velocity, s.attitude, sum(t)));
        const Vec3 torque{dot(p.rotor_y, t), -dot(p.rotor_x, t), -p.torque_coefficient * dot(p.spin, t)};
        const Vec3& w = s.rates;
        const Vec3& j = p.inertia;
        const Vec3 gyroscopic = cross(w, {j.x * w.x, j.y * w.y, j.z * w.z});
        const Quat& q = s.attitude;
        const double hx = 0.5 * w.x, hy = 0.5 * w.y, hz = 0.5 * w.z;
        const Rotors& r = s.rotor_speed;
        return {s.velocity,
                {force.x * per_mass, force.y * per_mass, force.z * per_mass - p.gravity},
                {-(q.x * hx + q.y * hy + q.z * hz), q.w * hx + q.y * hz - q.z * hy, q.w * hy + q.z * hx - q.x * hz,
                 q.w * hz + q.x * hy - q.y * hx},
                {(torque.x - gyroscopic.x) * per_inertia.x, (torque.y - gyroscopic.y) * per_inertia.y,
                 (torque.z - gyroscopic.z) * per_inertia.z},
                {(u.r0 - r.r0) * per_tau, (u.r1 - r.r1) * per_tau, (u.r2 - r.r2) * per_tau, (u.r3 - r.r3) * per_tau},
                p.power_coefficient *
                    ((r.r0 * r.r0 * r.r0 + r.r1 * r.r1 * r.r1) + (r.r2 * r.r2 * r.r2 + r.r3 * r.r3 * r.r3))};
    }

    // What an ideal accelerometer at the centre of mass reads, body axes.
    Vec3 specific_force(const State& s) const {
        if (s.on_ground) {
            return rotate_inverse(s.attitude, {0.0, 0.0, p.gravity});
        }
        const Vec3 force = body_force(s.velocity, s.attitude, sum(rotor_thrusts(s.rotor_speed, s.energy)));
        return {force.x * per_mass, force.y * per_mass, force.z * per_mass};
    }

    double vertical_thrust(const State& s) const {
        return sum(rotor_thrusts(s.rotor_speed, s.energy)) * body_z(s.attitude).z;
    }

    State step(const State& s, const Rotors& command, double dt) const {
        const Rotors u = clamp(command, 0.0, p.max_rotor_speed);
        const double half = 0.5 * dt;
        const Derivative a = derivative(s, u);
        const Derivative b = derivative(moved(s, a, half), u);
        const Derivative c = derivative(moved(s, b, half), u);
        const Derivative d = derivative(moved(s, c, dt), u);
        const Derivative mean{simpson(a.position, b.position, c.position, d.position),
                              simpson(a.velocity, b.velocity, c.velocity, d.velocity),
                              simpson(a.attitude, b.attitude, c.attitude, d.attitude),
                              simpson(a.rates, b.rates, c.rates, d.rates),
                              simpson(a.rotor_speed, b.rotor_speed, c.rotor_speed, d.rotor_speed),
                              simpson(a.energy, b.energy, c.energy, d.energy)};
        State n = moved(s, mean, dt * (1.0 / 6.0));
        n.attitude = normalize(n.attitude);
        n.rotor_speed = clamp(n.rotor_speed, 0.0, p.max_rotor_speed);
        n.on_ground = false;
        const Vec3 still{0.0, 0.0, 0.0};
        if (s.on_ground && vertical_thrust(s) <= p.mass * p.gravity) {
            return {s.position, still, s.attitude, still, n.rotor_speed, n.energy, true};
        }
        if (n.position.z < p.ground_z || (n.position.z == p.ground_z && n.velocity.z <= 0.0)) {
            return {{n.position.x, n.position.y, p.ground_z}, still, n.attitude, still, n.rotor_speed, n.energy, true};
        }
        return n;
    }

private:
    Params p;
    double per_mass;
    Vec3 per_inertia;
    double per_tau, per_capacity;
};

}  // namespace quadrotor
