"""Every row of the bench runs and says what it measured. No speed is asserted: that is what people run it for."""

import json
import math
import shutil

import pytest

from tools.bench.measure import Measured, Row, Unavailable, least
from tools.bench.rows import ROWS

NATIVE = {"rk4", "closed-loop"}


@pytest.mark.slow
@pytest.mark.parametrize("name", [row.name for row in ROWS])
def test_the_row_runs(holeshot, name):
    code, out, err = holeshot("bench", name, "--json")
    assert code == 0, err
    (row,) = json.loads(out)["rows"]
    assert row["name"] == name
    if name in NATIVE and shutil.which("g++") is None:
        assert row["left_out"] == "no g++ on this machine"
        return
    assert math.isfinite(row["value"])
    assert row["value"] >= 0.0
    assert (row["ratio"] is None) == (row["reach"] is None)


@pytest.mark.slow
def test_the_table_has_a_line_per_row_and_its_detail(holeshot):
    code, out, _ = holeshot("bench", "help", "flight", "--skip", "help")
    assert code == 0
    assert "one b0-nominal" in out
    assert "flight: 85003 ticks" in out
    assert "--help" not in out


def test_the_list_measures_nothing(holeshot):
    code, out, _ = holeshot("bench", "--list")
    assert code == 0
    assert all(row.name in out for row in ROWS)
    assert "measured" not in out


@pytest.mark.parametrize("arguments", [("fligth",), ("--skip", "fligth")])
def test_an_unknown_row_is_named(holeshot, arguments):
    code, _, err = holeshot("bench", *arguments)
    assert code == 2
    assert "no row fligth; did you mean flight?; valid: rk4, flight" in err


def test_rows_that_cannot_be_measured_are_left_out(holeshot, monkeypatch):
    def measure() -> Measured:
        raise Unavailable("no such thing")

    monkeypatch.setattr("tools.bench.rows.ROWS", (Row("thing", "a thing", measure, reach=1.0),))
    code, out, _ = holeshot("bench")
    assert code == 0
    assert "left out" in out
    assert "thing: no such thing" in out


def test_a_ratio_of_one_reaches_what_it_should():
    measured = Measured(20.0, "x")
    assert Row("a", "", lambda: measured, reach=40.0).ratio(measured) == 0.5
    assert Row("a", "", lambda: measured, reach=40.0, at_least=True).ratio(measured) == 2.0
    assert Row("a", "", lambda: measured).ratio(measured) is None


def test_the_least_of_several_repeats_counts():
    times = iter([0.0, 5.0, 10.0, 12.0, 20.0, 29.0])
    assert least(3, lambda: None, lambda: next(times)) == 2.0
