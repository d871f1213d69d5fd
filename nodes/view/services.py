"""The services a viewer can call, as requests to the running session."""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from graph.config import Config
from graph.errors import InputError
from graph.rate import FASTEST, SLOWEST
from graph.requests import LARGEST_REQUEST, Step
from nodes.fault_injection import Injection
from scenarios.scenario import Fault, TimedFault

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


def _properties(model: type[Config], without: Container[str] = ()) -> dict[str, dict[str, Any]]:
    """JSON schema of each key of a configuration."""
    schemas = model.model_json_schema()["properties"]
    return {key: _plain(schema) for key, schema in schemas.items() if key not in without}


def _plain(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A key's schema as viewers read it, which know one type for a value and one for the items of an array."""
    plain = {word: value for word, value in schema.items() if word != "title"}
    if "anyOf" in plain:  # a value or null, for which the key is left out
        first = plain.pop("anyOf")[0]
        plain |= first
        plain.pop("default", None)
    if "prefixItems" in plain:
        plain["items"] = plain.pop("prefixItems")[0]
    return plain


FAULTS: tuple[type[TimedFault], ...] = get_args(Fault)
FAULT: dict[str, dict[str, Any]] = {
    "kind": {"type": "string", "enum": [_properties(model)["kind"]["const"] for model in FAULTS]},
    **_properties(Injection, {"fault"}),
    **{k: schema for model in FAULTS for k, schema in _properties(model, {"kind", *TimedFault.model_fields}).items()},
}
RESPONSE = json.dumps(
    {
        "type": "object",
        "properties": {
            "ok": {"type": "boolean"},
            "tick": {"type": "integer"},
            "time_s": {"type": "number"},
            "paused": {"type": "boolean"},
        },  # rate, a number or max, has no type that viewers read
    }
).encode()


def services(injector: str | None) -> list[ServiceOffer]:
    """The services of a session; ``injector`` is its node that takes faults, if it has one."""
    offers = [
        ServiceOffer("/clock/pause", {}, lambda _: {"kind": "pause"}),
        ServiceOffer("/clock/resume", {}, lambda _: {"kind": "resume"}),
        ServiceOffer("/clock/step", _properties(Step, {"kind"}), lambda a: {"kind": "step", **a}),
        ServiceOffer(
            "/clock/rate",
            {
                "factor": {
                    "type": "number",
                    "minimum": SLOWEST,
                    "maximum": FASTEST,
                    "description": "simulated seconds per second; the word max is taken too",
                }
            },
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
