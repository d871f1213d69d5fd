"""The baseline file: which implementation fills each slot of the autonomy stack, and their parameters."""

import math
from typing import Annotated

from pydantic import Field, PlainValidator

from graph.config import Config
from scenarios.fields import Name, RateHz


def _parameter(value: object) -> float | bool | str:
    if isinstance(value, bool | str):
        return value
    if isinstance(value, int | float) and math.isfinite(value):
        return float(value)
    raise ValueError("a finite number, true or false, or a text")


Parameter = Annotated[float | bool | str, PlainValidator(_parameter)]


class Slots(Config):
    """The implementation of each slot, by name, or a user's own by its import path."""

    estimator: Name = Field(description="turns measurements into a state estimate")
    gate_detector: Name = Field(description="finds gates in camera frames")
    planner: Name = Field(description="turns the state estimate into a reference")
    controller: Name = Field(description="turns estimate and reference into a command")
    safety_filter: Name = Field(description="limits the command")
    daa_tracker: Name = Field(description="detects and avoids other aircraft")
    fc_bridge: Name = Field(description="hands the command to the flight controller")


class Baseline(Config):
    """An autonomy stack."""

    name: Name = Field(description="name of the baseline")
    control_rate_hz: RateHz = Field(description="rate of the stack's tick, Hz")
    slots: Slots = Field(description="the implementation of each slot")
    parameters: dict[str, Parameter] = Field(default={}, description="parameters of the slots, units in their names")
