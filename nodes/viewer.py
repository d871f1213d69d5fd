"""The viewer: shows a run in Foxglove or Lichtblick while it flies, and lets it be steered. It never slows the run.

Every topic is served as it is recorded, thinned to what a person can see; pause, step, rate, stop and faults are
services and parameters. It listens on this machine only unless told otherwise.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np
from pydantic import Field

from graph.config import Config, parse_yaml
from graph.derived import DerivedStream
from graph.errors import InputError
from graph.memory import Array
from graph.rate import read_rate, written
from graph.service import Sink, SinkContext
from msgs.cdr import encode
from msgs.record import read
from msgs.score import Score, Verdict
from nodes.view.offer import offered, wiring_of
from nodes.view.origin import listed
from nodes.view.ports import free_port, listen
from nodes.view.server import RUN, Content, Server, Values
from nodes.view.services import services
from nodes.view.thinning import Thinning

REPLY_TIMEOUT_S = 60.0
WRITABLE = ("paused", "rate")


class Options(Config):
    """Options of the viewer; none of them changes a byte of the bag."""

    host: str = Field(
        default="127.0.0.1",
        min_length=1,
        description="address to listen on; 0.0.0.0 lets other machines watch and steer",
    )
    port: int | None = Field(
        default=None, ge=1, le=65535, description="port; by default the first free one from 8765 on"
    )
    hz: float = Field(
        default=50.0, ge=0, le=1e6, description="messages of a topic per second, simulated or not, at most; 0: all"
    )
    origins: str | None = Field(
        default=None,
        description="origins of further web pages that may watch and steer, separated by commas; with websocket.v1",
    )
    protocol: Literal["sdk.v1", "websocket.v1"] = Field(
        default="sdk.v1", description="websocket.v1 for viewers that know only that; needs the extra viewer-v1"
    )


class Viewer(Sink):
    """Serves one run."""

    PERIOD_S = 1.0 / 60.0

    @classmethod
    def check(cls, options: Options) -> None:
        """Raises InputError when the address cannot be listened on, or not with this protocol."""
        if options.protocol == "websocket.v1" and find_spec("foxglove_websocket") is None:
            raise InputError("viewer: protocol websocket.v1 needs the extra: pip install 'holeshot[viewer-v1]'")
        if listed(options.origins) and options.protocol != "websocket.v1":
            raise InputError("viewer: origins: the server of sdk.v1 lets every page in; use protocol websocket.v1")
        free_port(options.host, options.port)

    def __init__(self, context: SinkContext) -> None:
        """Listens. Raises InputError when it cannot."""
        super().__init__(context)
        graph = context.graph
        self._period_ns = graph.period_ns
        self._topics = [t.name for t in graph.topics]
        self._score = next((t.name for t in graph.topics if t.message is Score), None)
        self._stream = DerivedStream(context.derived)
        served = len(self._topics) + len(self._stream.topics)
        self._thinned = [Thinning(context.options.hz, graph.period_ns) for _ in range(served)]
        self._lock = threading.Lock()
        self._values = self._first_values()
        injector = next((i.name for i in graph.instances if "faults" in i.outputs and i.setup.live is not None), None)
        self.server = open_server(
            Content(
                name=f"holeshot {self._values['scenario']}, seed {self._values['seed']}",
                topics=offered(graph, self._stream.topics),
                wiring=wiring_of(graph, context.derived),
                services=services(injector),
                parameters=self.values,
                write=self._write,
                ask=self._ask,
                start_ns=0,
                end_ns=max(context.ticks - 1, 1) * graph.period_ns,
            ),
            context.options,
            context.notice,
        )
        self._over = False  # how it ended is said
        self.server.status("running", key=RUN)

    def _first_values(self) -> Values:
        run = self.context.provenance.metadata.get("run", {})
        values: Values = {name: run.get(name, "") for name in ("launch", "scenario", "baseline", "course", "vehicle")}
        values |= {"seed": int(run.get("seed", 0)), "runner": self.context.runner}
        values |= {"paused": False, "rate": written(self.context.rate), "viewer.left_out": 0}
        baseline = self.context.provenance.attachments.get("baseline.yaml", b"{}").decode()
        parameters = (parse_yaml(baseline, "baseline") or {}).get("parameters") or {}
        return values | {f"baseline.{name}": value for name, value in parameters.items()}

    def values(self) -> Values:
        """Every parameter."""
        with self._lock:
            left_out = sum(thinned.left_out for thinned in self._thinned)
            return self._values | {"viewer.left_out": left_out} | self.server.losses()

    def take(self, end: int, logs: Mapping[str, Array]) -> None:
        """Send a window's messages, thinned."""
        chosen: list[tuple[int, int, bytes]] = []
        for number, name in enumerate(self._topics):
            log = logs[name]
            for index in self._thinned[number].chosen(log["tick"]):
                slot = log[index]
                chosen.append((int(slot["tick"]), number, encode(slot["data"])))
        for number, messages in enumerate(self._stream.take(end, logs), len(self._topics)):
            kept = self._thinned[number].chosen(np.array([tick for tick, _ in messages], np.int64))
            chosen += [(messages[index][0], number, messages[index][1]) for index in kept]
        chosen.sort(key=lambda message: message[:2])
        self.server.time(end * self._period_ns)
        for tick, number, data in chosen:
            self.server.publish(number, tick * self._period_ns, data)
        self.server.show_losses()
        if self._score is not None and len(logs[self._score]):
            self._show_verdict(read(logs[self._score]["data"][-1], Score))

    def _show_verdict(self, score: Score) -> None:
        reason = Verdict(score.reason).name.lower()
        text = "success" if score.success else f"no success: {reason}"
        level = "info" if score.success else "warning"
        self._say(f"{text}, {score.gates_passed} of {score.gates_total} gates", level, over=True)

    def end(self, tick: int, counts: Mapping[str, int]) -> str | None:
        """Say that the run ended without a verdict, if it did."""
        self._say(f"ended at {tick * self._period_ns * 1e-9:.3f} s", over=True)
        return None

    def failed(self, text: str) -> None:
        """Show what failed."""
        with self._lock:
            self.server.status(text, "error", RUN)
            self._over = True

    def _say(self, text: str, level: str = "info", over: bool = False) -> None:
        """How the run stands, until it is said how it ended."""
        with self._lock:
            if not self._over:
                self._over = over
                self.server.status(text, level, RUN)

    def close(self) -> None:
        """Stop serving."""
        self.server.close()

    def _ask(self, request: Mapping[str, Any]) -> Values:
        """Ask the run and wait for its reply. Raises InputError when it refuses."""
        if self.context.steer is None:
            raise InputError("this run cannot be steered")
        replies: list[Values] = []
        answered = threading.Event()

        def respond(reply: Values) -> None:
            replies.append(reply)
            answered.set()

        self.context.steer(request, respond)
        if not answered.wait(REPLY_TIMEOUT_S):
            raise InputError(f"not done after {REPLY_TIMEOUT_S:g} s")
        reply = replies[0]
        if not reply.get("ok"):
            raise InputError(str(reply.get("error", "refused")))
        now = {name: reply[name] for name in WRITABLE}
        with self._lock:
            self._values |= now
        self.server.changed(now)
        if request.get("kind") != "stop":
            self._say("paused" if reply["paused"] else "running")
        return reply

    def _write(self, name: str, value: Any) -> None:
        if name == "paused" and isinstance(value, bool):
            self._ask({"kind": "pause" if value else "resume"})
        elif name == "rate":
            read_rate(value, "parameter rate:")  # a viewer may send bytes, which no request can carry
            self._ask({"kind": "rate", "factor": value})
        elif name in WRITABLE:
            raise InputError(f"parameter {name}: {value!r} is not of its type")
        else:
            raise InputError(f"parameter {name} cannot be set while a run flies; these can: {', '.join(WRITABLE)}")


def open_server(content: Content, options: Options, notice: Callable[[str], None]) -> Server:
    """A listening server; ``notice`` is told where. Raises InputError when it cannot listen."""

    def open_on(port: int) -> Server:
        if options.protocol == "websocket.v1":
            from nodes.view.v1_server import V1Server

            return V1Server(content, options.host, port, listed(options.origins))
        from nodes.view.sdk_server import SdkServer

        return SdkServer(content, options.host, port)

    return listen(open_on, options.host, options.port, "whoever reaches this machine can watch and steer", notice)
