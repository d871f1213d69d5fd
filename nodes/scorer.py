"""Scores the flight from the true path: passages in order, lap times, gate errors, collisions, the verdict.

A passage is a crossing of the next gate's plane, in the direction flown, inside its opening. A crossing of any gate's
plane outside the opening but within 0.5 m of it, in either direction, is a collision with the frame; ground contact
after takeoff is a crash; leaving the course's bounds breaks the geofence. A run with laps succeeds when every gate of
every lap was passed in order without any of these and no faster than the limit; one without laps when it ran to its
end, and may land.
"""

import math
from typing import Annotated, NamedTuple

import numpy as np

from blocks.kernel import inlined
from blocks.math import Vec3, norm
from graph.node import Context, Maybe, Setup, node
from msgs.gate_passage import GatePassage
from msgs.score import MAX_LAPS, Score, Verdict
from msgs.score_progress import ScoreProgress
from msgs.state_estimate import StateEstimate
from msgs.truth_state import TruthState
from msgs.units import NS_PER_S
from nodes.gate_crossing import COLUMNS, beyond, crossing, distance, hit_frame, rows_of, within
from scenarios.course import MAX_GATES, MAX_SEQUENCE

PROGRESS_PERIOD = 100_000_000  # ns, 10 Hz
NANOSECOND = 1e-9  # s
COMPLETE, TIMEOUT, FRAME_HIT, CRASH, GEOFENCE, SPEED_LIMIT = (int(reason) for reason in Verdict)
FLYING = -1  # no verdict yet

LapTimes = tuple[float, float, float, float, float, float, float, float]
assert MAX_LAPS == 8


class Params(NamedTuple):
    """The course and the rules."""

    gates: Annotated[np.ndarray, (MAX_GATES, COLUMNS)]  # nodes.gate_crossing
    sequence: Annotated[np.ndarray, (MAX_SEQUENCE, 1)]  # gate of each passage of a lap
    gate_count: int
    per_lap: int  # passages
    laps: int  # 0: a run to its end is good
    end: int  # ns, of the last step
    low: Vec3  # m, bounds of the course
    high: Vec3  # m
    speed_limit: float  # m/s; infinite without


class Estimated(NamedTuple):
    """The newest estimate."""

    stamp: int  # ns; -1: none yet
    position: Vec3  # m, world
    velocity: Vec3  # m/s, world


class Tally(NamedTuple):
    """Gate errors so far, m."""

    sum: float
    max: float
    passages: int


class State(NamedTuple):
    """What has happened so far."""

    stamp: int  # ns, of the last truth; -1: none yet
    position: Vec3  # m, world, of the last truth
    estimate: Estimated
    true_error: Tally
    estimated_error: Tally
    lap_times: LapTimes  # s
    lap_start: float  # s: takeoff, then each lap's last passage
    max_speed: float  # m/s, since takeoff
    passed: int  # gates, over all laps
    lap: int  # laps flown
    place: int  # of the next gate in the sequence of a lap
    progress_due: int  # ns, of the next progress message
    airborne: bool  # has taken off
    over: bool  # the verdict is given


class Out(NamedTuple):
    """What the scorer publishes, and whether the run is over."""

    passage: Maybe[GatePassage]
    progress: Maybe[ScoreProgress]
    score: Maybe[Score]
    stop: bool


@inlined
def estimated_error(p: Params, gate: int, e: Estimated) -> float:
    """Gate error of the estimated path, prolonged straight to the plane; NaN when it does not lead through it."""
    b = Vec3(e.position.x + e.velocity.x, e.position.y + e.velocity.y, e.position.z + e.velocity.z)
    before, after = beyond(p.gates, gate, e.position), beyond(p.gates, gate, b)
    if e.stamp < 0 or not after > before:
        return math.nan
    return distance(crossing(p.gates, gate, e.position, b, before, after))


@inlined
def counted(tally: Tally, error: float) -> Tally:
    """The tally with one more error; a NaN is not counted."""
    if not error >= 0.0:
        return tally
    return Tally(tally.sum + error, error if error > tally.max else tally.max, tally.passages + 1)


@inlined
def mean_of(tally: Tally) -> float:
    """Mean error, m; NaN without any."""
    return tally.sum / tally.passages if tally.passages > 0 else math.nan


@inlined
def max_of(tally: Tally) -> float:
    """Largest error, m; NaN without any."""
    return tally.max if tally.passages > 0 else math.nan


@inlined
def with_lap(times: LapTimes, lap: int, time: float) -> LapTimes:
    """The lap times with one filled in."""
    a, b, c, d, e, f, g, h = times
    return (
        time if lap == 0 else a,
        time if lap == 1 else b,
        time if lap == 2 else c,
        time if lap == 3 else d,
        time if lap == 4 else e,
        time if lap == 5 else f,
        time if lap == 6 else g,
        time if lap == 7 else h,
    )


