"""Requests to a run in this process: what is answered when, and how far time goes between two looks."""

from __future__ import annotations

from typing import Any

from graph.control import Control
from graph.pacing import Pacer, RequestQueue
from nodes.clock import PacedClock
from tests.graph.toys.graphs import MS, pair

LARGEST, OWN = 1000, 10


class Run:
    """A pacer and what was answered."""

    def __init__(self, rate: float = float("inf")) -> None:
        self.now = 0.0
        self.clock = PacedClock(OWN, MS, rate, lambda: self.now)
        self.control = Control(pair(), self.clock, 100_000, lambda node, tick, rows: None)
        self.requests = RequestQueue()
        self.looks = 100
        self.pacer = Pacer(self.control, self.requests, LARGEST, self.asked_to_end)
        self.replies: list[dict[str, Any]] = []

    def ask(self, kind: str, then: Any = None, **more: Any) -> None:
        def respond(reply: dict[str, Any]) -> None:
            self.replies.append(reply)
            if then is not None:
                then()

        self.requests.ask({"kind": kind, **more}, respond)

    def end(self) -> None:
        self.looks = 0

    def asked_to_end(self) -> bool:
        """At the latest after some looks, lest a test hang."""
        self.looks -= 1
        return self.looks < 0


def test_windows_are_large_only_as_long_as_nothing_paces() -> None:
    run = Run()
    assert run.pacer.next_window(0) == LARGEST
    run.ask("rate", factor=1e6)
    assert run.pacer.next_window(1000) == 1000 + OWN
    run.ask("rate", factor="max")
    assert run.pacer.next_window(1010) == 1010 + LARGEST


def test_a_pause_answers_the_step_it_ends_with_the_tick_it_holds_at() -> None:
    run = Run(rate=1e6)
    run.ask("step", run.end, ticks=500)
    assert run.pacer.next_window(0) == OWN
    run.ask("pause")
    run.looks = 3
    assert run.pacer.next_window(OWN) == OWN
    assert [(reply["tick"], reply["paused"]) for reply in run.replies] == [(OWN, True)] * 2


def test_a_pause_is_not_caught_up_with() -> None:
    run = Run(rate=1.0)
    assert run.pacer.next_window(0) == OWN
    run.ask("pause", run.end)
    assert run.pacer.next_window(OWN) == OWN
    run.now, run.looks = 60.0, 100
    run.ask("resume")
    assert run.pacer.next_window(OWN) == 2 * OWN
    assert run.control.ahead(2 * OWN) > 0.009
