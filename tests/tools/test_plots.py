"""Pictures and reports: every kind is written, holds what it should, needs no network, and is the same every time."""

import re
import subprocess
import sys

import pytest

from tests.tools.command import ROOT

pytest.importorskip("matplotlib", reason="matplotlib is not installed (pip install 'holeshot[plot]')")

MAGIC = {".svg": b"<?xml", ".png": b"\x89PNG", ".pdf": b"%PDF"}


def texts_of(svg: str) -> set[str]:
    """The texts of a picture: matplotlib draws them as paths and keeps each as a comment."""
    return {text.strip() for text in re.findall(r"<!--(.*?)-->", svg)}


@pytest.mark.parametrize("kind", MAGIC)
def test_a_flight_is_drawn(holeshot, flight, tmp_path, kind):
    picture = tmp_path / f"flight{kind}"
    code, out, _ = holeshot("score", flight, "--plot", picture)
    assert code == 0
    assert "success" in out
    assert picture.read_bytes().startswith(MAGIC[kind])


def test_a_picture_of_a_flight_has_its_gates_and_axes(holeshot, flight, tmp_path):
    picture = tmp_path / "flight.svg"
    holeshot("score", flight, "--plot", picture)
    shown = texts_of(picture.read_text())
    assert {"x, m", "y, m", "speed, m/s", "time, s", "gate error, m", "from above"} <= shown
    assert {str(gate) for gate in range(1, 12)} <= shown


def test_equal_flights_give_equal_pictures(holeshot, flight, tmp_path):
    for name in ("a.svg", "b.svg"):
        holeshot("score", flight, "--plot", tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_a_batch_is_drawn_with_failures_by_place(holeshot, tmp_path):
    picture = tmp_path / "batch.svg"
    holeshot("batch", "b0-nominal", "duration=5", "--seeds", 3, "--keep-bags", 0, "--plot", picture)
    shown = texts_of(picture.read_text())
    assert "failures by place, 3 of 3 runs" in shown
    assert {"lap time, s", "gate error, m", "max speed, m/s"} <= shown
    assert any(re.fullmatch(r"\d+ \(3\)", text) for text in shown)


@pytest.mark.slow
def test_a_sweep_is_drawn_against_each_parameter(holeshot, tmp_path):
    picture = tmp_path / "sweep.svg"
    sets = ("--set", "vehicle.mass=0.9,1.1", "--set", "baseline.slots.estimator=GroundTruthEstimator,NullEstimator")
    code, _, err = holeshot("batch", "b0-determinism", "--seeds", 2, *sets, "--plot", picture, "--keep-bags", 0)
    assert code == 0, err
    shown = texts_of(picture.read_text())
    assert {"mass_kg", "estimator", "GroundTruthEstimator", "NullEstimator", "success, %"} <= shown


def needs_network(text: str) -> list[str]:
    """What a browser would fetch."""
    return re.findall(r"""(?:src|href)\s*=\s*["'](?!#)[^"']*|@import[^;]*|url\((?!['"]?#)[^)]*""", text)


def test_the_report_of_a_flight_is_one_file(holeshot, flight, tmp_path):
    report = tmp_path / "flight.html"
    assert holeshot("score", flight, "--report", report)[0] == 0
    text = report.read_text()
    assert text.count("<svg") == 1
    assert "b0-determinism, seed 1" in text
    assert "mass_kg: 1.0" in text
    assert needs_network(text) == []


def test_the_report_of_a_batch_lists_what_failed(holeshot, tmp_path):
    report = tmp_path / "batch.html"
    holeshot("batch", "b0-nominal", "duration=5", "--seeds", 2, "--keep-bags", 0, "--report", report)
    text = report.read_text()
    assert "0 of 2 (0.0 %)" in text
    assert "<h2>Failed runs</h2>" in text
    assert "<td>1</td><td>timeout</td>" in text
    assert needs_network(text) == []


def test_the_report_of_a_sweep_has_a_line_per_combination(holeshot, tmp_path):
    report = tmp_path / "sweep.html"
    holeshot("batch", "b0-determinism", "--seeds", 2, "--set", "vehicle.mass=0.9,1.1", "--report", report)
    text = report.read_text()
    assert "<th>mass_kg</th>" in text
    assert "<td>0.9</td><td>2 of 2</td>" in text
    assert "<td>1.1</td><td>2 of 2</td>" in text


def test_two_flights_are_not_drawn_into_one_picture(holeshot, flight, tmp_path):
    code, _, err = holeshot("score", flight, flight, "--plot", tmp_path / "a.svg")
    assert code == 2
    assert "are of one flight" in err


def test_without_matplotlib_the_message_says_how_to_get_it(holeshot, flight, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, _, err = holeshot("score", flight, "--plot", tmp_path / "a.svg")
    assert code == 2
    assert "needs matplotlib, which is not installed: pip install 'holeshot[plot]'" in err


def test_the_command_loads_neither_drawing_nor_compiler_nor_ray_before_it_needs_them():
    heavy = ("matplotlib", "numba", "numpy", "pydantic", "ray")
    check = f"import tools.cli, sys; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", check], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
