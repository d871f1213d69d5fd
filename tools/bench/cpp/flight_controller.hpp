// The flight controller: nodes/sim_fc.py with its gyro filter, rate loop and mixer. No motors commands, no faults.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "autonomy.hpp"
#include "math.hpp"
#include "parameters.hpp"

// Second-order section in transposed direct form II.
class Biquad {
public:
    explicit Biquad(const Parameters& p, const std::string& name)
        : b0_(p.number(name + ".b0")),
          b1_(p.number(name + ".b1")),
          b2_(p.number(name + ".b2")),
          a1_(p.number(name + ".a1")),
          a2_(p.number(name + ".a2")) {}

    Vec3 step(const Vec3& u) {
        const Vec3 y{b0_ * u.x + x1_.x, b0_ * u.y + x1_.y, b0_ * u.z + x1_.z};
        x1_ = {b1_ * u.x - a1_ * y.x + x2_.x, b1_ * u.y - a1_ * y.y + x2_.y, b1_ * u.z - a1_ * y.z + x2_.z};
        x2_ = {b2_ * u.x - a2_ * y.x, b2_ * u.y - a2_ * y.y, b2_ * u.z - a2_ * y.z};
        return y;
    }

private:
    double b0_, b1_, b2_, a1_, a2_;
    Vec3 x1_{}, x2_{};
};

// Per axis the direction in which the demand could not be met: +1, -1, or 0 where it was.
struct Saturation {
    int roll, pitch, yaw;
};

class Mixer {
public:
    explicit Mixer(const Parameters& p)
        : collective_(p.rotors("sim_fc.mixer.collective")),
          roll_(p.rotors("sim_fc.mixer.roll")),
          pitch_(p.rotors("sim_fc.mixer.pitch")),
          yaw_(p.rotors("sim_fc.mixer.yaw")),
          low_(p.number("sim_fc.mixer.min_thrust")),
          high_(p.number("sim_fc.mixer.max_thrust")),
          min_speed_(p.number("sim_fc.mixer.min_speed")),
          max_speed_(p.number("sim_fc.mixer.max_speed")),
          thrust_coefficient_(p.number("sim_fc.mixer.thrust_coefficient")) {}

    // Rotor thrusts, N, for a collective thrust and a torque.
    Rotors step(double thrust, const Vec3& torque, Saturation& saturation) const {
        Rotors r{roll_.r0 * torque.x + pitch_.r0 * torque.y, roll_.r1 * torque.x + pitch_.r1 * torque.y,
                 roll_.r2 * torque.x + pitch_.r2 * torque.y, roll_.r3 * torque.x + pitch_.r3 * torque.y};
        const double span = most(r) - least(r);
        const bool tilted = span > high_ - low_;
        if (tilted) {
            const double share = (high_ - low_) / span;
            r = {r.r0 * share, r.r1 * share, r.r2 * share, r.r3 * share};
        }
        Rotors f{collective_.r0 * thrust + r.r0, collective_.r1 * thrust + r.r1, collective_.r2 * thrust + r.r2,
                 collective_.r3 * thrust + r.r3};
        const double below = low_ - least(f);
        const double above = most(f) - high_;
        const double shift = below > 0.0 ? below : (above > 0.0 ? -above : 0.0);
        f = clamp(Rotors{f.r0 + shift, f.r1 + shift, f.r2 + shift, f.r3 + shift}, low_, high_);

        const Rotors y{yaw_.r0 * torque.z, yaw_.r1 * torque.z, yaw_.r2 * torque.z, yaw_.r3 * torque.z};
        double share = fits(f.r0, y.r0, 1.0);
        share = fits(f.r1, y.r1, share);
        share = fits(f.r2, y.r2, share);
        share = fits(f.r3, y.r3, share);
        saturation = {tilted ? sign(torque.x) : 0, tilted ? sign(torque.y) : 0, share < 1.0 ? sign(torque.z) : 0};
        return clamp(Rotors{f.r0 + share * y.r0, f.r1 + share * y.r1, f.r2 + share * y.r2, f.r3 + share * y.r3}, low_,
                     high_);
    }

