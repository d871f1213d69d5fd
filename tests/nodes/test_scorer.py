"""The scorer's rules, one by one, on paths made by hand."""

import math

import pytest

from blocks.math import Vec3
from msgs.score import Verdict
from nodes import scorer
from tests.nodes.messages import estimate, truth
from tests.nodes.single import PERIOD, Single
from tests.nodes.worlds import context, world

GATES = [
    {"id": i + 1, "position_m": (x, 0.0, 2.0), "yaw_deg": yaw, "inner_size_m": (1.5, 1.5), "outer_size_m": (2.7, 2.7)}
    for i, (x, yaw) in enumerate([(5.0, 0.0), (10.0, 0.0), (20.0, 0.0)])
]
COURSE = {
    "gates": GATES,
    "start": {"position_m": (0.0, 0.0, 0.2), "yaw_deg": 0.0},
    "bounds": {"min_m": (-5.0, -10.0, 0.0), "max_m": (30.0, 10.0, 9.0)},
}
NO_LAPS = world("null-pad", course=COURSE)


def course(**scenario):
    return world("null-pad", course=COURSE, **{"laps": 1, "duration_s": 60.0, **scenario})


class Path:
    """A vehicle moved by hand in steps of one tick, from rest on the pad."""

    def __init__(self, where):
        self.world = where
        self.node = Single(scorer.scorer, scorer.configure(context("scorer", where)))
        self.tick, self.stopped = 0, False
        self.at(0.0, 0.0, 0.2, on_ground=True)

    def at(self, x, y, z, *, on_ground=False, speed=2.0, ticks=1):
        """Be at a point, flying along x, `ticks` ticks after the last one."""
        t = self.tick * PERIOD
        state = truth(
            t, position=Vec3(x, y, z), velocity=Vec3(0.0 if on_ground else speed, 0.0, 0.0), on_ground=on_ground
        )
        self.stopped = self.node.step(t, truth=state)
        self.tick += ticks
        return self

    @property
    def verdict(self):
        """Reason and success, or None while there is no verdict."""
        if not self.stopped:
            return None
        (score,) = self.node.sent("score")
        return Verdict(score.reason), score.success


def test_gates_passed_in_order_complete_the_run_and_stop_it():
    path = Path(course()).at(4.0, 0.0, 2.0).at(6.0, 0.0, 2.0).at(9.0, 0.0, 2.0).at(11.0, 0.0, 2.0).at(19.0, 0.0, 2.0)
    assert path.verdict is None
    assert path.at(21.0, 0.0, 2.0).verdict == (Verdict.COMPLETE, True)
    assert [p.gate for p in path.node.sent("passage")] == [0, 1, 2]


def test_a_passage_tells_time_error_and_speed_of_the_crossing():
    path = Path(course())
    path.at(4.5, 0.3, 1.8, ticks=4)
    path.at(6.5, 0.7, 2.2, speed=3.0)
    (passage,) = path.node.sent("passage")
    assert passage.time == pytest.approx(0.001 * 0 + 0.001 + 0.25 * 0.004)
    assert passage.gate_error == pytest.approx(math.hypot(0.4, 0.1))
    assert (passage.speed, passage.stamp) == (3.0, 5 * PERIOD)
    assert math.isnan(passage.lap_time)


def test_the_first_lap_counts_from_takeoff_and_each_later_one_from_the_last_gate():
    path = Path(course(laps=2))
    path.tick = 1000
    for lap in range(2):
        for x in (5.0, 10.0, 20.0):
            path.at(x - 1.0, 0.0, 2.0, ticks=500)
            path.at(x + 1.0, 0.0, 2.0, ticks=500)
        if lap == 0:
            path.at(21.0, 5.0, 2.0).at(-1.0, 5.0, 2.0).at(-1.0, 0.0, 2.0)
    (score,) = path.node.sent("score")
    assert score.laps == 2
    assert score.lap_times[0] == pytest.approx(2.25)  # takeoff at 1 s; the last gate halfway between 3 and 3.5 s
    assert score.lap_times[1] == pytest.approx(3.003)
    assert [p.lap for p in path.node.sent("passage")] == [0, 0, 0, 1, 1, 1]


