// The scorer, as in nodes/scorer.py: passages, gate errors, lap times, collisions and the verdict.

#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "autonomy.hpp"
#include "math.hpp"
#include "parameters.hpp"
#include "quadrotor.hpp"

enum class Verdict { complete, timeout, frame_hit, crash, geofence, speed_limit, flying };

class Scorer {
public:
    explicit Scorer(const Parameters& p)
        : laps_(p.integer("scorer.laps")),
          end_(p.integer("scorer.end")),
          low_(p.vec3("scorer.low")),
          high_(p.vec3("scorer.high")),
          speed_limit_(p.number("scorer.speed_limit")) {
        const std::vector<double> v = p.numbers("scorer.gates");
        for (std::size_t i = 0; i < static_cast<std::size_t>(p.integer("scorer.gate_count")); ++i) {
            const double* g = &v.at(7 * i);
            gates_.push_back({{g[0], g[1], g[2]}, g[3], g[4], g[5], g[6]});
        }
        const std::vector<double> sequence = p.numbers("scorer.sequence");
        for (std::size_t i = 0; i < static_cast<std::size_t>(p.integer("scorer.per_lap")); ++i) {
            sequence_.push_back(static_cast<std::size_t>(sequence.at(i)));
        }
    }

    Verdict step(std::int64_t t, const quadrotor::State& truth, const Estimate& estimate) {
        const Vec3& here = truth.position;
        if (stamp_ < 0) {
            there_ = here;
        }
        const double speed = norm(truth.velocity);
        if (!airborne_ && !truth.on_ground) {
            airborne_ = true;
            lap_start_ = static_cast<double>(t) * 1e-9;
        }
        if (airborne_ && speed > max_speed_) {
            max_speed_ = speed;
        }
        pass(t, here, estimate);
        const Verdict verdict = judged(t, here, truth.on_ground);
        stamp_ = t;
        there_ = here;
        return verdict == Verdict::complete && max_speed_ > speed_limit_ ? Verdict::speed_limit : verdict;
    }

    const std::vector<double>& lap_times() const { return lap_times_; }

    std::int64_t passed() const { return passed_; }

    double max_speed() const { return max_speed_; }

    double max_error() const { return error_.max; }

    double max_estimated_error() const { return estimated_error_.max; }

private:
    struct Gate {
        Vec3 centre;
        double cosine, sine, half_width, half_height;
    };

    struct Crossing {
        double fraction, across, above;
    };

    struct Tally {
        double sum = 0.0, max = NAN;

        void count(double error) {
            if (error >= 0.0) {
                sum += error;
                max = error <= max ? max : error;
            }
        }
    };

    static double beyond(const Gate& gate, const Vec3& at) {
        return (at.x - gate.centre.x) * gate.cosine + (at.y - gate.centre.y) * gate.sine;
    }

    static Crossing crossing(const Gate& gate, const Vec3& a, const Vec3& b, double before, double after) {
        const double f = before / (before - after);
        const double x = a.x + f * (b.x - a.x) - gate.centre.x;
        const double y = a.y + f * (b.y - a.y) - gate.centre.y;
        const double z = a.z + f * (b.z - a.z) - gate.centre.z;
        return {f, y * gate.cosine - x * gate.sine, z};
    }

    static bool within(const Gate& gate, const Crossing& c, double margin) {
        return std::fabs(c.across) <= gate.half_width + margin && std::fabs(c.above) <= gate.half_height + margin;
    }

    static double distance(const Crossing& c) { return std::sqrt(c.across * c.across + c.above * c.above); }

    void pass(std::int64_t t, const Vec3& here, const Estimate& estimate) {
        const Gate& gate = gates_[sequence_[place_]];
        const double before = beyond(gate, there_), after = beyond(gate, here);
        if (!(before < 0.0 && after >= 0.0)) {
            return;
        }
        const Crossing c = crossing(gate, there_, here, before, after);
        if (!within(gate, c, 0.0)) {
            return;
        }
        const double seconds =
            (static_cast<double>(stamp_) + c.fraction * static_cast<double>(t - stamp_)) * 1e-9;
        error_.count(distance(c));
        estimated_error_.count(estimated(gate, estimate));
        ++passed_;
        if (++place_ == sequence_.size()) {
            lap_times_.push_back(seconds - lap_start_);
            lap_start_ = seconds;
            place_ = 0;
        }
    }

    // Gate error of the estimated path, prolonged straight to the plane; NaN when it does not lead through it.
    static double estimated(const Gate& gate, const Estimate& estimate) {
        const Vec3 ahead = estimate.position + estimate.velocity;
        const double before = beyond(gate, estimate.position), after = beyond(gate, ahead);
        return after > before ? distance(crossing(gate, estimate.position, ahead, before, after)) : NAN;
    }

    bool hit_frame(const Vec3& here) const {
        for (const Gate& gate : gates_) {
            const double before = beyond(gate, there_), after = beyond(gate, here);
            if ((before < 0.0) != (after < 0.0)) {
                const Crossing c = crossing(gate, there_, here, before, after);
                if (within(gate, c, 0.5) && !within(gate, c, 0.0)) {
                    return true;
                }
            }
        }
        return false;
    }

    Verdict judged(std::int64_t t, const Vec3& here, bool on_ground) const {
        const std::int64_t total = laps_ * static_cast<std::int64_t>(sequence_.size());
        const bool hit = hit_frame(here);
        const bool inside = low_.x <= here.x && here.x <= high_.x && low_.y <= here.y && here.y <= high_.y &&
                            low_.z <= here.z && here.z <= high_.z;
        if (total > 0 && passed_ == total) {
            return Verdict::complete;
        }
        if (hit) {
            return Verdict::frame_hit;
        }
        if (total > 0 && airborne_ && on_ground) {
            return Verdict::crash;
        }
        if (!inside) {
            return Verdict::geofence;
        }
        if (t >= end_) {
            return total > 0 ? Verdict::timeout : Verdict::complete;
        }
        return Verdict::flying;
    }

    std::vector<Gate> gates_;
    std::vector<std::size_t> sequence_;
    std::int64_t laps_, end_;
    Vec3 low_, high_;
    double speed_limit_;
    std::int64_t stamp_ = -1;
    Vec3 there_{};
    Tally error_, estimated_error_;
    std::vector<double> lap_times_;
    double lap_start_ = 0.0, max_speed_ = 0.0;
    std::int64_t passed_ = 0;
    std::size_t place_ = 0;
    bool airborne_ = false;
};
