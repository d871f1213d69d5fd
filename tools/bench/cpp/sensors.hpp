// The inertial sensor and the camera oracle, as in nodes/imu.py, nodes/camera_oracle.py and blocks/camera.py.

#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "math.hpp"
#include "parameters.hpp"
#include "quadrotor.hpp"

// SplitMix64, as in blocks/splitmix64.py.
class Random {
public:
    explicit Random(std::uint64_t state) : state_(state) {}

    double uniform() {
        state_ += 0x9E3779B97F4A7C15u;
        std::uint64_t z = (state_ ^ (state_ >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        z ^= z >> 31;
        return static_cast<double>(z >> 11) * 1.1102230246251565e-16;
    }

    // Zero mean, standard deviation sigma.
    Vec3 symmetric3(double sigma) {
        const double x = symmetric(sigma), y = symmetric(sigma), z = symmetric(sigma);
        return {x, y, z};
    }

private:
    double symmetric(double sigma) { return (2.0 * uniform() - 1.0) * (1.7320508075688772 * sigma); }

    std::uint64_t state_;
};

struct ImuSample {
    std::int64_t stamp;
    Vec3 body_rates, specific_force;
    int saturation;  // bits 0 to 2: gyro x, y, z; 3 to 5: accelerometer
};

class Imu {
public:
    explicit Imu(const Parameters& p)
        : model_(p.quadrotor("imu.plant")),
          gyro_sigma_(p.number("imu.gyro_sigma")),
          accel_sigma_(p.number("imu.accel_sigma")),
          gyro_walk_(p.number("imu.gyro_walk")),
          accel_walk_(p.number("imu.accel_walk")),
          gyro_range_(p.number("imu.gyro_range")),
          accel_range_(p.number("imu.accel_range")),
          gyro_bias_(p.vec3("imu.initial.gyro_bias")),
          accel_bias_(p.vec3("imu.initial.accel_bias")),
          noise_(p.word64("imu.initial.noise")),
          walk_(p.word64("imu.initial.walk")) {}

    ImuSample step(std::int64_t t, const quadrotor::State& truth) {
        const Vec3 gyro_noise = noise_.symmetric3(gyro_sigma_);
        const Vec3 accel_noise = noise_.symmetric3(accel_sigma_);
        const Vec3 gyro = (truth.rates + gyro_bias_) + gyro_noise;
        const Vec3 accel = (model_.specific_force(truth) + accel_bias_) + accel_noise;
        gyro_bias_ = gyro_bias_ + walk_.symmetric3(gyro_walk_);
        accel_bias_ = accel_bias_ + walk_.symmetric3(accel_walk_);
        return {t, clipped(gyro, gyro_range_), clipped(accel, accel_range_),
                outside(gyro, gyro_range_) | outside(accel, accel_range_) << 3};
    }

private:
    static Vec3 clipped(const Vec3& v, double limit) {
        return {clamp(v.x, -limit, limit), clamp(v.y, -limit, limit), clamp(v.z, -limit, limit)};
    }

    static int outside(const Vec3& v, double limit) {
        return (std::fabs(v.x) > limit ? 1 : 0) | (std::fabs(v.y) > limit ? 2 : 0) | (std::fabs(v.z) > limit ? 4 : 0);
    }

    quadrotor::Model model_;
    double gyro_sigma_, accel_sigma_, gyro_walk_, accel_walk_, gyro_range_, accel_range_;
    Vec3 gyro_bias_, accel_bias_;
    Random noise_, walk_;
};

struct Pixel {
    double u, v;
};

struct GateObservation {
    int gate;
    double distance;  // m^2, squared
    std::array<Pixel, 4> corners;
};

class CameraOracle {
public:
    explicit CameraOracle(const Parameters& p)
        : width_(p.number("camera_oracle.camera.width")),
          height_(p.number("camera_oracle.camera.height")),
          fx_(p.number("camera_oracle.camera.fx")),
          fy_(p.number("camera_oracle.camera.fy")),
          cx_(p.number("camera_oracle.camera.cx")),
          cy_(p.number("camera_oracle.camera.cy")),
          k1_(p.number("camera_oracle.camera.k1")),
          k2_(p.number("camera_oracle.camera.k2")),
          k3_(p.number("camera_oracle.camera.k3")),
          k4_(p.number("camera_oracle.camera.k4")),
          position_(p.vec3("camera_oracle.camera.position")),
          attitude_(p.quat("camera_oracle.camera.attitude")),
          corrupt_probability_(p.number("camera_oracle.initial.corrupt_probability")),
          random_(p.word64("camera_oracle.initial.random")) {
        const std::vector<double> v = p.numbers("camera_oracle.gates");
        for (std::size_t i = 0; i < static_cast<std::size_t>(p.integer("camera_oracle.gate_count")); ++i) {
            Gate gate{};
            for (std::size_t j = 0; j < gate.size(); ++j) {
                const std::size_t at = 15 * i + 3 * j;
                gate[j] = {v.at(at), v.at(at + 1), v.at(at + 2)};
            }
            gates_.push_back(gate);
        }
    }

    // One frame; the nearest gates whose four inner corners are in the image are then in seen(), nearest first.
    void step(const quadrotor::State& truth) {
        corrupted_ = random_.uniform() < corrupt_probability_;
        visible_ = 0;
        const View view{truth.position + rotate(truth.attitude, position_), truth.attitude * attitude_};
        for (std::size_t gate = 0; gate < gates_.size(); ++gate) {
            const Vec3 centre = to_camera(view, gates_[gate][4]);
            GateObservation candidate{static_cast<int>(gate), dot(centre, centre), {}};
            if (!(centre.z > 0.0 && (visible_ < 4 || candidate.distance < seen_[3].distance))) {
                continue;
            }
            bool inside = true;
            for (std::size_t i = 0; i < 4 && inside; ++i) {
                inside = project(view, gates_[gate][i], candidate.corners[i]);
            }
            if (inside) {
                insert(candidate);
            }
        }
    }

    const std::array<GateObservation, 4>& seen() const { return seen_; }

    std::size_t visible() const { return visible_; }

    bool corrupted() const { return corrupted_; }

private:
    using Gate = std::array<Vec3, 5>;  // four inner corners, then the centre, m, world

    // Pose of the optical frame in the world.
    struct View {
        Vec3 position;
        Quat attitude;
    };

    static Vec3 to_camera(const View& view, const Vec3& point) {
        return rotate_inverse(view.attitude, point - view.position);
    }

    // Whether the point is in the image, and where.
    bool project(const View& view, const Vec3& point, Pixel& pixel) const {
        const Vec3 c = to_camera(view, point);
        const double r = std::sqrt(c.x * c.x + c.y * c.y);
        const double theta = trigonometry::atan2(r, c.z);
        const double t2 = theta * theta;
        const double bent = theta * (1.0 + t2 * (k1_ + t2 * (k2_ + t2 * (k3_ + t2 * k4_))));
        const double k = r > 0.0 ? bent / r : r;
        pixel = {fx_ * (k * c.x) + cx_, fy_ * (k * c.y) + cy_};
        return c.z > 0.0 && pixel.u >= 0.0 && pixel.u < width_ && pixel.v >= 0.0 && pixel.v < height_;
    }

    void insert(const GateObservation& candidate) {
        std::size_t place = visible_ < 4 ? visible_++ : 3;
        for (; place > 0 && candidate.distance < seen_[place - 1].distance; --place) {
            seen_[place] = seen_[place - 1];
        }
        seen_[place] = candidate;
    }

    double width_, height_, fx_, fy_, cx_, cy_, k1_, k2_, k3_, k4_;
    Vec3 position_;
    Quat attitude_;
    double corrupt_probability_;
    Random random_;
    std::vector<Gate> gates_;
    std::array<GateObservation, 4> seen_{};
    std::size_t visible_ = 0;
    bool corrupted_ = false;
};
