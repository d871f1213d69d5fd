"""A run's score in the specification's names, as a JSON object and as a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from msgs.gate_passage import GatePassage
from msgs.score import Score, Verdict


def score_of(scores: Sequence[Score], passages: Sequence[GatePassage], gates: Sequence[int]) -> dict[str, Any] | None:
    """What a run's messages say: its first verdict and the passages up to it, as ``score_json`` has them; None without
    a verdict.
    """
    if not scores:
        return None
    return score_json(scores[0], [p for p in passages if p.stamp <= scores[0].stamp], gates)


def score_json(score: Score, passages: Sequence[GatePassage], gates: Sequence[int]) -> dict[str, Any]:
    """The score as a JSON object; ``gates`` are the course's gate ids by index. What was never measured is null.

    Times in s, distances in m, speeds in m/s. Raises ValueError on a verdict or a gate that does not exist: messages
    of a bag may say anything.
    """
    return {
        "success": score.success,
        "reason": Verdict(score.reason).name.lower(),
        "lap_time": [_number(t) for t in score.lap_times[: score.laps]],
        "gate_error": {"mean": _number(score.gate_error_mean), "max": _number(score.gate_error_max)},
        "estimated_gate_error": {
            "mean": _number(score.estimated_gate_error_mean),
            "max": _number(score.estimated_gate_error_max),
        },
        "max_speed_m_s": score.max_speed,
        "laps": score.laps,
        "gates_passed": score.gates_passed,
        "gates_total": score.gates_total,
        "failed_gate": _id(gates, score.failed_gate) if _has_failed_gate(score) else None,
        "duration_s": score.duration,
        "passages": [
            {
                "lap": p.lap + 1,
                "gate": _id(gates, p.gate),
                "time_s": p.time,
                "gate_error": p.gate_error,
                "estimated_gate_error": _number(p.estimated_gate_error),
                "speed_m_s": p.speed,
            }
            for p in passages
        ],
    }


def _has_failed_gate(score: Score) -> bool:
    return score.reason == Verdict.FRAME_HIT or (score.gates_passed < score.gates_total and not score.success)


def _id(gates: Sequence[int], index: int) -> int:
    if index >= len(gates):
        raise ValueError(f"gate index {index}: the course has {len(gates)} gates")
    return gates[index]


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def rows(score: dict[str, Any]) -> list[tuple[str, str]]:
    """The score as (name, value) pairs for a person."""
    errors = score["gate_error"]
    values = [
        ("success", "yes" if score["success"] else f"no: {score['reason']}"),
        (
            "gates",
            f"{score['gates_passed']} of {score['gates_total']}"
            if score["gates_total"]
            else str(score["gates_passed"]),
        ),
        ("laps", str(score["laps"])),
        *((f"lap {n} time", f"{t:.3f} s") for n, t in enumerate(score["lap_time"], 1)),
        ("gate error", "-" if errors["mean"] is None else f"{errors['mean']:.3f} m mean, {errors['max']:.3f} m max"),
        ("max speed", f"{score['max_speed_m_s']:.3f} m/s"),
        ("duration", f"{score['duration_s']:.3f} s simulated"),
    ]
    if score["failed_gate"] is not None:
        values.insert(1, ("at gate", str(score["failed_gate"])))
    return values
