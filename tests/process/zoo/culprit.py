"""A node that misbehaves in one of many ways, half a simulated second into its flight."""

import os
import signal
import sys
import threading
import time
from typing import Literal, NamedTuple

from graph.config import Config
from graph.node import Context, Setup, node
from graph.process.packets import pack_edge
from graph.process.register import running
from graph.process.transport import Keys, session
from msgs.motor_command import MotorCommand
from msgs.truth_state import TruthState

Kind = Literal[
    "behaves", "raises", "raises_at_once", "dies", "exits_early", "silent", "slow", "hangs_in_exit", "ignores_sigterm",
    "wrong_type", "chatters", "publishes_twice", "skips", "floods", "babbles",
]  # fmt: skip
KINDS: tuple[Kind, ...] = Kind.__args__  # type: ignore[attr-defined]
WHEN = 500_000_000  # ns


class Options(Config):
    """How to misbehave."""

    kind: Kind = "behaves"


class Params(NamedTuple):
    """The kind, as its index."""

    kind: int


class State(NamedTuple):
    """Steps so far."""

    steps: int


class Out(NamedTuple):
    """Commands that nobody listens to."""

    mischief: MotorCommand


@node(python=True)
def culprit(p: Params, s: State, t: int, truth: TruthState) -> tuple[State, Out]:
    """One step, until it misbehaves."""
    kind = KINDS[p.kind]
    command = MotorCommand(stamp=t, thrusts=(0.0, 0.0, 0.0, 0.0))
    if kind == "raises_at_once":
        raise ArithmeticError("born unlucky")
    if t >= WHEN:
        misbehave(kind)
    if kind == "wrong_type" and t >= WHEN:
        return State(s.steps + 1), "a string"  # type: ignore[return-value]
    return State(s.steps + 1), Out(mischief=command)


def misbehave(kind: Kind) -> None:
    """Do it."""
    if kind == "raises":
        raise ArithmeticError("out of luck")
    if kind == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "exits_early":
        os._exit(0)
    if kind == "silent":
        threading.Event().wait()
    if kind == "slow":
        time.sleep(0.002)
    if kind == "hangs_in_exit":
        threading.Thread(target=threading.Event().wait).start()
    if kind == "ignores_sigterm":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        threading.Event().wait()
    if kind == "publishes_twice":
        publish(pack_edge(0, 0, [(0, b"")]))
    if kind == "skips":
        publish(pack_edge(10_000, WHEN, [(0, b"")]))
    if kind == "floods":
        publish(*(pack_edge(number, WHEN, [(0, b"")]) for number in range(10_000, 20_000)))
    if kind == "babbles":
        publish(b"blah")
    if kind == "chatters":
        sys.stdout.write("x" * 100_000)


def publish(*packets: bytes) -> None:
    """Put packets of its own on its edge to the recorder, past the host that steps it."""
    import zenoh  # not before the fork

    [run] = [run for run in running() if run["pid"] == os.getppid()]
    with session(run["zenoh"]) as opened:
        for packet in packets:
            opened.put(
                Keys(run["run"]).edge("culprit", "recorder"), packet, congestion_control=zenoh.CongestionControl.BLOCK
            )


def configure(context: Context) -> Setup:
    """At the rate of the physics."""
    return Setup(Params(KINDS.index(context.options.kind)), State(0), context.world.scenario.sim.physics_rate_hz)