def test_a_gate_out_of_sequence_does_not_count():
    path = Path(course()).at(4.0, 7.0, 2.0).at(9.0, 7.0, 2.0).at(9.0, 0.0, 2.0).at(11.0, 0.0, 2.0)
    assert path.node.sent("passage") == []
    assert path.verdict is None


def test_a_gate_flown_backwards_does_not_count():
    path = Path(course()).at(4.0, 5.0, 2.0).at(6.0, 5.0, 2.0).at(6.0, 0.0, 2.0).at(4.0, 0.0, 2.0)
    assert path.node.sent("passage") == []
    assert path.verdict is None


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("gate_x", [5.0, 20.0])
@pytest.mark.parametrize(
    ("y", "z", "hit"),
    [
        (0.0, 2.74, False),
        (0.0, 2.76, True),
        (-1.24, 2.0, True),
        (1.26, 2.0, False),
        (1.2, 3.2, True),
        (0.0, 0.74, False),
    ],
)
def test_a_crossing_outside_the_opening_but_within_half_a_metre_of_it_hits_the_frame_of_any_gate(
    gate_x, y, z, hit, backwards
):
    a, b = (gate_x + 0.5, gate_x - 0.5) if backwards else (gate_x - 0.5, gate_x + 0.5)
    path = Path(course())
    path.at(1.0, 7.0, z).at(a, 7.0, z).at(a, y, z)
    assert path.verdict is None
    verdict = path.at(b, y, z).verdict
    assert verdict == ((Verdict.FRAME_HIT, False) if hit else None)


def test_the_gate_whose_frame_was_hit_is_named():
    path = Path(course()).at(4.0, 7.0, 2.0).at(19.5, 7.0, 2.0).at(19.5, 1.0, 2.0).at(20.5, 1.0, 2.0)
    (score,) = path.node.sent("score")
    assert score.failed_gate == 2


def test_ground_contact_after_takeoff_is_a_crash():
    path = Path(course())
    assert path.at(0.0, 0.0, 0.2, on_ground=True).verdict is None
    assert path.at(0.0, 0.0, 0.3).verdict is None
    assert path.at(0.0, 0.0, 0.2, on_ground=True).verdict == (Verdict.CRASH, False)


def test_without_laps_landing_is_fine_and_the_end_is_good():
    path = Path(NO_LAPS).at(0.0, 0.0, 0.5).at(0.0, 0.0, 0.2, on_ground=True)
    assert path.verdict is None
    path.tick = 1999
    assert path.at(0.0, 0.0, 0.2, on_ground=True).verdict is None
    assert path.at(0.0, 0.0, 0.2, on_ground=True).verdict == (Verdict.COMPLETE, True)


def test_leaving_the_bounds_breaks_the_geofence():
    assert Path(course()).at(-4.9, 9.9, 8.9).verdict is None
    for point in ((-5.1, 0.0, 2.0), (0.0, 10.1, 2.0), (0.0, 0.0, 9.1), (30.1, 5.0, 2.0)):
        assert Path(course()).at(*point).verdict == (Verdict.GEOFENCE, False)


def test_a_run_that_does_not_complete_times_out_at_its_last_step():
    path = Path(course(duration_s=1.0)).at(0.0, 0.0, 1.0)
    path.tick = 999
    assert path.at(0.0, 0.0, 1.0).verdict is None
    assert path.at(0.0, 0.0, 1.0).verdict == (Verdict.TIMEOUT, False)


def test_a_duration_between_ticks_ends_at_the_tick_before():
    path = Path(course(duration_s=0.0105)).at(0.0, 0.0, 1.0)
    path.tick = 10
    assert path.at(0.0, 0.0, 1.0).verdict == (Verdict.TIMEOUT, False)


