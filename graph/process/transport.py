"""Zenoh sessions between the processes of a run, and the keys they speak on."""

from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from graph.errors import InputError
from graph.launch import Transport

# Packets are handed over in the application's thread; read when zenoh is first imported. About a quarter faster.
RUNTIME = (
    "(rx: (handover: app), acc: (handover: app), tx: (handover: app), net: (handover: app), app: (worker_threads: 1))"
)
CONNECT_TIMEOUT_MS = 30_000
# BLOCK loses data once it has waited this long; far above any pause a debugger makes.
WAIT_BEFORE_CLOSE_US = 24 * 3600 * 1_000_000
LEASE_MS = 24 * 3600 * 1000


opened = False
"""Whether this process has ever opened a session: a fork would lose its threads, and with them the child's sessions."""


class Keys:
    """The key expressions of one run."""

    def __init__(self, run: str) -> None:
        self.run = f"holeshot/{run}"
        self.clock = f"{self.run}/@clock"
        self.control = f"{self.run}/@control"
        self.ready_all = f"{self.run}/@ready/*"
        self.done_all = f"{self.run}/@done/*"

    def topic(self, name: str) -> str:
        """Every message of a topic, singly, for outsiders."""
        return f"{self.run}/{name}"

    def edge(self, producer: str, consumer: str) -> str:
        """The packets of an inner edge."""
        return f"{self.run}/@edge/{producer}/{consumer}"

    def ready(self, node: str) -> str:
        """The liveliness token of a node whose subscribers stand."""
        return f"{self.run}/@ready/{node}"

    def done(self, node: str) -> str:
        """A node's reports of windows done."""
        return f"{self.run}/@done/{node}"


def endpoints(pattern: str, count: int) -> list[str]:
    """``count`` endpoints to listen on: port 0 of a pattern such as tcp/127.0.0.1:0 becomes a free port each, another
    port the first of ``count``.

    Raises InputError for a pattern that has no port, and for a port that is in use.
    """
    address, colon, port = pattern.rpartition(":")
    protocol, slash, host = address.partition("/")
    if not (colon and slash and host and port.isdigit()):
        raise InputError(f"transport.listen: '{pattern}': write it as tcp/ADDRESS:PORT, such as tcp/127.0.0.1:0")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    kind = socket.SOCK_STREAM if protocol in ("tcp", "tls", "ws") else socket.SOCK_DGRAM
    wanted = [0 if port == "0" else int(port) + index for index in range(count)]
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket(family, kind)) for _ in wanted]
        for number, one in zip(wanted, sockets, strict=True):
            try:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                one.bind((host.strip("[]"), number))
            except OSError as error:
                reason = error.strerror or str(error)
                raise InputError(f"transport.listen: '{pattern}': port {number} of {host}: {reason}") from None
        return [f"{address}:{one.getsockname()[1]}" for one in sockets]


def configuration(listen: Sequence[str], connect: Sequence[str], transport: Transport) -> dict[str, Any]:
    """The zenoh configuration of one peer: loopback and no multicast unless the launch file says otherwise."""
    base: dict[str, Any] = {
        "mode": "peer",
        "scouting": {"multicast": {"enabled": transport.multicast}, "gossip": {"enabled": False}},
        "listen": {"endpoints": list(listen)},
        "connect": {"endpoints": list(connect), "exit_on_failure": True, "timeout_ms": CONNECT_TIMEOUT_MS},
        "transport": {
            "shared_memory": {"enabled": False},
            "link": {
                "tx": {
                    "lease": LEASE_MS,
                    "queue": {"congestion_control": {"block": {"wait_before_close": WAIT_BEFORE_CLOSE_US}}},
                }
            },
        },
    }
    return _merged(base, transport.config)


def _merged(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        old = merged.get(key)
        merged[key] = _merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


def check(transport: Transport) -> None:
    """Raises InputError for a configuration that zenoh does not take. Opens nothing."""
    zenoh = _zenoh()
    try:
        zenoh.Config.from_json5(json.dumps(configuration([], [], transport)))
    except zenoh.ZError as error:
        raise InputError(f"transport.config: {error}") from None


@contextmanager
def session(config: dict[str, Any]) -> Iterator[Any]:
    """An open zenoh session, closed at the end."""
    global opened
    zenoh = _zenoh()
    opened = True
    with zenoh.open(zenoh.Config.from_json5(json.dumps(config))) as one:
        yield one


def _zenoh() -> Any:
    os.environ.setdefault("ZENOH_RUNTIME", RUNTIME)
    import zenoh

    return zenoh
