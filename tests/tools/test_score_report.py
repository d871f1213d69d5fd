"""A score in the specification's names, as JSON and as rows of a table."""

import math

import pytest

from msgs.gate_passage import GatePassage
from msgs.score import Score, Verdict
from tools.score_report import rows, score_json

NAN = math.nan


def score(**changed):
    values = {
        "stamp": 3_000_000, "lap_times": (NAN,) * 8, "gate_error_mean": 0.5, "gate_error_max": 0.5,
        "estimated_gate_error_mean": NAN, "estimated_gate_error_max": NAN, "max_speed": 2.0, "duration": 0.003,
        "laps": 0, "gates_passed": 1, "gates_total": 3, "reason": int(Verdict.GEOFENCE), "failed_gate": 1,
        "success": False,
    }  # fmt: skip
    return Score(**{**values, **changed})


PASSAGE = GatePassage(3_000_000, 0.0025, 0.5, NAN, 2.0, NAN, gate=0, lap=0)


def test_the_keys_of_the_specification_and_null_where_nothing_was_measured():
    assert score_json(score(), [PASSAGE], [11, 12, 13]) == {
        "success": False,
        "reason": "geofence",
        "lap_time": [],
        "gate_error": {"mean": 0.5, "max": 0.5},
        "estimated_gate_error": {"mean": None, "max": None},
        "max_speed_m_s": 2.0,
        "laps": 0,
        "gates_passed": 1,
        "gates_total": 3,
        "failed_gate": 12,
        "duration_s": 0.003,
        "passages": [
            {"lap": 1, "gate": 11, "time_s": 0.0025, "gate_error": 0.5, "estimated_gate_error": None, "speed_m_s": 2.0}
        ],
    }


def test_only_completed_laps_have_a_time():
    times = (42.0, 43.0, NAN, NAN, NAN, NAN, NAN, NAN)
    assert score_json(score(lap_times=times, laps=1), [], [11, 12, 13])["lap_time"] == [42.0]


def test_whoever_passed_every_gate_failed_at_none():
    complete = score(gates_passed=3, reason=int(Verdict.SPEED_LIMIT), failed_gate=0)
    assert score_json(complete, [], [11, 12, 13])["failed_gate"] is None


def test_a_table_says_why_and_where():
    table = dict(rows(score_json(score(), [PASSAGE], [11, 12, 13])))
    assert table["success"] == "no: geofence"
    assert table["at gate"] == "12"
    assert table["gates"] == "1 of 3"


def test_the_gate_whose_frame_was_hit_is_named_without_laps_too():
    hit = score(reason=int(Verdict.FRAME_HIT), gates_passed=0, gates_total=0, failed_gate=2)
    assert score_json(hit, [], [11, 12, 13])["failed_gate"] == 13
    left = score(reason=int(Verdict.GEOFENCE), gates_passed=0, gates_total=0, failed_gate=0)
    assert score_json(left, [], [11, 12, 13])["failed_gate"] is None


@pytest.mark.parametrize(
    ("changed", "passages", "text"),
    [
        ({"reason": 256}, [], "256 is not a valid Verdict"),
        ({"failed_gate": 3}, [], "gate index 3: the course has 3 gates"),
        ({}, [PASSAGE._replace(gate=7)], "gate index 7: the course has 3 gates"),
    ],
)
def test_what_cannot_be_is_refused(changed, passages, text):
    with pytest.raises(ValueError, match=text):
        score_json(score(**{"reason": Verdict.FRAME_HIT, **changed}), passages, [11, 12, 13])