@pytest.mark.parametrize(("limit", "verdict"), [(5.0, (Verdict.SPEED_LIMIT, False)), (7.0, (Verdict.COMPLETE, True))])
def test_speed_above_the_limit_fails_the_verdict_but_only_at_the_end(limit, verdict):
    path = Path(course(speed_limit_m_s=limit)).at(0.0, 0.0, 2.0, speed=6.0)
    for x in (5.0, 10.0, 20.0):
        assert path.verdict is None
        path.at(x - 1.0, 0.0, 2.0).at(x + 1.0, 0.0, 2.0)
    assert path.verdict == verdict


def test_max_speed_counts_from_takeoff():
    node = Single(scorer.scorer, scorer.configure(context("scorer", course())))
    node.step(0, truth=truth(velocity=Vec3(9.0, 0.0, 0.0), on_ground=True, position=Vec3(0.0, 0.0, 0.2)))
    node.step(PERIOD, truth=truth(PERIOD, velocity=Vec3(1.0, 2.0, 2.0), position=Vec3(0.0, 0.0, 0.3)))
    assert node.state.max_speed == 3.0


def test_the_estimated_gate_error_is_that_of_the_estimated_path_prolonged_to_the_plane():
    path = Path(course())
    path.node.send("estimate", estimate(0, position=Vec3(4.0, 0.1, 2.2), velocity=Vec3(4.0, 1.0, 0.0)))
    path.at(4.9, 0.0, 2.0).at(5.1, 0.0, 2.0)
    (passage,) = path.node.sent("passage")
    assert passage.gate_error == 0.0
    assert passage.estimated_gate_error == pytest.approx(math.hypot(0.35, 0.2))


def test_without_an_estimate_through_the_gate_its_error_is_nan_and_not_counted():
    path = Path(course())
    path.at(4.9, 0.5, 2.0).at(5.1, 0.5, 2.0)
    path.node.send("estimate", estimate(0, velocity=Vec3(-1.0, 0.0, 0.0)))
    path.at(9.9, 0.1, 2.0).at(10.1, 0.1, 2.0).at(19.9, 0.0, 2.0).at(20.1, 0.0, 2.0)
    assert all(math.isnan(p.estimated_gate_error) for p in path.node.sent("passage"))
    (score,) = path.node.sent("score")
    assert (score.gate_error_mean, score.gate_error_max) == pytest.approx((0.2, 0.5))
    assert math.isnan(score.estimated_gate_error_mean)
    assert math.isnan(score.estimated_gate_error_max)


def test_progress_comes_ten_times_a_second():
    path = Path(course())
    for _ in range(500):
        path.at(0.0, 0.0, 2.0)
    progress = path.node.sent("progress")
    assert [p.stamp for p in progress] == [100_000_000 * k for k in range(6)]
    assert (progress[-1].gates_total, progress[-1].next_gate, progress[-1].speed) == (3, 0, 2.0)


def test_after_the_verdict_nothing_more_is_said():
    path = Path(course()).at(0.0, 11.0, 2.0)
    assert path.stopped
    path.node.sent("progress")
    for _ in range(200):
        path.at(0.0, 11.0, 2.0)
        assert not path.stopped
    assert len(path.node.sent("score")) == 1
    assert path.node.sent("progress") == []


def test_a_sequence_repeats_gates_in_its_own_order():
    where = world("null-pad", course={**COURSE, "sequence": (3, 1)}, laps=1, duration_s=60.0)
    path = Path(where).at(4.9, 0.0, 2.0).at(5.1, 0.0, 2.0).at(19.9, 0.0, 2.0).at(20.1, 0.0, 2.0).at(20.1, 5.0, 2.0)
    path.at(4.9, 5.0, 2.0).at(4.9, 0.0, 2.0).at(5.1, 0.0, 2.0)
    assert [p.gate for p in path.node.sent("passage")] == [2, 0]
    assert path.verdict == (Verdict.COMPLETE, True)
