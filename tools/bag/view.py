"""A bag served to viewers: the same topics and the same picture as the live run, at any time and speed."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from graph.bag import Bag, Message
from graph.config import parse, parse_yaml
from graph.errors import InputError
from graph.rate import read_rate, written
from graph.requests import Step
from msgs.units import NS_PER_S
from nodes.view.offer import OfferedTopic, Wiring
from nodes.view.ports import listen
from nodes.view.sdk_server import SdkServer
from nodes.view.server import RUN, Content, Server
from nodes.view.services import services
from nodes.view.thinning import Thinning
from scenarios.scenario import Scenario

FRAME_S = 1.0 / 60.0
HZ = 50.0
LONGEST_FRAME_S = 0.25
"""Wall time that a frame makes up for at most: behind a halt, playback goes on rather than jumping."""
UNPACED_S = 1.0
"""Simulated time per frame at rate max."""
AGAIN_S = 0.25
"""The picture is sent again so much later: a viewer forgets what came before the reply to its seek."""
TICK_NS = 1_000_000
"""A tick of a bag whose scenario does not say how long one is."""


class BagPlayer:
    """Plays messages into a server: pause, step, speed and seek, from any thread."""

    def __init__(self, bag: Bag, topics: Sequence[str], rate: float, begin_ns: int, loop: bool, paused: bool) -> None:
        """``topics`` of the bag; ``rate`` in simulated seconds per second; a loop goes on at ``begin_ns``."""
        self.topics = list(topics)
        self._index = {topic: number for number, topic in enumerate(self.topics)}
        self.messages: list[Message] = [m for m in bag.messages() if m.topic in self._index]
        self._times = np.array([m.log_time for m in self.messages], np.int64)
        if not len(self._times):
            raise InputError(f"{bag.path}: has no message of {', '.join(topics) or 'any topic'}")
        self.start_ns, self.end_ns = int(self._times[0]), int(self._times[-1])
        self._lock = threading.Condition()
        self._rate = rate
        self._paused = paused
        self._loop = loop
        if begin_ns > self.end_ns:
            raise InputError(f"--from {begin_ns / NS_PER_S:g}: the bag ends at {self.end_ns / NS_PER_S:.3f} s")
        self._begin = max(begin_ns, self.start_ns)
        self._now = self._begin
        self._sent = 0  # messages before this index are sent
        self._tick_ns = tick_of(bag)
        self._stop_at: int | None = None  # ns, where a step ends
        self._wound = True
        self._jumped = False  # wound back by itself, which viewers are to be told
        self.stopped = False
        self.changed: Callable[[dict[str, Any]], None] = lambda values: None

    def values(self) -> dict[str, Any]:
        """What a viewer sees as parameters."""
        return {
            "paused": self._paused,
            "rate": written(self._rate),
            "ended": self._now >= self.end_ns and not self._loop,
        }

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Obey as a run does. Raises InputError for what a bag cannot do."""
        kind = request["kind"]
        with self._lock:
            if kind == "pause":
                self._paused = True
            elif kind == "resume":
                self._paused = False
                if self._now >= self.end_ns:
                    self._wind(self.start_ns)
                    self._jumped = True
            elif kind == "step":
                ticks = parse(Step, dict(request), "request").ticks
                self._paused, self._stop_at = True, min(self.end_ns, self._now + ticks * self._tick_ns)
            elif kind == "rate":
                self._rate = read_rate(request.get("factor"), "request: factor")
            elif kind == "stop":
                self.stopped = True
            else:
                raise InputError("a bag is played, not flown: its faults are those that were recorded")
            self._lock.notify_all()
            now = self._now if self._stop_at is None else self._stop_at
            reply = {"ok": True, "tick": now // self._tick_ns, "time_s": now / NS_PER_S, **self.values()}
        if kind != "step":  # what a step changes is said once it is done
            self.changed(self.values())
        return reply

    def write(self, name: str, value: Any) -> None:
        """Set a parameter. Raises InputError for one that cannot be set."""
        if name == "paused" and isinstance(value, bool):
            self.ask({"kind": "pause" if value else "resume"})
        elif name == "rate":
            self.ask({"kind": "rate", "factor": value})
        else:
            raise InputError(f"parameter {name} cannot be set to {value!r} while a bag plays; these can: paused, rate")

    def seek(self, time_ns: int) -> None:
        """Go to another time."""
        with self._lock:
            self._wind(min(max(time_ns, self.start_ns), self.end_ns))
            self._lock.notify_all()

    def _wind(self, time_ns: int) -> None:
        self._now, self._wound, self._stop_at = time_ns, True, None

    def play(self, server: Server) -> None:
        """Play until stopped; at the end it waits to be wound back."""
        thinned = [Thinning(HZ, 1) for _ in self.topics]
        last, again_at = time.monotonic(), math.inf
        while not self.stopped:
            with self._lock:
                now = time.monotonic()
                resting = self._stop_at is None and (self._paused or self._now >= self.end_ns)
                if resting and not self._wound and now < again_at:
                    self._lock.wait(min(0.1, again_at - now))
                    last = time.monotonic()
                    continue
                wound, self._wound = self._wound, False
                jumped, self._jumped = self._jumped, False
                stepped = self._stop_at is not None
                if self._stop_at is not None:
                    self._now, self._stop_at = self._stop_at, None
                elif not wound and not self._paused:
                    flown_s = UNPACED_S if math.isinf(self._rate) else min(now - last, LONGEST_FRAME_S) * self._rate
                    self._now = min(self.end_ns, self._now + int(flown_s * NS_PER_S))
                last = now
                until, ended = self._now, self._now >= self.end_ns
            if jumped:
                server.jumped(until)
            if wound or now >= again_at:
                self._show_all(server, until)
                again_at = now + AGAIN_S if wound else math.inf
            else:
                self._show_new(server, until, thinned)
            server.show_losses()
            if stepped or (ended and not self._loop):
                self.changed(self.values())
            if ended and self._loop:
                with self._lock:
                    if not self._wound:  # nobody has gone elsewhere meanwhile
                        self._wind(self._begin)
                        self._jumped = True
            time.sleep(FRAME_S)

    def _show_all(self, server: Server, time_ns: int) -> None:
        """The newest message of each topic at a time, as if all had been played up to it."""
        self._sent = int(np.searchsorted(self._times, time_ns, side="right"))
        newest: dict[str, Message] = {}
        for message in reversed(self.messages[: self._sent]):
            newest.setdefault(message.topic, message)
            if len(newest) == len(self.topics):
                break
        server.time(time_ns)
        for message in sorted(newest.values(), key=lambda m: m.log_time):
            server.publish(self._index[message.topic], message.log_time, message.data)

    def _show_new(self, server: Server, time_ns: int, thinned: Sequence[Thinning]) -> None:
        end = int(np.searchsorted(self._times, time_ns, side="right"))
        by_topic: dict[int, list[int]] = {}
        for place in range(self._sent, end):
            by_topic.setdefault(self._index[self.messages[place].topic], []).append(place)
        self._sent = end
        chosen: list[int] = []
        for number, places in by_topic.items():
            chosen += [places[k] for k in thinned[number].chosen(self._times[places])]
        server.time(time_ns)
        for place in sorted(chosen):
            message = self.messages[place]
            server.publish(self._index[message.topic], message.log_time, message.data)


def tick_of(bag: Bag) -> int:
    """How long a tick of the recorded run was, ns."""
    with contextlib.suppress(InputError, UnicodeDecodeError, KeyError):
        text = bag.attachments["scenario.yaml"].decode()
        scenario = parse(Scenario, parse_yaml(text, "scenario.yaml"), "scenario.yaml")
        return NS_PER_S // scenario.sim.physics_rate_hz
    return TICK_NS


def serve_bag(
    bag: Bag,
    host: str,
    port: int | None,
    *,
    topics: Sequence[str],
    rate: float,
    begin_s: float,
    loop: bool,
    paused: bool,
    notice: Callable[[str], None],
) -> None:
    """Serve ``bag`` to viewers until Ctrl-C or until one asks to stop. Raises InputError when it cannot listen."""
    player = BagPlayer(bag, topics, rate, round(begin_s * NS_PER_S), loop, paused)
    content = Content(
        name=f"holeshot bag {bag.path.name}",
        topics=[_offered(bag, topic) for topic in player.topics],
        wiring=Wiring({topic: ["bag"] for topic in player.topics}, {}),
        services=services(None),
        parameters=player.values,
        write=player.write,
        ask=player.ask,
        start_ns=player.start_ns,
        end_ns=player.end_ns,
        seek=player.seek,
    )
    server = listen(
        lambda chosen: SdkServer(content, host, chosen),
        host,
        port,
        "whoever reaches this machine can watch",
        notice,
        "--port ",
    )
    player.changed = server.changed
    server.status(f"plays {bag.path.name}", key=RUN)
    try:
        notice("        Ctrl-C ends")
        player.play(server)
    finally:
        server.close()


def _offered(bag: Bag, topic: str) -> OfferedTopic:
    schema = bag.schemas[topic]
    return OfferedTopic(topic, bag.encodings[topic], schema.name, schema.encoding, schema.data)
