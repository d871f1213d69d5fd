// The autonomy stack: baselines/ground_truth_estimator.py, waypoint_planner.py and cascaded_pid.py with their blocks.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "math.hpp"
#include "parameters.hpp"
#include "quadrotor.hpp"

// integral + step within [-limit, limit]; unchanged if step pushes past saturation (+1 high, -1 low, 0 none).
inline double integrated(double integral, double step, double limit, int saturation) {
    if ((saturation > 0 && step > 0.0) || (saturation < 0 && step < 0.0)) {
        return integral;
    }
    return clamp(integral + step, -limit, limit);
}

inline bool finite(const Vec3& v) { return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z); }

struct Estimate {
    std::int64_t stamp;
    Vec3 position, velocity;
    Quat attitude;
    Vec3 body_rates;
    std::int64_t staleness;
    bool healthy;
};

class Estimator {
public:
    explicit Estimator(const Parameters& p) {
        estimate_.attitude = p.quat("stack.estimator.start.attitude");
        estimate_.position = p.vec3("stack.estimator.start.position");
    }

    void on_imu(std::int64_t stamp) { clock_ = std::max(clock_, stamp); }

    void on_truth(std::int64_t stamp, const quadrotor::State& truth) {
        if (valid(truth)) {
            estimate_ = {stamp, truth.position, truth.velocity, truth.attitude, truth.rates, 0, true};
            clock_ = std::max(clock_, stamp);
        }
    }

    Estimate at(std::int64_t t) const {
        Estimate estimate = estimate_;
        estimate.staleness = clock_ - estimate_.stamp;
        if (!estimate.healthy) {
            estimate.stamp = t;
        }
        return estimate;
    }

private:
    static bool valid(const quadrotor::State& s) {
        const auto speed = [](double w) { return std::isfinite(w) && w >= 0.0; };
        const double excess = norm_squared(s.attitude) - 1.0;
        return finite(s.position) && finite(s.velocity) && finite(s.rates) && excess >= -1e-6 && excess <= 1e-6 &&
               speed(s.rotor_speed.r0) && speed(s.rotor_speed.r1) && speed(s.rotor_speed.r2) &&
               speed(s.rotor_speed.r3) && speed(s.energy);
    }

    Estimate estimate_{};
    std::int64_t clock_ = 0;
};

struct Reference {
    std::int64_t stamp;
    Vec3 position, velocity;
    double yaw, progress;
    std::int64_t segment;
};

class Planner {
public:
    explicit Planner(const Parameters& p)
        : waypoints_(p.integer("stack.planner.waypoints")),
          climb_z_(p.number("stack.planner.climb_z")),
          cruise_speed_(p.number("stack.planner.cruise_speed")),
          corner_speed_(p.number("stack.planner.corner_speed")),
          corner_radius_(p.number("stack.planner.corner_radius")),
          corner_cosine_(p.number("stack.planner.corner_cosine")),
          lookahead_(p.number("stack.planner.lookahead")),
          switch_radius_(p.number("stack.planner.switch_radius")) {
        const std::vector<double> v = p.numbers("stack.planner.lap");
        for (std::size_t i = 0; i < static_cast<std::size_t>(p.integer("stack.planner.rows")); ++i) {
            lap_.push_back({v.at(3 * i), v.at(3 * i + 1), v.at(3 * i + 2)});
        }
    }

