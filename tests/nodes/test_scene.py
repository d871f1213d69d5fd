"""The scene is a pure function of the recorded topics: the same bytes however they are cut into windows."""

import zlib
from collections.abc import Mapping
from functools import cache

import numpy as np
import pytest

from graph.build import Session, build
from graph.derived import DerivedStream
from graph.errors import InputError
from graph.inline import InlineRun
from graph.launch import NodeEntry, resolve
from nodes.camera_oracle import lens_of
from nodes.draw.shapes import blank_png, ray
from scenarios.world import World
from tools.session import load

DURATION_S = 4


@cache
def flight() -> tuple[Session, dict[str, np.ndarray]]:
    """A few seconds of the reference flight, which pass the first gate."""
    session, _ = load("sitl", [f"duration={DURATION_S}"])
    parts: dict[str, list[np.ndarray]] = {t.name: [] for t in session.graph.topics}

    def take(end: int, logs: Mapping[str, np.ndarray]) -> None:
        for name, log in logs.items():
            parts[name].append(log)

    InlineRun(session.graph, 1000).run(session.ticks, take)
    return session, {name: np.concatenate(p) for name, p in parts.items()}


def drawn(window: int) -> dict[str, list[tuple[int, bytes]]]:
    session, logs = flight()
    stream = DerivedStream(session.derived)
    out: dict[str, list[tuple[int, bytes]]] = {t.name: [] for t in stream.topics}
    for begin in range(0, session.ticks, window):
        end = min(begin + window, session.ticks)
        part = {n: log[(log["tick"] >= begin) & (log["tick"] < end)] for n, log in logs.items()}
        for name, messages in zip(out, stream.take(end, part), strict=True):
            out[name] += messages
    return out


@pytest.mark.parametrize("window", [1, 7, 10, 333])
def test_the_picture_does_not_depend_on_windows(window: int) -> None:
    assert drawn(window) == drawn(100_000)


def test_thirty_pictures_a_second_at_exact_ticks_and_the_last_at_the_verdict() -> None:
    ticks = [tick for tick, _ in drawn(1000)["transforms"]]
    grid = [-(-k * 1000 // 30) for k in range(DURATION_S * 30 + 1)]
    assert ticks == sorted({*grid, *flight()[1]["score"]["tick"].tolist()})


def test_a_passed_gate_changes_the_course_at_once() -> None:
    passage = int(flight()[1]["passage"]["tick"][0])
    course = drawn(1000)["scene_course"]
    after = next(tick for tick, _ in course if tick >= passage)
    assert after - passage <= 34
    before = next(data for tick, data in reversed(course) if tick < passage)
    assert before != dict(course)[after]
    assert all(f"gate_{number}".encode() in before for number in range(1, 12))


def test_the_course_is_sent_once_a_second_for_viewers_that_come_later() -> None:
    ticks = {tick for tick, _ in drawn(1000)["scene_course"]}
    assert {1000 * second for second in range(DURATION_S)} <= ticks


def test_a_topic_of_another_type_is_refused_by_name() -> None:
    launch = resolve("sitl")
    launch.nodes["scene"] = NodeEntry(node="nodes.scene", inputs={"truth": "imu"})
    with pytest.raises(InputError) as caught:
        build(launch, World.load("b0-nominal"))
    assert str(caught.value) == "input scene.truth (TruthState) listens on topic imu, which publishes ImuSample"


@pytest.mark.parametrize(("width", "height"), [(820, 616), (1, 1), (9, 2), (2000, 3)])
def test_the_blank_image_is_a_png_of_its_size(width: int, height: int) -> None:
    png = blank_png(width, height)
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    assert (int.from_bytes(png[16:20]), int.from_bytes(png[20:24])) == (width, height)
    begin = png.index(b"IDAT") + 4
    assert zlib.decompress(png[begin : begin + int.from_bytes(png[begin - 8 : begin - 4])]) == bytes(
        height * (1 + (width + 7) // 8)
    )


def test_a_ray_lands_on_its_pixel_through_a_distorted_lens() -> None:
    lens = lens_of(World.load("b0-nominal").vehicle)._replace(k1=0.05, k2=-0.01, k3=0.002, k4=-0.0003)
    for u, v in ((0.0, 0.0), (820.0, 300.0), (410.0, 308.0), (100.0, 600.0)):
        x, y, z = ray(lens, u, v)
        r = np.hypot(x, y)
        theta = np.arctan2(r, z)
        bent = theta * (1 + lens.k1 * theta**2 + lens.k2 * theta**4 + lens.k3 * theta**6 + lens.k4 * theta**8)
        k = bent / r if r else 0.0
        assert np.allclose((lens.fx * k * x + lens.cx, lens.fy * k * y + lens.cy), (u, v), atol=1e-9)
