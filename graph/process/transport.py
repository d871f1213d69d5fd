"""Zenoh sessions between the processes of a run, and the keys they speak on."""

from __future__ import annotations

import json
import os
import secrets
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
FREE_PORTS = range(10_000, 32_000)
ATTEMPTS = 50
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
        self.edges = f"{self.run}/@edges"
        self.ready_all = f"{self.run}/@ready/*"
        self.done_all = f"{self.run}/@done/*"

    def topic(self, name: str) -> str:
        """Every message of a topic, singly, for outsiders."""
        return f"{self.run}/{name}"

    def edge(self, producer: str, consumer: str, delay: int = 0) -> str:
        """The packets of an inner edge."""
        return f"{self.run}/@edge/{producer}/{consumer}{'/delayed' if delay else ''}"

    def ready(self, node: str) -> str:
        """The liveliness token of a node whose subscribers stand."""
        return f"{self.run}/@ready/{node}"

    def done(self, node: str) -> str:
        """A node's reports of windows done."""
        return f"{self.run}/@done/{node}"


def endpoints(pattern: str, count: int) -> list[str]:
    """``count`` endpoints to listen on, on neighbouring ports: from the port of a pattern such as
    tcp/127.0.0.1:7447 on, or free ones when it is 0.

    Raises InputError for a pattern that has no port, and for a port that is in use.
    """
    address, colon, port = pattern.rpartition(":")
    protocol, slash, host = address.partition("/")
    if not (colon and slash and host and port.isdecimal()):
        raise InputError(f"transport.listen: '{pattern}': write it as tcp/ADDRESS:PORT, such as tcp/127.0.0.1:0")
    kind = socket.SOCK_STREAM if protocol in ("tcp", "tls", "ws") else socket.SOCK_DGRAM
    # Free ports are sought below those that systems give to outgoing connections: one that nobody listens on yet must
    # not become the near end of somebody's attempt to connect to it.
    firsts = [secrets.choice(FREE_PORTS) for _ in range(ATTEMPTS)] if port == "0" else [int(port)]
    problem = ""
    for first in firsts:
        problem = _occupied(host.strip("[]"), kind, range(first, first + count))
        if not problem:
            return [f"{address}:{number}" for number in range(first, first + count)]
    raise InputError(f"transport.listen: '{pattern}': {problem}")


def _occupied(host: str, kind: socket.SocketKind, ports: range) -> str:
    """Which of ``ports`` cannot be listened on, and why; empty when all can."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for number in ports:
        with socket.socket(family, kind) as one:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                one.bind((host, number))
            except (OSError, OverflowError) as error:
                return f"port {number} of {host}: {getattr(error, 'strerror', None) or error}"
    return ""


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
