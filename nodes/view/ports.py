"""Where a server of viewers listens: the port asked for, else the first free one; and what it says of it."""

from __future__ import annotations

import errno
import importlib.resources
import ipaddress
import socket
from collections.abc import Callable
from pathlib import Path

from graph.errors import InputError
from nodes.view.server import Server

DEFAULT_PORT = 8765
PORTS_TRIED = 100
ATTEMPTS = 10


class CannotListen(InputError):
    """The port cannot be listened on, perhaps because somebody else was faster."""

    def __init__(self, host: str, port: int, why: object) -> None:
        super().__init__(f"viewer: cannot listen on port {port} of {host}: {why}")


def listen(
    open_on: Callable[[int], Server],
    host: str,
    port: int | None,
    who: str,
    notice: Callable[[str], None],
    option: str = "viewer_port=",
) -> Server:
    """A server on the port given, else on the first free one; ``notice`` is told where, and ``who`` can do what from
    other machines. ``option`` is how a port is named. Raises InputError when there is none.
    """
    for attempt in range(ATTEMPTS):
        chosen, remark = free_port(host, port, option)  # says which one is free when that one is taken
        try:
            server = open_on(chosen)
            break
        except CannotListen:
            if attempt + 1 == ATTEMPTS:
                raise
    if remark:
        notice(remark)
    reach = "this machine only" if _is_loopback(host) else who
    notice(f"viewer: https://app.foxglove.dev/~/view?ds=foxglove-websocket&ds.url={server.url}")
    notice(f"        {server.url} ({reach}); layout to import: {_layout()}")
    return server


def _layout() -> str:
    """Where the layout is, as seen from here."""
    path = Path(str(importlib.resources.files("launch").joinpath("holeshot.json")))
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def url_of(host: str, port: int) -> str:
    """Where a viewer on this machine finds a server."""
    here = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"ws://[{here}]:{port}" if ":" in here else f"ws://{here}:{port}"


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def free_port(host: str, port: int | None, option: str = "viewer_port=") -> tuple[int, str]:
    """A port to listen on, and what there is to say about it: the one given, else the first free one from 8765 on.
    ``option`` is how whoever starts the server names a port.

    Raises InputError when the given one is taken, which names one that is free, or when the host is not this machine's.
    """
    first = DEFAULT_PORT if port is None else port
    for candidate in range(first, min(first + PORTS_TRIED, 65536)):
        if _is_free(host, candidate):
            if candidate == first:
                return candidate, ""
            if port is not None:
                raise InputError(f"viewer: port {port} of {host} is in use; {candidate} is free: {option}{candidate}")
            return candidate, f"port {first} is in use, the viewer is on {candidate}"
    raise InputError(f"viewer: no port of {host} from {first} on is free; name another: {option}PORT")


def _is_free(host: str, port: int) -> bool:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        raise InputError(f"viewer: host {host} is not known") from None
    family, kind, protocol, _, address = found[0]
    with socket.socket(family, kind, protocol) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
        except PermissionError:
            raise InputError(f"viewer: no permission to listen on port {port} of {host}") from None
        except OSError as error:
            if error.errno == errno.EADDRNOTAVAIL:
                raise InputError(f"viewer: {host} is no address of this machine") from None
            return False
    return True
