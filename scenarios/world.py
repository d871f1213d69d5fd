"""Everything a run is configured from, resolved and checked: scenario, vehicle, course, baseline, seed and draw."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blocks import quadrotor
from blocks.math import Vec3
from blocks.monitor import params_violation
from graph.config import Config, dump_yaml, parse, parse_yaml
from graph.errors import InputError
from scenarios import library
from scenarios.baseline import Baseline
from scenarios.course import Course
from scenarios.fault_text import parse_faults
from scenarios.randomization import Draw, draw
from scenarios.scenario import Fault, Scenario
from scenarios.vehicle import Vehicle

GRAVITY_M_S2 = 9.80665  # standard gravity, CGPM 1901
MODELS: dict[str, type[Config]] = {"scenario": Scenario, "vehicle": Vehicle, "course": Course, "baseline": Baseline}


@dataclass(frozen=True)
class World:
    """A run's configuration. Two equal worlds give byte-identical bags."""

    scenario: Scenario  # with the names of what is actually flown, and the run's seed and duration
    vehicle: Vehicle  # nominal
    course: Course
    baseline: Baseline
    seed: int
    draw: Draw

    @classmethod
    def load(
        cls,
        scenario: str,
        *,
        course: str | None = None,
        vehicle: str | None = None,
        baseline: str | None = None,
        seed: int | None = None,
        duration: float | None = None,
        fault: str | None = None,
    ) -> "World":
        """The world of a scenario, each file by shipped name or path; what is given replaces the scenario's own.

        Paths are relative to the working directory, those inside a scenario file to its folder. `duration` is in
        seconds; `fault` adds faults in the words of `scenarios.fault_text`. Raises InputError, which
        names the file and the key, for whatever is not valid.
        """
        own = library.load("scenario", Scenario, scenario)
        beside = None if scenario in library.names("scenario") else Path(scenario).parent

        def file(kind: str, given: str | None, named: str) -> Any:
            return library.load(
                kind, MODELS[kind], named if given is None else given, beside if given is None else None
            )

        replaced: dict[str, Any] = {"seed": seed, "duration_s": duration}
        if fault is not None:
            replaced["faults"] = (*own.model_dump()["faults"], *parse_faults(fault))
        fields = own.model_dump() | {key: value for key, value in replaced.items() if value is not None}
        return cls._of(
            parse(Scenario, fields, f"scenario {own.name}"),
            file("vehicle", vehicle, own.vehicle),
            file("course", course, own.course),
            file("baseline", baseline, own.baseline),
        )

    @classmethod
    def from_resolved(cls, resolved: Mapping[str, str]) -> "World":
        """The world whose `resolved()` this is."""
        missing = [kind for kind in MODELS if kind not in resolved]
        if missing:
            raise InputError(f"no {' and no '.join(missing)} in the resolved configuration")
        texts = {kind: f"resolved {kind}" for kind in MODELS}
        parts: dict[str, Any] = {k: parse(MODELS[k], parse_yaml(resolved[k], s), s) for k, s in texts.items()}
        return cls._of(**parts)

    @classmethod
    def _of(cls, scenario: Scenario, vehicle: Vehicle, course: Course, baseline: Baseline) -> "World":
        flown = {"vehicle": vehicle.name, "course": course.name, "baseline": baseline.name}
        scenario = scenario.model_copy(update=flown)
        drawn = draw(scenario.seed, scenario.randomization, scenario.faults)
        world = cls(scenario, vehicle, course, baseline, scenario.seed, drawn)
        world._check()
        return world

    def with_seed(self, seed: int) -> "World":
        """The same world under another seed."""
        fields = self.scenario.model_dump() | {"seed": seed}
        scenario = parse(Scenario, fields, f"scenario {self.scenario.name}")
        return World._of(scenario, self.vehicle, self.course, self.baseline)

    def with_parts(self, parts: Mapping[str, Any]) -> "World":
        """The same world with other contents of some of its files, by kind; plain values as from YAML.

        Raises InputError for whatever is not valid.
        """
        own = {kind: getattr(self, kind) for kind in MODELS}
        return World._of(**own | {k: parse(MODELS[k], v, f"{k} {own[k].name}") for k, v in parts.items()})

    def resolved(self) -> dict[str, str]:
        """YAML texts of scenario, vehicle, course and baseline, from which `from_resolved` builds an equal world."""
        parts = {kind: getattr(self, kind) for kind in MODELS}
        return {kind: dump_yaml(part.model_dump(exclude_none=True)) for kind, part in parts.items()}

    def plant_params(self) -> quadrotor.Params:
        """The true vehicle, as drawn."""
        return self._params(self.draw)

    def nominal_params(self) -> quadrotor.Params:
        """The vehicle as its file says: what a controller may know."""
        return self._params(Draw(1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, ()))

    def start(self) -> tuple[Vec3, float]:
        """Position (m) and heading (rad) in the world at the start, as drawn."""
        x, y, z = self.course.start.position_m
        yaw = math.radians(self.course.start.yaw_deg) + self.draw.start_offset_yaw_rad
        return Vec3(x + self.draw.start_offset_x_m, y + self.draw.start_offset_y_m, z), yaw

    def faults(self) -> tuple[Fault, ...]:
        """The scenario's faults at the times drawn."""
        return tuple(_shifted(f, s) for f, s in zip(self.scenario.faults, self.draw.fault_shift_s, strict=True))

    def _params(self, drawn: Draw) -> quadrotor.Params:
        v = self.vehicle
        places = v.rotor.positions_m
        return quadrotor.Params(
            mass=v.mass_kg * drawn.mass_factor,
            inertia=_scaled(v.inertia_kg_m2, drawn.inertia_factor),
            rotor_x=(places[0][0], places[1][0], places[2][0], places[3][0]),
            rotor_y=(places[0][1], places[1][1], places[2][1], places[3][1]),
            spin=(float(v.rotor.spins[0]), float(v.rotor.spins[1]), float(v.rotor.spins[2]), float(v.rotor.spins[3])),
            thrust_coefficient=v.rotor.thrust_coefficient,
            torque_coefficient=v.rotor.torque_coefficient_m,
            max_rotor_speed=v.rotor.max_speed_rad_s,
            rotor_time_constant=v.rotor.time_constant_s * drawn.motor_time_constant_factor,
            drag_linear=_scaled(v.drag.linear_n_s_m, drawn.drag_factor),
            drag_quadratic=_scaled(v.drag.quadratic_n_s2_m2, drawn.drag_factor),
            power_coefficient=v.battery.power_coefficient_w_s3,
            battery_capacity=v.battery.capacity_j,
            battery_sag=v.battery.sag_fraction,
            gravity=GRAVITY_M_S2,
            ground_z=self.course.ground_z_m,
        )

    def _check(self) -> None:
        """What no file can be checked for alone."""
        physics = self.scenario.sim.physics_rate_hz
        rates = {
            f"vehicle {self.vehicle.name}: imu.rate_hz": self.vehicle.imu.rate_hz,
            f"vehicle {self.vehicle.name}: camera.rate_hz": self.vehicle.camera.rate_hz,
            f"vehicle {self.vehicle.name}: fc.rate_hz": self.vehicle.fc.rate_hz,
            f"baseline {self.baseline.name}: control_rate_hz": self.baseline.control_rate_hz,
        }
        limit = f"sim.physics_rate_hz of scenario {self.scenario.name}, {physics}"
        problems = [f"{key}: is {rate}; must be at most {limit}" for key, rate in rates.items() if rate > physics]
        violation = params_violation(self.nominal_params())
        if violation:
            problems.append(f"vehicle {self.vehicle.name}: {violation}")
        if problems:
            raise InputError("\n".join(problems))


def _scaled(vector: tuple[float, float, float], factor: float) -> Vec3:
    return Vec3(vector[0] * factor, vector[1] * factor, vector[2] * factor)


def _shifted(fault: Fault, shift_s: float) -> Fault:
    end_s = None if fault.end_s is None else fault.end_s + shift_s
    return fault.model_copy(update={"start_s": fault.start_s + shift_s, "end_s": end_s})
