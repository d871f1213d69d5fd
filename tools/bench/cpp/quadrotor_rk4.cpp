// One RK4 step of the quadrotor model in C++17: the yardstick for the compiled kernel of blocks/quadrotor.py.
//
//   g++ -std=c++17 -O2 -ffp-contract=off quadrotor_rk4.cpp -o quadrotor_rk4 && ./quadrotor_rk4 1000000
//
// Flies N steps of 1 ms from a fixed state with a rotor command held, and prints nanoseconds of CPU per step, then the 18
// numbers of the final state, each double as its 16 hexadecimal digits, and the contact flag. Same equations, same
// order of operations and so the same bits as the kernel: no fused multiply-adds, no fast-math.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <initializer_list>

#include "quadrotor.hpp"

namespace {

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
    const quadrotor::Model model({1.0,
                                  {0.0027, 0.0051, 0.0075},
                                  {0.078, -0.078, 0.078, -0.078},
                                  {-0.078, 0.078, 0.078, -0.078},
                                  {1.0, 1.0, -1.0, -1.0},
                                  8.9e-7, 0.010, 3711.0, 0.02,
                                  {0.27, 0.27, 0.50},
                                  {0.004, 0.015, 0.0},
                                  1.2e-8, 104000.0, 0.2, 9.80665, -1e9});
    quadrotor::State s{{0.0, 0.0, 10.0}, {3.0, -1.0, 0.5}, {1.0, 0.0, 0.0, 0.0}, {0.4, -0.3, 0.7},
                       {1500.0, 1700.0, 1600.0, 1650.0}, 0.0, false};
    const Rotors command{1600.0, 1660.0, 1640.0, 1700.0};

    const std::clock_t start = std::clock();
    for (long i = 0; i < steps; ++i) {
        s = model.step(s, command, 1e-3);
    }
    const double taken = static_cast<double>(std::clock() - start) * (1e9 / CLOCKS_PER_SEC);

    std::printf("%.2f\n", steps > 0 ? taken / static_cast<double>(steps) : 0.0);
    for (const double value :
         {s.position.x, s.position.y, s.position.z, s.velocity.x, s.velocity.y, s.velocity.z, s.attitude.w,
          s.attitude.x, s.attitude.y, s.attitude.z, s.rates.x, s.rates.y, s.rates.z, s.rotor_speed.r0,
          s.rotor_speed.r1, s.rotor_speed.r2, s.rotor_speed.r3, s.energy}) {
        print(value);
    }
    std::printf("%d\n", s.on_ground ? 1 : 0);
    return 0;
}