    // rad/s
    Rotors rotor_speeds(const Rotors& thrusts) const {
        return clamp(Rotors{std::sqrt(thrusts.r0 / thrust_coefficient_), std::sqrt(thrusts.r1 / thrust_coefficient_),
                            std::sqrt(thrusts.r2 / thrust_coefficient_), std::sqrt(thrusts.r3 / thrust_coefficient_)},
                     min_speed_, max_speed_);
    }

private:
    static double least(const Rotors& a) { return std::min(std::min(a.r0, a.r1), std::min(a.r2, a.r3)); }

    static double most(const Rotors& a) { return std::max(std::max(a.r0, a.r1), std::max(a.r2, a.r3)); }

    static int sign(double x) { return (x > 0.0) - (x < 0.0); }

    // The largest part of share of `more` that keeps the thrust within the rotor's range.
    double fits(double thrust, double more, double share) const {
        const double room = more > 0.0 ? high_ - thrust : low_ - thrust;
        return share * std::fabs(more) > std::fabs(room) ? room / more : share;
    }

    Rotors collective_, roll_, pitch_, yaw_;
    double low_, high_, min_speed_, max_speed_, thrust_coefficient_;
};

class RateController {
public:
    explicit RateController(const Parameters& p)
        : inertia_(p.vec3("sim_fc.rate.inertia")),
          gain_(p.vec3("sim_fc.rate.gain")),
          integral_gain_(p.vec3("sim_fc.rate.integral_gain")),
          integral_limit_(p.number("sim_fc.rate.integral_limit")) {}

    void reset() { integral_ = {}; }

    // Torque, N m.
    Vec3 step(const Vec3& setpoint, const Vec3& rates, const Saturation& saturation, double dt) {
        const Vec3 e = setpoint - rates;
        const Vec3 &k = integral_gain_, &j = inertia_;
        Vec3& i = integral_;
        i = {integrated(i.x, k.x * e.x * dt, integral_limit_, saturation.roll),
             integrated(i.y, k.y * e.y * dt, integral_limit_, saturation.pitch),
             integrated(i.z, k.z * e.z * dt, integral_limit_, saturation.yaw)};
        const Vec3 coupling = cross(rates, {j.x * rates.x, j.y * rates.y, j.z * rates.z});
        return {j.x * (gain_.x * e.x + i.x) + coupling.x, j.y * (gain_.y * e.y + i.y) + coupling.y,
                j.z * (gain_.z * e.z + i.z) + coupling.z};
    }

private:
    Vec3 inertia_, gain_, integral_gain_;
    double integral_limit_;
    Vec3 integral_{};
};

class FlightController {
public:
    explicit FlightController(const Parameters& p)
        : filter_(p, "sim_fc.gyro_filter"),
          rate_(p),
          mixer_(p),
          period_(p.number("sim_fc.period")),
          timeout_(p.integer("sim_fc.timeout")) {}

    void on_command(std::int64_t t, const ThrustRates& command) {
        received_ = t;
        valid_ = std::isfinite(command.thrust) && command.thrust >= 0.0 && finite(command.body_rates);
        command_ = command;
    }

    // Rotor speeds, rad/s.
    Rotors step(std::int64_t t, const Vec3& gyro) {
        const Vec3 rates = filter_.step(gyro);
        if (!valid_ || t - received_ > timeout_) {
            rate_.reset();
            saturation_ = {};
            return {0.0, 0.0, 0.0, 0.0};
        }
        const Vec3 torque = rate_.step(command_.body_rates, rates, saturation_, period_);
        return mixer_.rotor_speeds(mixer_.step(command_.thrust, torque, saturation_));
    }

private:
    Biquad filter_;
    RateController rate_;
    Mixer mixer_;
    double period_;
    std::int64_t timeout_;
    ThrustRates command_{};
    std::int64_t received_ = 0;
    bool valid_ = false;  // a valid command is held
    Saturation saturation_{};
};
