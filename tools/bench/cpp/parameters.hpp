// The parameter file of tools/bench/cpp_parameters.py: one `name value...` per line.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "math.hpp"
#include "quadrotor.hpp"

class Parameters {
    template <typename Parse>
    static auto parsed(const std::string& name, const std::string& word, Parse parse) {
        char* end = nullptr;
        const auto value = parse(word.c_str(), &end);
        if (*end != '\0') {
            throw std::runtime_error("parameter " + name + ": '" + word + "' is not a number");
        }
        return value;
    }

public:
    explicit Parameters(const std::string& path) {
        std::ifstream file(path);
        if (!file) {
            throw std::runtime_error(path + ": cannot be read");
        }
        for (std::string line; std::getline(file, line);) {
            std::istringstream words(line);
            std::string name;
            words >> name;
            for (std::string word; words >> word;) {
                values_[name].push_back(word);
            }
        }
    }

    std::vector<double> numbers(const std::string& name) const {
        std::vector<double> found;
        for (const std::string& word : words(name)) {
            found.push_back(parsed(name, word, std::strtod));
        }
        return found;
    }

    double number(const std::string& name) const { return numbers(name, 1)[0]; }

    std::int64_t integer(const std::string& name) const { return static_cast<std::int64_t>(word64(name)); }

    // All 64 bits of a random state, which a double would round.
    std::uint64_t word64(const std::string& name) const {
        const auto parse = [](const char* text, char** end) { return std::strtoull(text, end, 10); };
        return parsed(name, words(name).at(0), parse);
    }

    Vec3 vec3(const std::string& name) const {
        const std::vector<double> v = numbers(name, 3);
        return {v[0], v[1], v[2]};
    }

    Quat quat(const std::string& name) const {
        const std::vector<double> v = numbers(name, 4);
        return {v[0], v[1], v[2], v[3]};
    }

    Rotors rotors(const std::string& name) const {
        const std::vector<double> v = numbers(name, 4);
        return {v[0], v[1], v[2], v[3]};
    }

    quadrotor::Params quadrotor(const std::string& name) const {
        const auto key = [&](const char* field) { return name + "." + field; };
        return {number(key("mass")), vec3(key("inertia")), rotors(key("rotor_x")), rotors(key("rotor_y")),
                rotors(key("spin")), number(key("thrust_coefficient")), number(key("torque_coefficient")),
                number(key("max_rotor_speed")), number(key("rotor_time_constant")), vec3(key("drag_linear")),
                vec3(key("drag_quadratic")), number(key("power_coefficient")), number(key("battery_capacity")),
                number(key("battery_sag")), number(key("gravity")), number(key("ground_z"))};
    }

private:
    const std::vector<std::string>& words(const std::string& name) const {
        const auto found = values_.find(name);
        if (found == values_.end()) {
            throw std::runtime_error("parameter " + name + ": is missing");
        }
        return found->second;
    }

    std::vector<double> numbers(const std::string& name, std::size_t count) const {
        std::vector<double> found = numbers(name);
        if (found.size() != count) {
            throw std::runtime_error("parameter " + name + ": has " + std::to_string(found.size()) +
                                     " values; must have " + std::to_string(count));
        }
        return found;
    }

    std::map<std::string, std::vector<std::string>> values_;
};
