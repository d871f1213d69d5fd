// One RK4 step of the quadrotor model in C++17: the yardstick for the compiled kernel of blocks/quadrotor.py.
//
//   g++ -std=c++17 -O2 -ffp-contract=off quadrotor_rk4.cpp -o quadrotor_rk4 && ./quadrotor_rk4 1000000
//
// Flies N steps of 1 ms from a fixed state with a rotor command held, and prints nanoseconds per step, then the 18
// numbers of the final state, each double as its 16 hexadecimal digits, and the contact flag. Same equations, same
// order of operations and so the same bits as the kernel: no fused multiply-adds, no fast-math.

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace {

struct Vec3 {
    double x, y, z;
};

struct Quat {
    double w, x, y, z;
};

struct Rotors {
    double r0, r1, r2, r3;
};

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

inline Vec3 cross(const Vec3& a, const Vec3& b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

inline Vec3 sandwich(const Quat& q, const Vec3& v) {
    const double a = q.w * q.w - (q.x * q.x + q.y * q.y + q.z * q.z);
    const double b = 2.0 * (q.x * v.x + q.y * v.y + q.z * v.z);
    const double c = 2.0 * q.w;
    return {a * v.x + b * q.x + c * (q.y * v.z - q.z * v.y), a * v.y + b * q.y + c * (q.z * v.x - q.x * v.z),
            a * v.z + b * q.z + c * (q.x * v.y - q.y * v.x)};
}

inline Quat conjugate(const Quat& q) { return {q.w, -q.x, -q.y, -q.z}; }

inline Quat normalize(const Quat& q) {
    const double k = 1.0 / std::sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    return {q.w * k, q.x * k, q.y * k, q.z * k};
}

inline double clamp(double x, double low, double high) { return x < low ? low : (x > high ? high : x); }

inline Rotors clamp(const Rotors& u, double low, double high) {
    return {clamp(u.r0, low, high), clamp(u.r1, low, high), clamp(u.r2, low, high), clamp(u.r3, low, high)};
}

inline double sum(const Rotors& r) { return (r.r0 + r.r1) + (r.r2 + r.r3); }

inline double dot(const Rotors& a, const Rotors& b) {
    return (a.r0 * b.r0 + a.r1 * b.r1) + (a.r2 * b.r2 + a.r3 * b.r3);
}

inline Rotors rotor_thrusts(const Params& p, const Rotors& w, double energy) {
    const double used = energy * (1.0 / p.battery_capacity);
    const double k = (1.0 - p.battery_sag * (used > 1.0 ? 1.0 : used)) * p.thrust_coefficient;
    return {k * (w.r0 * w.r0), k * (w.r1 * w.r1), k * (w.r2 * w.r2), k * (w.r3 * w.r3)};
}

inline Vec3 body_force(const Params& p, const Vec3& velocity, const Quat& attitude, double thrust) {
    const Vec3 v = sandwich(conjugate(attitude), velocity);
    return {-(p.drag_linear.x + p.drag_quadratic.x * std::fabs(v.x)) * v.x,
            -(p.drag_linear.y + p.drag_quadratic.y * std::fabs(v.y)) * v.y,
            thrust - (p.drag_linear.z + p.drag_quadratic.z * std::fabs(v.z)) * v.z};
}

inline Derivative derivative(const Params& p, const State& s, const Rotors& command) {
    const Rotors t = rotor_thrusts(p, s.rotor_speed, s.energy);
    const Vec3 force = sandwich(s.attitude, body_force(p, s.velocity, s.attitude, sum(t)));
    const double per_mass = 1.0 / p.mass;
    const Vec3 torque{dot(p.rotor_y, t), -dot(p.rotor_x, t), -p.torque_coefficient * dot(p.spin, t)};
    const Vec3& w = s.rates;
    const Vec3& j = p.inertia;
    const Vec3 gyroscopic = cross(w, {j.x * w.x, j.y * w.y, j.z * w.z});
    const Quat& q = s.attitude;
    const double hx = 0.5 * w.x, hy = 0.5 * w.y, hz = 0.5 * w.z;
    const double per_tau = 1.0 / p.rotor_time_constant;
    const Rotors u = clamp(command, 0.0, p.max_rotor_speed);
    const Rotors& r = s.rotor_speed;
    return {s.velocity,
            {force.x * per_mass, force.y * per_mass, force.z * per_mass - p.gravity},
            {-(q.x * hx + q.y * hy + q.z * hz), q.w * hx + q.y * hz - q.z * hy, q.w * hy + q.z * hx - q.x * hz,
             q.w * hz + q.x * hy - q.y * hx},
            {(torque.x - gyroscopic.x) * (1.0 / j.x), (torque.y - gyroscopic.y) * (1.0 / j.y),
             (torque.z - gyroscopic.z) * (1.0 / j.z)},
            {(u.r0 - r.r0) * per_tau, (u.r1 - r.r1) * per_tau, (u.r2 - r.r2) * per_tau, (u.r3 - r.r3) * per_tau},
            p.power_coefficient *
                ((r.r0 * r.r0 * r.r0 + r.r1 * r.r1 * r.r1) + (r.r2 * r.r2 * r.r2 + r.r3 * r.r3 * r.r3))};
}

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

inline double vertical_thrust(const Params& p, const State& s) {
    const Quat& q = s.attitude;
    return sum(rotor_thrusts(p, s.rotor_speed, s.energy)) * (1.0 - 2.0 * (q.x * q.x + q.y * q.y));
}

inline State step(const Params& p, const State& s, const Rotors& command, double dt) {
    const double half = 0.5 * dt;
    const Derivative a = derivative(p, s, command);
    const Derivative b = derivative(p, moved(s, a, half), command);
    const Derivative c = derivative(p, moved(s, b, half), command);
    const Derivative d = derivative(p, moved(s, c, dt), command);
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
    if (s.on_ground && vertical_thrust(p, s) <= p.mass * p.gravity) {
        return {s.position, still, s.attitude, still, n.rotor_speed, n.energy, true};
    }
    if (n.position.z < p.ground_z || (n.position.z == p.ground_z && n.velocity.z <= 0.0)) {
        return {{n.position.x, n.position.y, p.ground_z}, still, n.attitude, still, n.rotor_speed, n.energy, true};
    }
    return n;
}

void print(double value) {
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    std::printf("%016llx\n", static_cast<unsigned long long>(bits));
}

}  // namespace

int main(int argc, char** argv) {
    char* end = nullptr;
    const long steps = argc == 2 ? std::strtol(argv[1], &end, 10) : -1;
    if (steps < 0 || end == argv[1] || *end != '\0') {
        std::fprintf(stderr, "usage: quadrotor_rk4 N    (steps of 1 ms, 0 or more)\n");
        return 2;
    }
    const Params p{1.0,
                   {0.0027, 0.0051, 0.0075},
                   {0.078, -0.078, 0.078, -0.078},
                   {-0.078, 0.078, 0.078, -0.078},
                   {1.0, 1.0, -1.0, -1.0},
                   8.9e-7, 0.010, 3711.0, 0.02,
                   {0.27, 0.27, 0.50},
                   {0.004, 0.015, 0.0},
                   1.2e-8, 104000.0, 0.2, 9.80665, -1e9};
    State s{{0.0, 0.0, 10.0}, {3.0, -1.0, 0.5},    {1.0, 0.0, 0.0, 0.0}, {0.4, -0.3, 0.7},
            {1500.0, 1700.0, 1600.0, 1650.0}, 0.0, false};
    const Rotors command{1600.0, 1660.0, 1640.0, 1700.0};

    const auto start = std::chrono::steady_clock::now();
    for (long i = 0; i < steps; ++i) {
        s = step(p, s, command, 1e-3);
    }
    const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;

    std::printf("%.2f\n", steps > 0 ? taken.count() / static_cast<double>(steps) : 0.0);
    for (const double value :
         {s.position.x, s.position.y, s.position.z, s.velocity.x, s.velocity.y, s.velocity.z, s.attitude.w,
          s.attitude.x, s.attitude.y, s.attitude.z, s.rates.x, s.rates.y, s.rates.z, s.rotor_speed.r0,
          s.rotor_speed.r1, s.rotor_speed.r2, s.rotor_speed.r3, s.energy}) {
        print(value);
    }
    std::printf("%d\n", s.on_ground ? 1 : 0);
    return 0;
}
