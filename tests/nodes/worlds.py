"""Worlds for tests: a shipped scenario with keys replaced."""

from collections.abc import Mapping
from typing import Any

from graph.config import parse
from graph.node import Context
from scenarios.course import Course
from scenarios.scenario import Scenario
from scenarios.vehicle import Vehicle
from scenarios.world import World


def world(
    scenario: str = "null-pad",
    *,
    vehicle: Mapping[str, Any] | None = None,
    course: Mapping[str, Any] | None = None,
    baseline: str | None = None,
    course_name: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    slots: Mapping[str, str] | None = None,
    **keys: Any,
) -> World:
    """The world of a shipped scenario with keys of its own, its vehicle and its course replaced, one level deep."""
    own = World.load(scenario, baseline=baseline, course=course_name)
    stack = own.baseline.model_copy(
        update={
            "parameters": {**own.baseline.parameters, **(parameters or {})},
            "slots": own.baseline.slots.model_copy(update=slots or {}),
        }
    )
    return World._of(
        parse(Scenario, _merged(own.scenario.model_dump(), keys), "test scenario"),
        parse(Vehicle, _merged(own.vehicle.model_dump(), vehicle or {}), "test vehicle"),
        parse(Course, _merged(own.course.model_dump(), course or {}), "test course"),
        stack,
    )


def context(name: str, world: World) -> Context:
    """What node `name` is configured from."""
    return Context(name, world.seed, None, world)


def _merged(old: dict[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    both = {
        k: {**old[k], **v} if isinstance(v, Mapping) and isinstance(old.get(k), dict) else v for k, v in new.items()
    }
    return {**old, **both}
