"""compare(A, A) is identical; compare(A, A with one bit flipped) names topic, time and field of that bit."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.bag.column import Column, leaves
from graph.bag.divergence import compare, matched
from graph.bag.ulps import distances

RECORD = np.dtype(
    {
        "names": ["header", "position", "speeds", "flag", "count"],
        "formats": [
            [("stamp", [("sec", "<i4"), ("nanosec", "<u4")])],
            [("x", "<f8"), ("y", "<f8")],
            ("<f4", (3,)),
            "?",
            "<u4",
        ],
        "offsets": [0, 8, 24, 36, 40],
        "itemsize": 44,
    }
)
PATHS = ["header.stamp.sec", "header.stamp.nanosec", "position.x", "position.y"]
PATHS += ["speeds[0]", "speeds[1]", "speeds[2]", "flag", "count"]


def channel(count: int = 20, times: list[int] | None = None) -> Column:
    data = np.zeros(count, RECORD)
    data["position"]["x"] = np.arange(count) * 0.1
    data["speeds"] = np.arange(3 * count).reshape(count, 3)
    data["count"] = np.arange(count)
    return Column.of(np.array(times if times is not None else np.arange(count) * 1_000_000), data)


def changed(messages: Column, index: int, path: str, value: Any) -> Column:
    raw = messages.raw.copy()
    leaf = next(leaf for leaf in leaves(messages.dtype) if leaf.path == path)
    raw[index, leaf.offset : leaf.end] = np.array([value], leaf.dtype).view(np.uint8)
    return Column(messages.times, raw, messages.dtype)


def test_the_leaves_of_a_record_are_its_primitives() -> None:
    assert [leaf.path for leaf in leaves(RECORD)] == PATHS


def test_equal_channels_are_identical() -> None:
    report = compare({"a": channel(), "b": channel()}, {"a": channel(), "b": channel()})
    assert report.identical
    assert report.first is None
    assert all(t.identical for t in report.topics)


@given(st.integers(0, 19), st.integers(0, 8 * RECORD.itemsize - 1))
def test_any_flipped_bit_is_found_and_named(index: int, bit: int) -> None:
    good = channel()
    raw = good.raw.copy()
    raw[index, bit // 8] ^= 1 << bit % 8
    report = compare({"other": good, "topic": good}, {"other": good, "topic": Column(good.times, raw, RECORD)})
    owner = next((leaf for leaf in leaves(RECORD) if leaf.offset <= bit // 8 < leaf.end), None)
    assert report.first is not None
    assert (report.first.topic, report.first.time_ns, report.first.index) == ("topic", index * 1_000_000, index)
    assert report.first.field == (owner.path if owner else "(padding behind flag)")
    assert [t.differing for t in report.topics] == [0, 1]
    assert list(report.topics[1].fields) == [report.first.field]


def test_the_first_difference_is_first_in_time_then_in_topic_order() -> None:
    good = {"a": channel(), "b": channel()}
    bad = {"a": changed(good["a"], 7, "count", 99), "b": changed(good["b"], 3, "position.y", 1.0)}
    first = compare(good, bad).first
    assert first is not None
    assert (first.topic, first.index, first.field, first.left, first.right) == ("b", 3, "position.y", 0.0, 1.0)
    bad["a"] = changed(good["a"], 3, "count", 99)
    first = compare(good, bad).first
    assert first is not None
    assert (first.topic, first.left, first.right) == ("a", 3, 99)


def test_summary_counts_and_largest_distance() -> None:
    good = channel()
    bad = changed(changed(good, 2, "position.y", 0.5), 5, "position.y", -2.0)
    found = compare({"a": good}, {"a": bad}).topics[0]
    assert found.differing == 2
    assert (found.fields["position.y"].count, found.fields["position.y"].largest) == (2, 2.0)


def test_missing_and_extra_messages() -> None:
    good = channel(4, [0, 10, 10, 20])
    less = Column(good.times[[0, 1, 3]], good.raw[[0, 1, 3]], RECORD)
    report = compare({"a": good}, {"a": less})
    assert report.first is not None
    assert (report.first.time_ns, report.first.index, report.first.field) == (10, 2, "")
    assert (report.topics[0].missing, report.topics[0].extra, report.topics[0].differing) == (1, 0, 0)
    report = compare({"a": less}, {"a": good})
    assert (report.topics[0].missing, report.topics[0].extra) == (0, 1)
    report = compare({"a": good, "b": good}, {"a": good})
    assert report.topics[1].missing == 4
    assert not report.identical


def test_kth_message_of_a_time_matches_the_kth() -> None:
    here, there = matched(np.array([5, 5, 7]), np.array([3, 5, 5, 5, 7]))
    assert list(zip(here.tolist(), there.tolist(), strict=True)) == [(0, 1), (1, 2), (2, 4)]


def test_ignored_fields_and_topics() -> None:
    good = {"a": channel(), "b": channel()}
    bad = {"a": changed(good["a"], 0, "header.stamp.sec", 1), "b": changed(good["b"], 0, "speeds[1]", 9.0)}
    assert not compare(good, bad, ["header"]).identical
    assert compare(good, bad, ["header", "speeds"]).identical
    assert compare(good, bad, ["header", "b.speeds[1]"]).identical
    assert compare(good, bad, ["a", "b"]).identical
    assert not compare(good, bad, ["head", "b"]).identical


def test_tolerance_is_an_absolute_distance_of_floats_only() -> None:
    good = channel()
    bad = changed(good, 1, "position.y", 1e-6)
    assert compare({"a": good}, {"a": bad}, tolerance=1e-6).identical
    assert not compare({"a": good}, {"a": bad}, tolerance=0.9e-6).identical
    assert not compare({"a": good}, {"a": changed(good, 1, "count", 2)}, tolerance=10.0).identical
    nan = changed(good, 1, "position.y", math.nan)
    assert not compare({"a": good}, {"a": nan}, tolerance=10.0).identical
    assert compare({"a": nan}, {"a": nan}).identical


@pytest.mark.parametrize(
    ("x", "y", "ulps"),
    [
        (1.0, math.nextafter(1.0, 2.0), 1),
        (0.0, -0.0, 0),
        (5e-324, -5e-324, 2),
        (math.nextafter(math.inf, 0.0), math.inf, 1),
        (-1.0, math.nextafter(-1.0, -2.0), 1),
    ],
)
def test_distance_in_units_in_the_last_place(x: float, y: float, ulps: int) -> None:
    for a, b in ((x, y), (y, x)):
        _, steps = distances(np.array([a]), np.array([b]))
        assert steps is not None
        assert steps.tolist() == [ulps]


def test_the_two_zeros_differ() -> None:
    good = channel()
    first = compare({"a": good}, {"a": changed(good, 0, "position.y", -0.0)}).first
    assert first is not None
    assert (first.field, first.ulps) == ("position.y", 0)


def test_a_topic_of_another_type_differs_as_a_whole() -> None:
    other = Column.of(channel().times, np.zeros(20, np.dtype([("x", "<f8")])))
    first = compare({"a": channel()}, {"a": other}).first
    assert first is not None
    assert first.field == "(message type)"
