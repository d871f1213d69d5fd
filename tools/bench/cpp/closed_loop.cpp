// The whole closed loop in C++17, without recording: the yardstick for the compiled loop of the nodes.
//
//   g++ -std=c++17 -O2 -ffp-contract=off closed_loop.cpp -o closed_loop && ./closed_loop PARAMETERS 10
//
// Simulator, IMU, flight controller and scorer at the physics rate, the camera oracle and baseline B0 at theirs: the
// equations of the nodes in their order of operations, so that the flight is the same to the bit. PARAMETERS is the
// file that tools/bench/cpp_parameters.py writes. Flies as often as asked, and prints one JSON object: the verdict, what was
// seen last, and the best and the median of the processor time a flight took.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <vector>

#include "autonomy.hpp"
#include "flight_controller.hpp"
#include "parameters.hpp"
#include "quadrotor.hpp"
#include "scorer.hpp"
#include "sensors.hpp"

namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr const char* verdicts[] = {"complete", "timeout", "frame_hit", "crash", "geofence", "speed_limit", "flying"};

// Ticks of a node whose rate need not divide that of the physics: step k falls on the first tick at or after k / rate.
class Schedule {
public:
    Schedule(std::int64_t rate_hz, std::int64_t period_ns) : per_tick_(rate_hz * period_ns) {}

    bool due(std::int64_t tick) {
        if (next_ * second > tick * per_tick_) {
            return false;
        }
        ++next_;
        return true;
    }

private:
    std::int64_t per_tick_;
    std::int64_t next_ = 0;
};

struct Flight {
    explicit Flight(const Parameters& p)
        : model(p.quadrotor("simulator.plant")),
          period(p.number("simulator.period")),
          period_ns(p.integer("period_ns")),
          truth{p.vec3("simulator.initial.plant.position"), {}, p.quat("simulator.initial.plant.attitude"),
                {}, {}, 0.0, true},
          imu(p),
          oracle(p),
          estimator(p),
          planner(p),
          controller(p),
          flight_controller(p),
          scorer(p),
          frames(p.integer("camera_oracle.rate_hz"), period_ns),
          control(p.integer("stack.rate_hz"), period_ns) {}

    void fly() {
        Rotors command{};
        Estimate estimate{};
        for (; verdict == Verdict::flying; ++ticks) {
            const std::int64_t t = ticks * period_ns;
            if (ticks > 0) {
                truth = model.step(truth, command, period);
            }
            delivered = sample;  // a tick after it was taken
            if (ticks > 0) {
                estimator.on_imu(delivered.stamp);
            }
            sample = imu.step(t, truth);
            if (frames.due(ticks)) {
                oracle.step(truth);
                gates_seen += static_cast<std::int64_t>(oracle.visible());
            }
            estimator.on_truth(t, truth);
            if (control.due(ticks)) {
                estimate = estimator.at(t);
                flight_controller.on_command(t, controller.control(estimate, planner.plan(t, estimate)));
            }
            command = flight_controller.step(t, delivered.body_rates);
            verdict = scorer.step(t, truth, estimate);
        }
    }

    quadrotor::Model model;
    double period;
    std::int64_t period_ns;
    quadrotor::State truth;
    Imu imu;
    CameraOracle oracle;
    Estimator estimator;
    Planner planner;
    Controller controller;
    FlightController flight_controller;
    Scorer scorer;
    Schedule frames, control;
    ImuSample sample{}, delivered{};
    std::int64_t ticks = 0, gates_seen = 0;
    Verdict verdict = Verdict::flying;
};

void print(const char* name, const std::vector<double>& values) {
    std::printf("\"%s\": [", name);
    for (std::size_t i = 0; i < values.size(); ++i) {
        std::printf("%s%.17g", i > 0 ? ", " : "", values[i]);
    }
    std::printf("], ");
}

void print_gates(const CameraOracle& oracle) {
    std::printf("\"last_gates\": [");
    for (std::size_t i = 0; i < oracle.visible(); ++i) {
        const GateObservation& gate = oracle.seen()[i];
        std::printf("%s[%d", i > 0 ? ", " : "", gate.gate);
        for (const Pixel& corner : gate.corners) {
            std::printf(", %.17g, %.17g", corner.u, corner.v);
        }
        std::printf("]");
    }
    std::printf("], ");
}

void print(const Flight& f, std::vector<double> seconds) {
    std::sort(seconds.begin(), seconds.end());
    const double best = seconds.front(), median = seconds[seconds.size() / 2];
    const double milliseconds = static_cast<double>(f.ticks) * static_cast<double>(f.period_ns) * 1e-6;
    std::printf("{\"reason\": \"%s\", ", verdicts[static_cast<int>(f.verdict)]);
    print("lap_times_s", f.scorer.lap_times());
    std::printf("\"gates_passed\": %lld, \"max_speed_m_s\": %.17g, ", static_cast<long long>(f.scorer.passed()),
                f.scorer.max_speed());
    if (f.scorer.passed() > 0) {
        std::printf("\"max_gate_error_m\": %.17g, \"max_estimated_gate_error_m\": %.17g, ", f.scorer.max_error(),
                    f.scorer.max_estimated_error());
    }
    std::printf("\"simulated_ms\": %.17g, ", milliseconds);
    const quadrotor::State& s = f.truth;
    print("last_truth", {s.position.x, s.position.y, s.position.z, s.velocity.x, s.velocity.y, s.velocity.z,
                         s.attitude.w, s.attitude.x, s.attitude.y, s.attitude.z, s.rates.x, s.rates.y, s.rates.z,
                         s.rotor_speed.r0, s.rotor_speed.r1, s.rotor_speed.r2, s.rotor_speed.r3, s.energy});
    const Vec3 &gyro = f.delivered.body_rates, &accel = f.delivered.specific_force;
    print("last_imu", {gyro.x, gyro.y, gyro.z, accel.x, accel.y, accel.z});
    std::printf("\"gates_seen\": %lld, ", static_cast<long long>(f.gates_seen));
    print_gates(f.oracle);
    std::printf("\"seconds_per_flight\": {\"best\": %.9g, \"median\": %.9g}, ", best, median);
    std::printf("\"ns_per_simulated_ms\": {\"best\": %.9g, \"median\": %.9g}}\n", best * 1e9 / milliseconds,
                median * 1e9 / milliseconds);
}

}  // namespace

int main(int argc, char** argv) {
    char* end = nullptr;
    const long repeats = argc == 3 ? std::strtol(argv[2], &end, 10) : 0;
    if (repeats < 1 || *end != '\0') {
        std::fprintf(stderr, "usage: closed_loop PARAMETERS REPEATS    (REPEATS 1 or more)\n");
        return 2;
    }
    try {
        const Parameters parameters(argv[1]);
        const Flight start(parameters);
        Flight flight = start;
        std::vector<double> seconds;
        for (long i = 0; i < repeats; ++i) {
            flight = start;
            const std::clock_t begun = std::clock();
            flight.fly();
            seconds.push_back(static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC);
        }
        print(flight, seconds);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "closed_loop: %s\n", error.what());
        return 2;
    }
    return 0;
}
