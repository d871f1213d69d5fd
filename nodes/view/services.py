"""The services a viewer can call, as requests to the running session."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from graph.control import LARGEST_REQUEST
from graph.errors import InputError

Arguments = Mapping[str, Any]


@dataclass(frozen=True)
class ServiceOffer:
    """One service: its arguments as a JSON schema, and the request they become."""

    name: str
    properties: Mapping[str, Mapping[str, Any]]
    request: Callable[[Arguments], dict[str, Any]]
    required: tuple[str, ...] = ()

    @property
    def type_name(self) -> str:
        """A name for the service's type."""
        return "holeshot" + self.name.replace("/", ".")

    @property
    def schema(self) -> bytes:
        """JSON schema of the arguments."""
        properties = {name: dict(value) for name, value in self.properties.items()}
        schema = {"type": "object", "properties": properties, "required": list(self.required)}
        return json.dumps({**schema, "additionalProperties": False}).encode()

    def asked(self, payload: bytes) -> dict[str, Any]:
        """The request of a call. Raises InputError when its arguments are not a JSON object of this service's keys."""
        if len(payload) > LARGEST_REQUEST:
            raise InputError(f"{self.name}: {len(payload)} bytes of arguments; must be at most {LARGEST_REQUEST}")
        try:
            arguments = json.loads(payload or b"{}")
        except (ValueError, RecursionError):
            raise InputError(f"{self.name}: the arguments must be a JSON object") from None
        if not isinstance(arguments, dict):
            raise InputError(f"{self.name}: the arguments must be a JSON object")
        unknown = sorted(arguments.keys() - self.properties.keys())
        if unknown:
            valid = ", ".join(self.properties) or "none"
            raise InputError(f"{self.name}: unknown argument {unknown[0]} (valid: {valid})")
        missing = sorted(set(self.required) - arguments.keys())
        if missing:
            raise InputError(f"{self.name}: argument {missing[0]} is missing")
        return self.request(arguments)


VECTOR = {"type": "array", "items": {"type": "number"}, "minItems": 3, "maxItems": 3}
KINDS = ["imu_bias_step", "camera_corrupt", "camera_blackout", "command_delay", "link_loss", "motor_scale"]
FAULT: dict[str, dict[str, Any]] = {
    "kind": {"type": "string", "enum": KINDS},
    "active": {"type": "boolean", "description": "false ends an earlier fault"},
    "duration_s": {"type": "number", "exclusiveMinimum": 0},
    "rotor": {"type": "integer", "minimum": 0, "maximum": 3},
    "thrust_fraction": {"type": "number", "minimum": 0, "maximum": 1},
    "probability": {"type": "number", "minimum": 0, "maximum": 1},
    "delay_s": {"type": "number", "minimum": 0, "maximum": 1},
    "gyro_bias_rad_s": VECTOR,
    "accel_bias_m_s2": VECTOR,
}
RESPONSE = json.dumps(
    {
        "type": "object",
        "properties": {
            "ok": {"type": "boolean"},
            "tick": {"type": "integer"},
            "time_s": {"type": "number"},
            "paused": {"type": "boolean"},
            "rate": {"type": ["number", "string"]},
        },
    }
).encode()


def services(injector: str | None) -> list[ServiceOffer]:
    """The services of a session; ``injector`` is its node that takes faults, if it has one."""
    offers = [
        ServiceOffer("/clock/pause", {}, lambda _: {"kind": "pause"}),
        ServiceOffer("/clock/resume", {}, lambda _: {"kind": "resume"}),
        ServiceOffer("/clock/step", {"ticks": {"type": "integer", "minimum": 1}}, lambda a: {"kind": "step", **a}),
        ServiceOffer(
            "/clock/rate",
            {"factor": {"type": ["number", "string"], "description": "simulated seconds per second, or max"}},
            lambda a: {"kind": "rate", **a},
            ("factor",),
        ),
        ServiceOffer("/clock/stop", {}, lambda _: {"kind": "stop"}),
    ]
    if injector is not None:
        name = injector
        offers.append(
            ServiceOffer("/fault/inject", FAULT, lambda a: {"kind": "order", "node": name, "order": dict(a)}, ("kind",))
        )
    return offers