    std::optional<Reference> plan(std::int64_t t, const Estimate& estimate) {
        if (!estimate.healthy) {
            return std::nullopt;
        }
        const Vec3& at = estimate.position;
        if (!started_) {
            started_ = true;
            start_ = at;
            yaw_ = yaw_of(estimate.attitude);
        }
        advance(at);
        const Vec3 a = waypoint(segment_), b = waypoint(segment_ + 1);
        const Vec3 along_path = direction(a, b);
        const double length = norm(b - a);
        const double projection = clamp(dot(at - a, along_path), 0.0, length);
        const bool final = segment_ == waypoints_ - 2;
        const bool held = projection + lookahead_ >= length;
        const double carrot = held ? length : projection + lookahead_;

        double speed = cruise_speed_;
        if (!final && near(at, b) && sharp(along_path, direction(b, waypoint(segment_ + 2)))) {
            speed = corner_speed_;
        }
        if (segment_ > 0 && near(at, a) && sharp(direction(waypoint(segment_ - 1), a), along_path)) {
            speed = corner_speed_;
        }
        if (final && held) {
            speed = 0.0;
        }
        return Reference{t,
                         {a.x + carrot * along_path.x, a.y + carrot * along_path.y, a.z + carrot * along_path.z},
                         along_path * speed, yaw_, arc_ + projection, segment_};
    }

private:
    Vec3 waypoint(std::int64_t index) const {
        if (index == 0) {
            return start_;
        }
        if (index == 1) {
            return {start_.x, start_.y, climb_z_};
        }
        return lap_[static_cast<std::size_t>(index - 2) % lap_.size()];
    }

    static Vec3 direction(const Vec3& a, const Vec3& b) {
        const Vec3 d = b - a;
        const double length = norm(d);
        return length > 0.0 ? d * (1.0 / length) : d;
    }

    bool sharp(const Vec3& before, const Vec3& after) const { return dot(before, after) < corner_cosine_; }

    bool near(const Vec3& at, const Vec3& corner) const { return norm(at - corner) < corner_radius_; }

    // On to the segment whose end the vehicle has yet to reach.
    void advance(const Vec3& at) {
        while (segment_ < waypoints_ - 2) {
            const Vec3 b = waypoint(segment_ + 1);
            const Vec3 d = b - waypoint(segment_);
            const Vec3 away = at - b;
            if (!(dot(away, d) >= 0.0 || norm(away) < switch_radius_)) {
                break;
            }
            ++segment_;
            arc_ += norm(d);
            const Vec3 next = waypoint(segment_ + 1) - b;
            if (next.x * next.x + next.y * next.y > 1e-6) {
                yaw_ = trigonometry::atan2(next.y, next.x);
            }
        }
    }

    std::vector<Vec3> lap_;
    std::int64_t waypoints_;
    double climb_z_, cruise_speed_, corner_speed_, corner_radius_, corner_cosine_, lookahead_, switch_radius_;
    Vec3 start_{};
    double yaw_ = 0.0, arc_ = 0.0;
    std::int64_t segment_ = 0;
    bool started_ = false;
};

struct ThrustRates {
    std::int64_t stamp;
    double thrust;  // N
    Vec3 body_rates;
};

class Controller {
public:
    explicit Controller(const Parameters& p)
        : position_gain_(p.number("stack.controller.position.position_gain")),
          velocity_gain_(p.number("stack.controller.position.velocity_gain")),
          integral_gain_(p.number("stack.controller.position.integral_gain")),
          integral_limit_(p.number("stack.controller.position.integral_limit")),
          speed_limit_(p.number("stack.controller.position.speed_limit")),
          climb_limit_(p.number("stack.controller.position.climb_limit")),
          descent_limit_(p.number("stack.controller.position.descent_limit")),
          tilt_tangent_(p.number("stack.controller.position.tilt_tangent")),
          min_thrust_(p.number("stack.controller.position.min_thrust")),
          max_thrust_(p.number("stack.controller.position.max_thrust")),
          mass_(p.number("stack.controller.position.mass")),
          gravity_(p.number("stack.controller.position.gravity")),
          tilt_gain_(p.number("stack.controller.attitude.tilt_gain")),
          yaw_gain_(p.number("stack.controller.attitude.yaw_gain")),
          rate_limit_(p.number("stack.controller.attitude.rate_limit")),
          yaw_rate_limit_(p.number("stack.controller.attitude.yaw_rate_limit")),
          last_{0, p.number("stack.initial.controller.thrust"), p.vec3("stack.initial.controller.body_rates")} {}

