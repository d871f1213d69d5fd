"""The viewer's layout shows what a session publishes: paths are fields, services exist, axes have units."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from graph.build import Session
from msgs.layout import fields_of
from nodes.fault_injection import rows_of_injection
from nodes.view.services import services
from tools.session import load

LAYOUT = json.loads((Path(__file__).parents[2] / "launch" / "holeshot.json").read_text())
PANELS: dict[str, Any] = LAYOUT["configById"]
UNIT = re.compile(r", (m|s|m/s|rad/s|m/s²)( \(world\))?$")


@pytest.fixture(scope="module")
def session() -> Session:
    return load("sitl")[0]


def of_kind(kind: str) -> list[Any]:
    return [config for name, config in PANELS.items() if name.startswith(f"{kind}!")]


def names_in(tree: Any) -> list[str]:
    if isinstance(tree, str):
        return [tree]
    return [*names_in(tree["first"]), *names_in(tree["second"])]


def test_every_panel_has_its_place() -> None:
    placed = names_in(LAYOUT["layout"])
    for tabs in of_kind("Tab"):
        placed += [name for tab in tabs["tabs"] for name in names_in(tab["layout"])]
    assert sorted(placed) == sorted(PANELS)


def test_every_path_is_a_field_of_a_topic(session: Session) -> None:
    paths = [p["value"] for c in (*of_kind("Plot"), *of_kind("StateTransitions")) for p in c["paths"]]
    paths += [c["topicPath"] for c in (*of_kind("RawMessages"), *of_kind("Table"))]
    assert len(paths) > 40
    for path in paths:
        if re.fullmatch(r"-?\d+(\.\d+)?", path):
            continue
        topic, *fields = path.split(".")
        kind: Any = session.graph.topic(topic).message
        for field in fields:
            name, _, index = field.partition("[")
            layout = fields_of(kind)[name]
            if index:
                assert int(index.rstrip("]")) < layout.count
            kind = layout.struct


def test_every_derived_topic_is_shown(session: Session) -> None:
    shown = {topic for panel in of_kind("3D") for topic in panel["topics"]}
    for panel in of_kind("Image"):
        mode = panel["imageMode"]
        shown |= {mode["imageTopic"], *mode["annotations"]}
    assert {t.name for d in session.derived for t in d.topics} - {"transforms"} == shown


def test_the_image_needs_no_calibration() -> None:
    """Lichtblick shows no image with a calibration whose distortion model, kannala_brandt, it does not know."""
    assert not any("calibrationTopic" in panel["imageMode"] for panel in of_kind("Image"))


def test_every_axis_has_a_unit_and_time_is_simulated() -> None:
    for plot in of_kind("Plot"):
        for name in ("title", "foxglovePanelTitle", "yAxisLabel"):  # viewers differ in which they show
            assert UNIT.search(plot[name]), plot["title"]
        assert plot["xAxisLabel"] == "simulated time, s"
        assert plot["xAxisVal"] == "timestamp"
        assert all(path["label"] for path in plot["paths"]), plot["title"]
        assert all(path["timestampMethod"] == "headerStamp" for path in plot["paths"])


def test_every_button_calls_a_service_with_valid_arguments() -> None:
    offers = {offer.name: offer for offer in services("fault_injector")}
    assert {c["serviceName"] for c in of_kind("CallService")} >= {"/clock/pause", "/clock/resume", "/clock/step"}
    for button in of_kind("CallService"):
        request = offers[button["serviceName"]].asked(button["requestPayload"].encode())
        if request["kind"] == "order":
            assert rows_of_injection(request["order"])