@node
def scorer(p: Params, s: State, t: int, truth: TruthState) -> tuple[State, Out]:
    """Score the stretch of the true path since the last step."""
    here, there = truth.position, s.position if s.stamp >= 0 else truth.position
    speed = norm(truth.velocity)
    taking_off = not s.airborne and not truth.on_ground
    airborne = s.airborne or taking_off
    lap_start = t * NANOSECOND if taking_off else s.lap_start
    max_speed = speed if airborne and speed > s.max_speed else s.max_speed

    total = p.laps * p.per_lap
    gate = int(p.sequence[s.place, 0])
    before, after = beyond(p.gates, gate, there), beyond(p.gates, gate, here)
    passing, lap_done = False, False
    seconds, error, guessed, lap_time = 0.0, 0.0, 0.0, math.nan
    passed, lap, place = s.passed, s.lap, s.place
    if before < 0.0 and after >= 0.0:
        c = crossing(p.gates, gate, there, here, before, after)
        passing = within(p.gates, gate, c, 0.0)
        seconds = (s.stamp + c.fraction * (t - s.stamp)) * NANOSECOND
        error, guessed = distance(c), estimated_error(p, gate, s.estimate)
    if passing:
        passed, place = passed + 1, place + 1
        lap_done = place == p.per_lap
    if lap_done:
        lap_time = seconds - lap_start
        lap, place = lap + 1, 0
    passage = GatePassage(
        stamp=t,
        time=seconds,
        gate_error=error,
        estimated_gate_error=guessed,
        speed=speed,
        lap_time=lap_time,
        gate=gate,
        lap=s.lap,
    )
    true_error = counted(s.true_error, error) if passing else s.true_error
    estimated = counted(s.estimated_error, guessed) if passing else s.estimated_error
    lap_times = with_lap(s.lap_times, s.lap, lap_time) if lap_done and p.laps > 0 else s.lap_times
    lap_start = seconds if lap_done else lap_start

    frame = hit_frame(p.gates, p.gate_count, there, here)
    inside = p.low.x <= here.x <= p.high.x and p.low.y <= here.y <= p.high.y and p.low.z <= here.z <= p.high.z
    reason = FLYING
    if total > 0 and passed == total:
        reason = COMPLETE
    elif frame >= 0:
        reason = FRAME_HIT
    elif total > 0 and airborne and truth.on_ground:
        reason = CRASH
    elif not inside:
        reason = GEOFENCE
    elif t >= p.end:
        reason = TIMEOUT if total > 0 else COMPLETE
    if reason == COMPLETE and max_speed > p.speed_limit:
        reason = SPEED_LIMIT

    verdict = reason != FLYING and not s.over
    following = int(p.sequence[place, 0])
    score = Score(
        stamp=t,
        lap_times=lap_times,
        gate_error_mean=mean_of(true_error),
        gate_error_max=max_of(true_error),
        estimated_gate_error_mean=mean_of(estimated),
        estimated_gate_error_max=max_of(estimated),
        max_speed=max_speed,
        duration=t * NANOSECOND,
        laps=lap if total > 0 else 0,
        gates_passed=passed,
        gates_total=total,
        reason=reason if verdict else 0,
        failed_gate=frame if frame >= 0 else following,
        success=reason == COMPLETE,
    )
    report = t >= s.progress_due and not s.over
    progress = ScoreProgress(
        stamp=t,
        speed=speed,
        max_speed=max_speed,
        lap=lap,
        next_gate=following,
        gates_passed=passed,
        gates_total=total,
    )
    state = State(
        stamp=t,
        position=here,
        estimate=s.estimate,
        true_error=true_error,
        estimated_error=estimated,
        lap_times=lap_times,
        lap_start=lap_start,
        max_speed=max_speed,
        passed=passed,
        lap=lap,
        place=place,
        progress_due=s.progress_due + PROGRESS_PERIOD if report else s.progress_due,
        airborne=airborne,
        over=s.over or verdict,
    )
    return state, Out(
        passage=Maybe(present=passing and not s.over, value=passage),
        progress=Maybe(present=report, value=progress),
        score=Maybe(present=verdict, value=score),
        stop=verdict,
    )


@scorer.each
def estimate(p: Params, s: State, estimate: StateEstimate) -> State:
    """Keep the newest estimate."""
    return State(
        stamp=s.stamp,
        position=s.position,
        estimate=Estimated(estimate.stamp, estimate.position, estimate.velocity),
        true_error=s.true_error,
        estimated_error=s.estimated_error,
        lap_times=s.lap_times,
        lap_start=s.lap_start,
        max_speed=s.max_speed,
        passed=s.passed,
        lap=s.lap,
        place=s.place,
        progress_due=s.progress_due,
        airborne=s.airborne,
        over=s.over,
    )


def configure(context: Context) -> Setup:
    """The scenario's rules on its course."""
    world = context.world
    scenario, course = world.scenario, world.course
    sequence = np.zeros((MAX_SEQUENCE, 1))
    sequence[: len(course.lap), 0] = course.lap_rows
    zero, none = Vec3(0.0, 0.0, 0.0), Tally(0.0, 0.0, 0)
    nan, tick = math.nan, NS_PER_S // scenario.sim.physics_rate_hz
    return Setup(
        params=Params(
            gates=rows_of(course),
            sequence=sequence,
            gate_count=len(course.gates),
            per_lap=len(course.lap),
            laps=scenario.laps or 0,
            end=round(scenario.duration_s * 1e9) // tick * tick,
            low=Vec3(*course.bounds.min_m),
            high=Vec3(*course.bounds.max_m),
            speed_limit=math.inf if scenario.speed_limit_m_s is None else scenario.speed_limit_m_s,
        ),
        state=State(
            stamp=-1,
            position=zero,
            estimate=Estimated(-1, zero, zero),
            true_error=none,
            estimated_error=none,
            lap_times=(nan, nan, nan, nan, nan, nan, nan, nan),
            lap_start=0.0,
            max_speed=0.0,
            passed=0,
            lap=0,
            place=0,
            progress_due=0,
            airborne=False,
            over=False,
        ),
        rate_hz=scenario.sim.physics_rate_hz,
    )