    ThrustRates control(const Estimate& estimate, const std::optional<Reference>& reference) {
        const std::int64_t elapsed = estimate.stamp - last_.stamp;
        last_.stamp = estimate.stamp;
        if (started_ && elapsed > 0 && reference) {
            const Wanted wanted = position_step(estimate, *reference, static_cast<double>(elapsed) * 1e-9);
            last_.thrust = wanted.thrust;
            last_.body_rates = attitude_step(estimate.attitude, wanted.direction, reference->yaw);
        }
        started_ = true;
        return last_;
    }

private:
    struct Wanted {
        double thrust;   // N
        Vec3 direction;  // unit, world
    };

    Vec3 velocity_setpoint(const Vec3& position, const Reference& target) const {
        double x = position_gain_ * (target.position.x - position.x) + target.velocity.x;
        double y = position_gain_ * (target.position.y - position.y) + target.velocity.y;
        const double z = position_gain_ * (target.position.z - position.z) + target.velocity.z;
        const double speed = std::sqrt(x * x + y * y);
        if (speed > speed_limit_) {
            const double k = speed_limit_ / speed;
            x *= k;
            y *= k;
        }
        return {x, y, clamp(z, -descent_limit_, climb_limit_)};
    }

    Wanted position_step(const Estimate& estimate, const Reference& target, double dt) {
        const Vec3 error = velocity_setpoint(estimate.position, target) - estimate.velocity;
        Vec3& i = integral_;
        double x = velocity_gain_ * error.x + i.x;
        double y = velocity_gain_ * error.y + i.y;
        double z = velocity_gain_ * error.z + i.z + gravity_;

        const double least = min_thrust_ / mass_, most = max_thrust_ / mass_;
        const int vertical = z > most ? 1 : (z < least ? -1 : 0);
        z = clamp(z, least, most);
        const double across = std::sqrt(x * x + y * y);
        const double room = std::min(std::sqrt(most * most - z * z), tilt_tangent_ * z);
        const bool level = across > room;
        const bool pushing = level && x * error.x + y * error.y > 0.0;
        if (level) {
            const double k = room / across;
            x *= k;
            y *= k;
        }

        const double step = integral_gain_ * dt;
        if (!pushing) {
            i.x = integrated(i.x, step * error.x, integral_limit_, 0);
            i.y = integrated(i.y, step * error.y, integral_limit_, 0);
        }
        i.z = integrated(i.z, step * error.z, integral_limit_, vertical);
        const Vec3 force{x, y, z};
        const double k = 1.0 / norm(force);
        return {clamp(mass_ * dot(force, body_z(estimate.attitude)), min_thrust_, max_thrust_), force * k};
    }

    static double yaw_error(const Quat& q, double yaw) {
        const double forward_x = 1.0 - 2.0 * (q.y * q.y + q.z * q.z);
        const double forward_y = 2.0 * (q.w * q.z + q.x * q.y);
        const double c = trigonometry::cos(yaw), s = trigonometry::sin(yaw);
        return trigonometry::atan2(forward_x * s - forward_y * c, forward_x * c + forward_y * s);
    }

    Vec3 attitude_step(const Quat& attitude, const Vec3& direction, double yaw) const {
        const Vec3 d = rotate_inverse(attitude, direction);
        const double across = std::sqrt(d.x * d.x + d.y * d.y);
        const double rate = std::min(tilt_gain_ * trigonometry::atan2(across, d.z), rate_limit_);
        const double wz = clamp(yaw_gain_ * yaw_error(attitude, yaw), -yaw_rate_limit_, yaw_rate_limit_);
        if (!(across > 0.0)) {
            return {rate, 0.0, wz};
        }
        const double k = rate / across;
        return {-d.y * k, d.x * k, wz};
    }

    double position_gain_, velocity_gain_, integral_gain_, integral_limit_, speed_limit_, climb_limit_, descent_limit_,
        tilt_tangent_, min_thrust_, max_thrust_, mass_, gravity_;
    double tilt_gain_, yaw_gain_, rate_limit_, yaw_rate_limit_;
    Vec3 integral_{};
    ThrustRates last_;
    bool started_ = false;
};
