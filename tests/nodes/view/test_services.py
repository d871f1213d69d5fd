"""What viewers read about a service's arguments is what is valid: the bounds of requests and of a scenario's faults."""

import json

from graph.requests import Step
from nodes.fault_injection import Injection
from nodes.view.services import services
from scenarios.scenario import Scenario, TimedFault

OFFERS = {offer.name: json.loads(offer.schema)["properties"] for offer in services("fault_injector")}
SCHEMAS = Scenario.model_json_schema()["$defs"]
FAULTS = {
    schema["properties"]["kind"]["const"]: schema["properties"]
    for schema in SCHEMAS.values()
    if "start_jitter_s" in schema["properties"]
}


def test_every_fault_of_a_scenario_can_be_injected_with_its_keys() -> None:
    offered = OFFERS["/fault/inject"]
    assert sorted(offered["kind"]["enum"]) == sorted(FAULTS)
    keys = {key for keys in FAULTS.values() for key in keys} - TimedFault.model_fields.keys()
    assert offered.keys() == keys | {"active", "duration_s"}


def test_bounds_and_descriptions_are_those_of_a_scenario() -> None:
    offered = OFFERS["/fault/inject"]
    for keys in FAULTS.values():
        for key in keys.keys() - TimedFault.model_fields.keys() - {"kind"}:
            known = {word: value for word, value in keys[key].items() if word not in ("title", "prefixItems")}
            assert offered[key] == known | {word: offered[key][word] for word in ("items",) if word in offered[key]}


def test_how_long_a_fault_lasts_is_bounded_as_in_an_order() -> None:
    number = OFFERS["/fault/inject"]["duration_s"]
    assert number["maximum"] == Injection.model_json_schema()["properties"]["duration_s"]["anyOf"][0]["maximum"]
    assert "default" not in number  # its default is to leave the key out


def test_every_argument_has_one_type_and_so_have_the_items_of_an_array() -> None:
    """All that Lichtblick and Foxglove Studio 1.48 read of a schema; they show no service that says more."""
    for properties in OFFERS.values():
        for name, schema in properties.items():
            assert isinstance(schema["type"], str), name
            assert not {"anyOf", "oneOf", "allOf", "prefixItems"} & schema.keys(), name
            assert schema["type"] != "array" or isinstance(schema["items"]["type"], str), name


def test_bounds_of_requests() -> None:
    assert OFFERS["/clock/step"]["ticks"]["maximum"] == Step.model_json_schema()["properties"]["ticks"]["maximum"]
    assert (OFFERS["/clock/rate"]["factor"]["minimum"], OFFERS["/clock/rate"]["factor"]["maximum"]) == (1e-3, 1e6)
