"""Rows of watched runs: how much viewers slow a run, in one run that is watched and left alone by turns."""

from __future__ import annotations

import json
import re
import selectors
import socket
import struct
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from tools.bench.measure import Measured, Unavailable
from tools.bench.running import command_of

LONG = """\
name: long
vehicle: rp-1
course: a2rl-2025
baseline: b0-gt-pid
laps: 8
duration_s: 340
seed: 1
"""
"""A flight that no machine ends before the row does."""
CROWD, SLEEPERS = 20, 10
"""Viewers, and how many of them subscribe to everything and never read."""
TURNS = 16
SETTLE_S, TURN_S = 0.2, 0.6
SMALL_BUFFER = 4096
TIMEOUT_S = 30.0
TIME = b"\x02"
"""The message that tells simulated time, of both protocols: this byte, then ns as u64."""


class Connection:
    """A viewer's end of a WebSocket: as much of RFC 6455 as it takes to subscribe, and to hear the time."""

    def __init__(self, port: int, protocol: str, receive_buffer: int | None = None) -> None:
        self.socket = socket.socket()
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(TIMEOUT_S)
        self.socket.connect(("127.0.0.1", port))
        self.socket.sendall(
            f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Protocol: foxglove.{protocol}\r\n\r\n".encode()
        )
        self._buffer = bytearray()
        while b"\r\n\r\n" not in self._buffer:
            self._more()
        del self._buffer[: self._buffer.index(b"\r\n\r\n") + 4]

    def _more(self) -> None:
        data = self.socket.recv(1 << 16)
        if not data:
            raise ConnectionError("the viewer's server is gone")
        self._buffer += data

    def _take(self, size: int) -> bytes:
        while len(self._buffer) < size:
            self._more()
        taken = bytes(self._buffer[:size])
        del self._buffer[:size]
        return taken

    def _receive(self) -> bytes:
        size = self._take(2)[1]
        if size >= 126:
            size = int.from_bytes(self._take(2 if size == 126 else 8), "big")
        return self._take(size)

    def subscribe(self) -> None:
        """Subscribe to every channel."""
        advertised: list[dict[str, object]] = []
        while not advertised:
            payload = self._receive()
            if payload.startswith(b"{"):
                advertised = json.loads(payload).get("channels", [])
        wanted = [{"id": channel["id"], "channelId": channel["id"]} for channel in advertised]
        text = json.dumps({"op": "subscribe", "subscriptions": wanted}).encode()
        self.socket.sendall(struct.pack(">BBH4x", 0x81, 0x80 | 126, len(text)) + text)  # masked with zeros

    def time(self) -> float:
        """The newest simulated time that has come, else the next, s."""
        told = None
        while told is None or self._buffer:
            payload = self._receive()
            if payload[:1] == TIME:
                told = struct.unpack_from("<Q", payload, 1)[0] * 1e-9
        return float(told)

    def skim(self) -> None:
        """Take what has come, unread."""
        self.socket.recv(1 << 20)

    def close(self) -> None:
        """Without a word."""
        self.socket.close()


def sdk() -> Measured:
    """With protocol sdk.v1."""
    return _watched("sdk.v1")


def v1() -> Measured:
    """With protocol websocket.v1."""
    if find_spec("foxglove_websocket") is None:
        raise Unavailable("needs the extra viewer-v1")
    return _watched("websocket.v1")


def _watched(protocol: str) -> Measured:
    ratios, alone = [], []
    with _flight(protocol) as port, closing(Connection(port, protocol)) as clock:
        before = _speed(clock, [])
        for _ in range(TURNS):
            crowd = [Connection(port, protocol, SMALL_BUFFER if k < SLEEPERS else None) for k in range(CROWD)]
            for viewer in crowd:
                viewer.subscribe()
            during = _speed(clock, crowd[SLEEPERS:])
            for viewer in crowd:
                viewer.close()
            after = _speed(clock, [])
            ratios.append(during / ((before + after) / 2.0))
            alone.append(after)
            before = after
    low, middle, high = quantiles(ratios, n=4)
    detail = f"{median(alone):.2f}x real time without them; {TURNS} turns, half of them from {low:.2f} to {high:.2f}"
    return Measured(middle, "x", detail, {"ratios": ratios, "alone": alone})


def _speed(clock: Connection, readers: Sequence[Connection]) -> float:
    """Simulated over wall time of a turn in which ``readers`` read."""
    heard: list[tuple[float, float]] = []
    begun = time.monotonic()
    with selectors.DefaultSelector() as ready:
        for viewer in (clock, *readers):
            ready.register(viewer.socket, selectors.EVENT_READ, viewer)
        while (now := time.monotonic()) < begun + SETTLE_S + TURN_S or len(heard) < 2:
            if now > begun + TIMEOUT_S:
                raise RuntimeError("the viewer tells no time")
            for key, _ in ready.select(TURN_S / 10.0):
                if key.data is not clock:
                    key.data.skim()
                elif now < begun + SETTLE_S:
                    clock.time()
                else:
                    heard.append((time.monotonic(), clock.time()))
    (first, began), (last, ended) = heard[0], heard[-1]
    return (ended - began) / (last - first)


@contextmanager
def _flight(protocol: str) -> Iterator[int]:
    """A long flight under the process runner, recorded, as fast as it goes; the port of its viewer."""
    with tempfile.TemporaryDirectory() as folder:
        scenario = Path(folder) / "long.yaml"
        scenario.write_text(LONG)
        arguments = [f"scenario={scenario}", f"viewer_protocol={protocol}", "--viewer", "--rate", "max"]
        command, environment = command_of("launch", "sitl", *arguments, "--record", f"{folder}/a.mcap", "--json")
        pipes: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen(command, **pipes, env=environment) as process:
            try:
                yield _port(process)
            finally:
                process.terminate()
                process.communicate()


def _port(process: subprocess.Popen[str]) -> int:
    """What a launch says of its viewer."""
    assert process.stderr is not None
    said = ""
    for line in process.stderr:
        said += line
        if found := re.search(r" ws://127\.0\.0\.1:(\d+) ", line):
            return int(found[1])
    raise RuntimeError(f"holeshot launch: {said}")
