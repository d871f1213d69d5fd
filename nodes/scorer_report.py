"""The verdict on a run as plain data, for the scoreboard's JSON lines."""

import math
import statistics
from collections.abc import Sequence
from typing import Any

from msgs.gate_passage import GatePassage
from msgs.score import Score, Verdict
from scenarios.course import Course


def score_json(score: Score, passages: Sequence[GatePassage], course: Course) -> dict[str, Any]:
    """The score under the scoreboard's key names; lap times in s, errors in m, speed in m/s, null where there is none.

    `failed_gate` is the id in the course file of the gate whose frame was hit, else of the next one; null on success.
    """
    return {
        "success": bool(score.success),
        "reason": Verdict(score.reason).name.lower(),
        "lap_time": [_number(time) for time in score.lap_times[: score.laps]],
        "gate_error": _errors(score.gate_error_mean, score.gate_error_max, [p.gate_error for p in passages]),
        "estimated_gate_error": _errors(
            score.estimated_gate_error_mean,
            score.estimated_gate_error_max,
            [p.estimated_gate_error for p in passages],
        ),
        "max_speed_m_s": _number(score.max_speed),
        "laps": int(score.laps),
        "gates_passed": int(score.gates_passed),
        "gates_total": int(score.gates_total),
        "failed_gate": None if score.success else course.gates[score.failed_gate].id,
        "duration_s": _number(score.duration),
    }


def _errors(mean: float, largest: float, each: Sequence[float]) -> dict[str, float | None]:
    known = [error for error in each if not math.isnan(error)]
    return {
        "mean": _number(mean),
        "p50": statistics.median(known) if known else None,
        "max": _number(largest),
    }


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
